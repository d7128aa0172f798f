"""Counts the instructions that an iteration of rows of the benchmark suite takes, with valgrind's callgrind."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ...base import progress
from ...base.paths import BUILD
from ...cli import ensure
from ...clients import loaded
from ...results import outcome
from ...results.comparison import Sides
from ...runtimes.libraries import NAMES
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import measuring, programs
from ..smoke import compare
from ..smoke.binary import lay
from . import callgrind
from .counts import SERIES, STEADY, Counts

HOME = BUILD / "instructions"
# Iterations of two runs, whose difference leaves out the start and the first iterations.
_FEW, _MANY = 5, 25


def choose(ws: Workspace, runtimes: list[Runtime], pattern: str) -> tuple[Path, list[str]]:
    """(the benchmark binary, the names of the rows) that are on one of the runtimes."""
    compare.check_filter(ws, pattern)
    ensure(ws, *runtimes)
    sides = Sides(compare.side_of(runtimes[0]), compare.side_of(runtimes[-1]))
    chosen = compare.choose(ws, sides, pattern)
    for runtime in runtimes:
        lay(chosen.binary, runtime.folder)
    return chosen.binary, [row.name for row in chosen.rows]


def _count(ws: Workspace, runtime: Runtime, binary: Path, row: str, iterations: int) -> Counter[str] | None:
    """Counter {path: instructions} of one process, None if the runtime lacks the row; UserError if the process
    fails."""
    with tempfile.TemporaryDirectory(dir=HOME) as scratch:
        out = Path(scratch) / "counts"
        argv = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        argv += [str(runtime.folder / "bin" / binary.name), row, f"--num-iters={iterations}", "--num-samples=1"]
        env = {"SWIFT_DETERMINISTIC_HASHING": "1"}
        said = programs.output(ws, runtime, argv, f"{row}, below valgrind,", env=env)
        # The driver runs nothing, and says nothing, for a name that it does not know.
        if "tests executed: 0" in said:
            return None
        with open(out, encoding="utf-8", errors="replace") as lines:
            return callgrind.by_object(lines)


def _iteration(ws: Workspace, runtime: Runtime, binary: Path, row: str) -> tuple[float, float] | None:
    """(instructions of one iteration, those in the libraries that the series changes); None if the runtime lacks
    the row."""
    few, many = (_count(ws, runtime, binary, row, number) for number in (_FEW, _MANY))
    if few is None or many is None:
        return None
    libraries = {path for path in many if os.path.basename(path) in NAMES}
    found = {}
    for path in libraries:
        found.setdefault(os.path.basename(path), set()).add(path)
    loaded.check(found, row, runtime)
    few.subtract(many)
    taken = _MANY - _FEW
    return (-sum(few.values()) / taken, -sum(few[path] for path in libraries) / taken)


def measure(ws: Workspace, binary: Path, rows: list[str], runtimes: list[Runtime], repeat: int) -> Counts:
    """Counts each row `repeat` times on each runtime, on all processors at once."""
    found = {(row, runtime.name): [] for row in rows for runtime in runtimes}
    jobs = [(row, runtime) for _ in range(repeat) for row in rows for runtime in runtimes]
    with (
        measuring.alone(HOME),
        progress.Step(f"counting {len(jobs)} times") as step,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        counts = pool.map(lambda job: _iteration(ws, job[1], binary, job[0]), jobs)
        try:
            for number, (row, runtime) in enumerate(jobs, 1):
                found[row, runtime.name].append(next(counts))
                step.text = f"counting, {number} of {len(jobs)}"
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Counts(found, rows, [runtime.name for runtime in runtimes])


def report(counts: Counts, repeat: int) -> outcome.Outcome:
    """The Outcome of Counts; repeat: how many there are of each row on each runtime."""
    result = outcome.begin("instructions", "Instruction counts")
    first, last = counts.names[0], counts.names[-1]
    if first != last:
        ratios = {row: counts.ratios(row, last) for row in counts.rows}
        known = {row: values for row, values in ratios.items() if any(values)}
        result.add_dots("Instructions of one iteration", f"{last}/{first}", SERIES, known, 1)
        best = sorted((values[1], row) for row, values in ratios.items() if values[1])[:4]
        told = ", ".join(f"{ratio:.2f} ({row})" for ratio, row in best)
        result.summary.append(f"Instructions in the runtime: {told} of those on {first}.")
    result.table("Instructions of one iteration", *counts.table())
    result.notes.append(
        f"Medians of {repeat} counts by callgrind, which runs one thread at a time; what the kernel does "
        "is not counted. In the runtime: in " + " and ".join(NAMES) + "."
    )
    if counts.unsteady:
        result.notes.append(f"(varies): counts are more than {STEADY:.0%} apart, where threads meet.")
    return result
