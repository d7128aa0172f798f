"""Counts what an operation takes of malloc: calls, and bytes."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...base import progress
from ...base.paths import BENCHMARK
from ...results import outcome
from ...results.outcome import Outcome
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import measuring, programs
from .counting import HOME

SOURCES = BENCHMARK / "instructions"
_COLUMNS = ("malloc", "free", "bytes asked", "bytes taken")


def build(ws: Workspace) -> Path:
    swift, c, header = (SOURCES / f"allocations.{suffix}" for suffix in ("swift", "c", "h"))
    return program.build(ws, "allocations", HOME, swift=[swift], c=[c], headers=[header])


def read(text: str) -> dict[str, list[float]]:
    """{row: [calls of malloc, calls of free, bytes asked for, bytes taken]}, of one operation."""
    lines = (line.split("\t") for line in text.splitlines())
    return {name: [float(count) for count in counts] for name, *counts in lines}


def measure(
    ws: Workspace, path: Path, rows: Sequence[str], runtimes: Sequence[Runtime], repeat: int
) -> dict[str, dict[str, list[float]]]:
    """{row: {runtime: the medians of what was counted}}."""
    found: dict[str, dict[str, list[float]]] = {row: {} for row in rows}
    with measuring.alone(HOME), progress.Step("counting allocations") as step:
        for row in rows:
            for runtime in runtimes:
                step.text = f"counting allocations: {row}, {runtime}"
                counts = [read(programs.output(ws, runtime, [str(path), row], row))[row] for _ in range(repeat)]
                found[row][runtime.name] = [statistics.median(values) for values in zip(*counts)]
    return found


def cell(count: float) -> str:
    """A number of calls or bytes; what is below a hundredth comes from other threads and from growth."""
    return f"{count:.2f}".rstrip("0").rstrip(".") if count < 10 else f"{count:,.0f}"


def report(found: Mapping[str, Mapping[str, Sequence[float]]], runtimes: Sequence[Runtime], repeat: int) -> Outcome:
    names = [runtime.name for runtime in runtimes]
    made = outcome.begin("allocations", "Allocations", "benchmark/instructions/run-benchmark --allocations")
    columns = [f"{what} {name}" for what in _COLUMNS for name in names]
    lines = [
        [row, *(cell(counts[name][number]) for number in range(len(_COLUMNS)) for name in names)]
        for row, counts in found.items()
    ]
    made.table("Calls of malloc and bytes of one operation", ["one operation", *columns], lines)
    made.notes.append(
        f"Medians of {repeat} processes of 20,000 operations, after as many that are not counted. Bytes taken: with "
        "what malloc adds. The closures of a task are the program's: a `Task {}` has two, a child of a group has two."
    )
    return made
