"""Checks what holds for each task of a whole file of the recorder: check_trace.py TASKS < DUMP.

TASKS: how many tasks the program makes. The main task is none of them: it runs without an enqueue, and exits.
DUMP: the events, as dump_trace.py prints them without a prefix.
Prints "as it must be", or each rule that is broken, with the first task that breaks it.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable

MAIN = "0x1"
ENQUEUES = {"enqueue_global", "enqueue_main", "actor_enqueue"}


class Checker:
    """What the events so far tell of each task; broken: {rule: tasks that break it}."""

    def __init__(self) -> None:
        self.broken: dict[str, list[str]] = defaultdict(list)
        self.created: set[str] = set()
        self.destroyed: set[str] = set()
        self.ready: dict[str, int] = defaultdict(int)
        self.runs: dict[str, int] = defaultdict(int)
        self.ended: dict[str, int] = defaultdict(int)
        self.waits: dict[str, int] = defaultdict(int)
        self.stacks: dict[str, list[str]] = defaultdict(list)

    def rule(self, holds: bool, what: str, task: str) -> None:
        if not holds and task != MAIN:
            self.broken[what].append(task)

    def take(self, thread: str, kind: str, task: str) -> None:
        if kind == "create":
            self.rule(task not in self.created, "a task is created once", task)
            self.created.add(task)
        elif kind == "destroy":
            self.rule(task in self.created and task not in self.destroyed, "a task is destroyed once", task)
            self.rule(self.runs[task] > 0, "a task runs before it is destroyed", task)
            self.destroyed.add(task)
        elif kind in ENQUEUES:
            self.rule(task not in self.destroyed, "no task is enqueued after its end", task)
            self.ready[task] += 1
        elif kind == "run":
            self.rule(task not in self.destroyed, "no task runs after its end", task)
            self.rule(self.ready[task] > 0 or task not in self.created, "a run follows an enqueue", task)
            self.ready[task] = 0
            self.runs[task] += 1
            self.stacks[thread].append(task)
        elif kind == "end":
            self.rule(bool(self.stacks[thread]), "a run that ends has begun", thread)
            if self.stacks[thread]:
                self.ended[self.stacks[thread].pop()] += 1
        elif kind in ("wait", "resume"):
            self.waits[task] += 1 if kind == "wait" else -1

    def finish(self, wanted: int) -> None:
        """Checks what holds at the end; wanted: how many tasks are made."""
        for task in self.created:
            self.rule(self.waits[task] == 0, "each that waits for a task is resumed", task)
            self.rule(task in self.destroyed, "a task is destroyed", task)
            self.rule(self.runs[task] == self.ended[task], "each run ends", task)
        made = len(self.created - {MAIN})
        if made != wanted:
            self.broken[f"{wanted} tasks are created, not {made}"].append("none")


def check(lines: Iterable[str], wanted: int) -> dict[str, list[str]]:
    """{rule: tasks that break it} of the events in `lines`."""
    checker = Checker()
    for line in lines:
        thread, kind, _, *words = line.split()
        checker.take(thread, kind, words[1] if kind == "actor_enqueue" else words[0] if words else "")
    checker.finish(wanted)
    return checker.broken


def main() -> None:
    next(sys.stdin)  # the line above the events
    broken = check(sys.stdin, int(sys.argv[1]))
    for what, tasks in broken.items():
        print(f"{what}: {len(tasks)} times not, first task {tasks[0]}")
    print("" if broken else "as it must be")


if __name__ == "__main__":
    main()
