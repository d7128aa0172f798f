#!/usr/bin/env python3
"""check_results.py FOLDER RUNTIME: judges the files that a run of 5 rounds wrote."""

import hashlib
import json
import os
import sys

folder, runtime = sys.argv[1:]
with open(os.path.join(folder, "results.json")) as file:
    results = json.load(file)
assert [row["name"] for row in results["rows"]] == ["AsyncTree.100"]
columns = results["rows"][0]["columns"]
assert sorted(columns) == ["control", "new", "old"]
for column, processes in columns.items():
    assert len(processes) == 5, column
    assert all(len(p["samples"]) >= 6 and min(p["samples"]) > 0 for p in processes)
for side, processes in (("old", 10), ("new", 5)):
    assert results["sides"][side]["name"] == runtime
    for library in ("libswiftCore.so", "libswift_Concurrency.so"):
        entry = results["sides"][side]["libraries"][library]
        with open(entry["path"], "rb") as file:
            assert hashlib.sha256(file.read()).hexdigest() == entry["sha256"]
        # The list of loaded files can be read too late, but not each time.
        assert 0 < entry["processes"] <= processes
machine = results["environment"]
assert machine["cpu"] and machine["cores"] and machine["kernel"] and machine["load_before"]
assert results["pins"]["swift"]["version"] and results["repository"]["commit"]
left = sorted(os.listdir(folder))
assert left == ["new.json", "old.json", "report.md", "report.txt", "results.json"], left
print("whole")
