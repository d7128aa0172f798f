"""The list of tasks as JSON: each parent is in the list, and a child is one deeper than its parent."""

import json
import sys

tasks = {}
for line in sys.stdin.buffer:  # what is not UTF-8 is refused
    task = json.loads(line)
    if task["kind"] != "task":
        continue
    assert {"depth", "priority", "task", "state", "last_run_ms_ago"} <= set(task), task
    if "parent" in task:
        assert task["depth"] == tasks[task["parent"]]["depth"] + 1, task
    else:
        assert task["depth"] == 0, task
    tasks[task["task"]] = task
assert "é" * 31 in [task.get("name") for task in tasks.values()], tasks
children = [task for task in tasks.values() if task.get("name") == "child"]
assert [tasks[child["parent"]]["name"] for child in children] == ["parent"], children
assert children[0]["waits_for"] == "continuation", children
waits = next(task for task in tasks.values() if task.get("name") == "waits")
assert tasks[waits["waits_for_task"]]["name"] == "leaked", waits
