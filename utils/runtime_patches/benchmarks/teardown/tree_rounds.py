"""Builds the program, and runs each variant: trees that are made, copied and dropped."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ...base import locks, progress
from ...base.errors import UserError
from ...base.paths import BENCHMARK, BUILD
from ...base.text import size
from ...results import outcome
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import programs
from . import tree_times

HOME = BUILD / "teardown"
LEAST_DEPTH, LARGEST_DEPTH = 2, 30  # the nodes of one buffer are numbered with 32 bits
# The share of a round for which other programs may keep its thread waiting.
_QUIET = 0.03
_HERE = BENCHMARK / "teardown"


def build(ws: Workspace) -> Path:
    """The benchmark program; the trees are those of the suite's entries."""
    swift = [*sorted(_HERE.glob("*.swift")), BENCHMARK / "single-source" / "Trees.swift"]
    c, headers = [_HERE / "controls.c", program.MACHINE], [_HERE / "controls.h", program.MACHINE_HEADER]
    return program.build(ws, "teardown-benchmark", HOME, swift=swift, c=c, headers=headers)


def check_memory(depths: dict[str, int], sizes: dict[str, int], free: int) -> None:
    """UserError for trees that do not fit into `free` bytes: a tree and its copy are there at once."""
    for variant, depth in depths.items():
        needed = 2 * sizes[variant] * 2**depth
        if needed > 0.9 * free:
            fits = max(LEAST_DEPTH, (int(0.9 * free) // (2 * sizes[variant])).bit_length() - 1)
            option = "--isolated-depth" if variant.startswith("isolated") else "--depth"
            what = f"{variant} with depth {depth} needs about {size(needed)} of memory, {size(free)} are free"
            raise UserError(what, f"{option} {fits} fits; --filter leaves a variant out")


def measure(
    ws: Workspace, path: Path, depths: Mapping[str, int], options: Namespace, environment: Mapping[str, str]
) -> list[tree_times.Run]:
    """[tree_times.Run] of each variant {name: depth} on each runtime; options: .runtimes, .rounds and .attempts."""
    runs = []
    with locks.exclusive(HOME):
        for variant, depth in depths.items():
            for runtime in options.runtimes:
                with progress.Step(f"{variant} on {runtime}"):
                    arguments = ws, path, variant, runtime, depth, options.rounds, environment
                    runs.append(_quietest(options.attempts, lambda: _run(*arguments)))
    return runs


def _run(
    ws: Workspace, path: Path, variant: str, runtime: Runtime, depth: int, rounds: int, environment: Mapping[str, str]
) -> tree_times.Run:
    """One process; UserError if it does not do all its rounds."""
    argv = [str(path), variant, f"--depth={depth}", f"--rounds={rounds}"]
    text = programs.output(ws, runtime, argv, variant, env=environment)
    found = [tree_times.Round(*map(int, line.split("\t"))) for line in text.splitlines()]
    if len(found) != rounds:
        raise UserError(f"{variant} on {runtime} ended after {len(found)} of {rounds} rounds", programs.NO_PART)
    return tree_times.Run(variant, runtime.name, depth, found)


def _quietest(attempts: int, run: Callable[[], tree_times.Run]) -> tree_times.Run:
    """The first run that nothing disturbed, or the least disturbed of `attempts`."""
    best = run()
    for _ in range(attempts - 1):
        if best.waited <= _QUIET:
            break
        best = min(best, run(), key=lambda one: one.waited)
    return best


def report(runs: list[tree_times.Run], names: list[str], notes: Iterable[str] = ()) -> outcome.Outcome:
    """The Outcome of runs on the runtimes `names`."""
    result = outcome.begin(
        "teardown", "What it costs to make, copy and tear down a tree", "benchmark/teardown/run-benchmark"
    )
    result.table("Every round", *tree_times.rounds_table(runs, _QUIET))
    result.table("Medians", *tree_times.summary_table(runs, names))
    result.notes = [*notes, *tree_times.REFERENCE]
    if len(names) == 2:
        ratios = tree_times.ratios(runs)
        result.add_dots("Medians", f"time on {names[1]} over time on {names[0]}", tree_times.PHASES, ratios, 1)
        place = tree_times.PHASES.index("delete")
        isolated = [
            f"{values[place]:.2f} ({variant})" for variant, values in ratios.items() if variant.startswith("isolated")
        ]
        if isolated:
            result.summary.append("Dropping a tree of isolated deinits takes " + ", ".join(isolated) + " of the time.")
    return result
