"""Builds the program, and runs each row at each size: what waits in great number for an actor, and threads that
come and go."""

from __future__ import annotations

import statistics
from argparse import Namespace
from pathlib import Path

from ...base import locks, progress
from ...base.paths import BUILD, TEST
from ...results import outcome
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import programs

HOME = BUILD / "load"
# row: the largest number of operations that it is run with.
ROWS = {"queued-deinits": 10**6, "senders": 10**6, "tasks": 10**5, "threads": 10**5}
_COLUMNS = ["row", "runtime", "operations", "ns each", "start, MB", "waiting, MB", "end, MB", "trimmed, MB"]


def build(ws: Workspace) -> Path:
    return program.build(
        ws,
        "concurrency-load",
        HOME,
        swift=[TEST / "programs" / "concurrency-load.swift"],
        flags=("-O", "-Xfrontend", "-disable-availability-checking"),
    )


def measure(ws: Workspace, path: Path, rows: list[str], options: Namespace) -> outcome.Outcome:
    """The Outcome of rows; options: .runtimes, .most (operations) and .rounds."""
    result = outcome.begin("load", "The runtime under load", "benchmark/load/run-benchmark")
    lines = []
    with locks.exclusive(HOME):
        for row in rows:
            for count in (10**n for n in range(3, 7) if 10**n <= min(options.most, ROWS[row])):
                with progress.Step(f"{row}, {count:,}"):
                    lines += [_medians(ws, path, row, one, count, options.rounds) for one in options.runtimes]
    result.table("Load", _COLUMNS, lines)
    return result


def _medians(ws: Workspace, path: Path, row: str, runtime: Runtime, count: int, rounds: int) -> list[str]:
    hint = "a fault of the runtime; --filter leaves a row out"
    runs = [
        programs.output(ws, runtime, [str(path), row, str(count)], f"{row} with {count}", hint) for _ in range(rounds)
    ]
    nanoseconds, *memory = map(statistics.median, zip(*(map(int, text.split()[2:]) for text in runs)))
    return [row, runtime.name, f"{count:,}", f"{nanoseconds:.0f}", *(f"{kb / 1024:.1f}" for kb in memory)]
