#!/usr/bin/env python3
"""loop.py FOLDER NAME…: runs the measuring loop on fake-benchmark; prints its events."""

import json
import os
import subprocess
import sys

folder, *names = sys.argv[1:]
for side in ("a", "b"):
    os.makedirs(os.path.join(folder, side))
plan = {
    "binary": os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake-benchmark"),
    "rows": [
        {"name": name, "tags": [], "sides": ["old", "new"], "columns": ["old", "control", "new"]} for name in names
    ],
    "rounds": 2,
    "budget": 1,
    "fewest_rounds": 2,
    "most_rounds": 2,
    "sample_us": 1000,
    "process_us": 16000,
    "most_samples": 16,
    "timeout": 1,
    "copies": 2,
    "seed": 1,
    "libraries": [],
    "variables": {},
    "scratch": os.path.join(folder, "copies"),
    "sides": {
        "old": {"library_path": os.path.join(folder, "a"), "variables": {}, "loads": []},
        "new": {"library_path": os.path.join(folder, "b"), "variables": {}, "loads": []},
    },
}
done = subprocess.run(
    [sys.executable, "-m", "runtime_patches.benchmarks.smoke.loop"],
    text=True,
    input=json.dumps(plan),
    stdout=subprocess.PIPE,
    check=True,
    env={**os.environ, "HANG_PID": os.path.join(folder, "pid")},
)
for line in done.stdout.splitlines():
    event = json.loads(line)
    kind = event.pop("event")
    if kind == "calibrated":
        print(kind, event["name"], event["iterations"], event["samples"])
    elif kind == "process":
        print(kind, event["name"], event["column"], event["round"], len(event["samples"]), event["samples"][0])
    elif kind == "failed":
        print(kind, event["name"], event["side"], event["reason"])
    else:
        print(kind)
