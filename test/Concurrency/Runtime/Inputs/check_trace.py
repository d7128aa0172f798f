"""Checks what holds for each task of a whole file of the recorder: check_trace.py TASKS < DUMP.

TASKS: how many tasks the program makes. The main task is none of them: it runs without an enqueue, and exits.
DUMP: the events, as dump_trace.py prints them without a prefix.
Prints "as it must be", or each rule that is broken, with the first task that breaks it.
"""

import sys
from collections import Counter, defaultdict

MAIN = "0x1"
ENQUEUES = {"enqueue_global", "enqueue_main", "actor_enqueue"}

# What the events so far tell of each task; broken: {rule: tasks that break it}.
broken: dict[str, list[str]] = defaultdict(list)
created: set[str] = set()
destroyed: set[str] = set()
ready: Counter[str] = Counter()
runs: Counter[str] = Counter()
ended: Counter[str] = Counter()
waits: Counter[str] = Counter()
stacks: dict[str, list[str]] = defaultdict(list)


def rule(holds: bool, what: str, task: str) -> None:
    if not holds and task != MAIN:
        broken[what].append(task)


next(sys.stdin)  # the line above the events
for line in sys.stdin:
    thread, kind, _, *words = line.split()
    task = words[1] if kind == "actor_enqueue" else words[0] if words else ""
    if kind == "create":
        rule(task not in created, "a task is created once", task)
        created.add(task)
    elif kind == "destroy":
        rule(task in created and task not in destroyed, "a task is destroyed once", task)
        rule(runs[task] > 0, "a task runs before it is destroyed", task)
        destroyed.add(task)
    elif kind in ENQUEUES:
        rule(task not in destroyed, "no task is enqueued after its end", task)
        ready[task] += 1
    elif kind == "run":
        rule(task not in destroyed, "no task runs after its end", task)
        rule(ready[task] > 0 or task not in created, "a run follows an enqueue", task)
        ready[task] = 0
        runs[task] += 1
        stacks[thread].append(task)
    elif kind == "end":
        rule(bool(stacks[thread]), "a run that ends has begun", thread)
        if stacks[thread]:
            ended[stacks[thread].pop()] += 1
    elif kind in ("wait", "resume"):
        waits[task] += 1 if kind == "wait" else -1

for task in created:
    rule(waits[task] == 0, "each that waits for a task is resumed", task)
    rule(task in destroyed, "a task is destroyed", task)
    rule(runs[task] == ended[task], "each run ends", task)
wanted, made = int(sys.argv[1]), len(created - {MAIN})
if made != wanted:
    broken[f"{wanted} tasks are created, not {made}"].append("none")
for what, tasks in broken.items():
    print(f"{what}: {len(tasks)} times not, first task {tasks[0]}")
print("" if broken else "as it must be")
