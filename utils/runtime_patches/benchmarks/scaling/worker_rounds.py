"""Builds the program, has the samples taken, and makes the report: workers as threads, as Tasks and as processes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ...base.paths import BENCHMARK, BUILD
from ...results import outcome
from ...runtimes import program
from ...workspace.find import Workspace
from ..harness import measuring, programs
from .speed_ups import KINDS, NOTES, Results, lines

HOME = BUILD / "scaling"
# A row whose workers die, for tests: only its whole name finds it.
HIDDEN = {"test.dying": "nothing"}
_HERE = BENCHMARK / "scaling"


def build(ws: Workspace) -> Path:
    c, headers = [_HERE / "support.c", program.MACHINE], [_HERE / "support.h", program.MACHINE_HEADER]
    return program.build(ws, "scaling-benchmark", HOME, swift=sorted(_HERE.glob("*.swift")), c=c, headers=headers)


def cache_line_malloc(ws: Workspace) -> dict[str, str]:
    library = program.build(ws, "cache-line-malloc.so", HOME, c=[_HERE / "cache-line-malloc.c"], link=["-shared"])
    return {"LD_PRELOAD": str(library)}


def measure(ws: Workspace, plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    count = plan["rounds"] * len(plan["rows"]) * len(KINDS) * len(plan["workers"]) * len(plan["libraries"])
    with measuring.alone(HOME):
        unit = f"samples of {plan['milliseconds']} ms"
        return programs.samples(ws, "benchmarks.scaling.sampler", plan, count, unit)


def report(plan: Mapping[str, Any], samples: list[dict[str, Any]], shares: dict[str, str]) -> outcome.Outcome:
    """The Outcome of samples; shares: {row: what its workers share}."""
    result = outcome.begin("scaling", "How references scale in one process")
    results, rows = Results(plan, samples), plan["rows"]
    runtimes, most = list(plan["libraries"]), max(plan["workers"])
    header, found = lines(results, shares, most, runtimes)
    result.notes = list(NOTES)
    result.table("The work of several workers over that of one", header, found)
    if most > 1:
        chosen = [(kind, runtimes[0]) for kind in KINDS]
        if len(runtimes) == 2:
            chosen = [("threads", runtimes[0]), ("threads", runtimes[1]), ("processes", runtimes[1])]
        # As the table calls them: it marks those that were disturbed.
        speed_ups = {
            line[0]: [results.speed_up(row, kind, most, runtime) for kind, runtime in chosen]
            for row, line in zip(rows, found)
        }
        series = [f"{kind}, {runtime}" for kind, runtime in chosen]
        result.add_dots(f"{most} workers", "the work of several workers over that of one", series, speed_ups, most)
        if len(runtimes) == 2:
            result.summary += _gains(speed_ups, most)
    # A curve of two points says no more than the dots.
    for row in rows if len(plan["workers"]) > 2 else ():
        drawn = {}
        for runtime, kind in product(runtimes, KINDS):
            points = [(number, results.speed_up(row, kind, number, runtime)) for number in plan["workers"]]
            drawn[f"{kind}, {runtime}"] = points
        result.curve(row, "workers", "speed-up", drawn)
    return result


def _gains(speed_ups: Mapping[str, list[float | None]], most: int) -> list[str]:
    """A sentence about the rows whose threads gain most on the second runtime."""
    gains = sorted(
        ((new / old, row, old, new) for row, (old, new, _) in speed_ups.items() if old and new), reverse=True
    )
    best = ", ".join(f"{row} {old:.2f} → {new:.2f}" for gain, row, old, new in gains[:5] if gain > 1.2)
    return [f"The work of {most} threads over that of one: {best}; {most} is perfect."] if best else []
