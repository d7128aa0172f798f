#!/usr/bin/env python3
"""check_loop.py FOLDER NAME…: runs the measuring loop on fake-benchmark; prints its events."""

import json
import os
import subprocess
import sys
from pathlib import Path

from runtime_patches.benchmarks.smoke.plan import PLAN

folder, names = Path(sys.argv[1]), sys.argv[2:]
for side in ("a", "b"):
    (folder / side).mkdir(parents=True)
plan = {
    **PLAN,
    "binary": str(Path(__file__).resolve().with_name("fake-benchmark")),
    "rows": [{"name": name, "columns": ["old", "control", "new"]} for name in names],
    "rounds": 2,
    "timeout": 1,
    "copies": 2,
    "seed": 1,
    "libraries": [],
    "variables": {},
    "scratch": str(folder / "copies"),
    "sides": {
        column: {"library_path": str(folder / side), "variables": {}, "loads": []}
        for column, side in (("old", "a"), ("control", "a"), ("new", "b"))
    },
}
done = subprocess.run(
    [sys.executable, "-m", "runtime_patches.benchmarks.smoke.loop"],
    text=True,
    input=json.dumps(plan),
    stdout=subprocess.PIPE,
    check=True,
    env={**os.environ, "HANG_PID": str(folder / "pid")},
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
