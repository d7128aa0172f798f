"""Builds the program, and runs each row at each size: what waits in great number for an actor, and threads that
come and go."""

import random
import statistics
from argparse import Namespace
from pathlib import Path

from ...base import progress
from ...base.paths import BUILD, TEST
from ...results import outcome
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import measuring, programs
from ..harness.rounds import interleaved

HOME = BUILD / "load"
# row: the largest number of operations that it is run with.
ROWS = {"queued-deinits": 10**6, "senders": 10**6, "tasks": 10**5, "threads": 10**5}
_COLUMNS = ["row", "runtime", "operations", "ns each", "start, MB", "waiting, MB", "end, MB", "trimmed, MB"]


def build(ws: Workspace) -> Path:
    swift, flags = TEST / "programs" / "concurrency-load.swift", ("-O", "-Xfrontend", "-disable-availability-checking")
    return program.build(ws, "concurrency-load", HOME, swift=[swift], flags=flags)


def measure(ws: Workspace, path: Path, rows: list[str], options: Namespace) -> outcome.Outcome:
    """The Outcome of rows; options: .runtimes, .most (operations) and .rounds."""
    result = outcome.begin("load", "The runtime under load")
    sizes = [(row, 10**n) for row in rows for n in range(3, 7) if 10**n <= min(options.most, ROWS[row])]
    taken: dict[tuple[str, int], dict[Runtime, list[list[int]]]]
    taken = {size: {runtime: [] for runtime in options.runtimes} for size in sizes}
    hint = "a fault of the runtime; --filter leaves a row out"
    with measuring.alone(HOME), progress.Step(f"{options.rounds} rounds") as step:
        for number, (row, count), runtime in interleaved(options.rounds, sizes, taken.__getitem__, random.Random()):
            step.text = f"round {number + 1} of {options.rounds}: {row}, {count:,}"
            text = programs.output(ws, runtime, [str(path), row, str(count)], f"{row} with {count}", hint)
            taken[row, count][runtime].append([int(word) for word in text.split()[2:]])
    lines = []
    for (row, count), runtimes in taken.items():
        for runtime, runs in runtimes.items():
            nanoseconds, *memory = map(statistics.median, zip(*runs))
            cells = [f"{nanoseconds:.0f}", *(f"{kb / 1024:.1f}" for kb in memory)]
            lines.append([row, runtime.name, f"{count:,}", *cells])
    result.table("Load", _COLUMNS, lines)
    return result
