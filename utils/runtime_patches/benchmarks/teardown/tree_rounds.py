"""Builds the program, and runs each variant: trees that are made, copied and dropped."""

import random
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...base import progress
from ...base.errors import UserError
from ...base.paths import BENCHMARK, BUILD
from ...base.text import size
from ...results import outcome
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import measuring, programs
from ..harness.rounds import interleaved
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
    """[tree_times.Run] of each variant {name: depth} in each of tree_times.columns; options: .runtimes, .rounds and
    .attempts."""
    columns = tree_times.columns([runtime.name for runtime in options.runtimes])
    runs = {variant: [tree_times.Run(variant, one, depth) for one in columns] for variant, depth in depths.items()}
    order = interleaved(options.rounds, depths, lambda _: range(len(columns)), random.Random())
    with measuring.alone(HOME), progress.Step(f"{options.rounds} rounds") as step:
        for number, variant, place in order:
            step.text = f"round {number + 1} of {options.rounds}: {variant} on {columns[place]}"
            runtime = options.runtimes[-1 if place == len(columns) - 1 else 0]
            argv = [str(path), variant, f"--depth={depths[variant]}", "--rounds=1"]
            runs[variant][place].rounds.append(_quietest(ws, runtime, argv, options.attempts, environment))
    return [run for found in runs.values() for run in found]


def _quietest(
    ws: Workspace, runtime: Runtime, argv: list[str], attempts: int, environment: Mapping[str, str]
) -> tree_times.Round:
    """The first process that nothing disturbed, or the least disturbed of `attempts`; UserError if one does not end its
    round."""
    rounds: list[tree_times.Round] = []
    while len(rounds) < attempts and not (rounds and rounds[-1].disturbed <= _QUIET):
        text = programs.output(ws, runtime, argv, argv[1], env=environment)
        if not text:
            raise UserError(f"{argv[1]} on {runtime} ended before its round", programs.NO_PART)
        rounds.append(tree_times.Round(*map(int, text.split("\t"))))
    return min(rounds, key=lambda one: one.disturbed)


def report(runs: list[tree_times.Run], names: list[str], notes: Iterable[str] = ()) -> outcome.Outcome:
    """The Outcome of runs on the runtimes `names`."""
    result = outcome.begin("teardown", "What it costs to make, copy and tear down a tree")
    result.table("Every round", *tree_times.rounds_table(runs, _QUIET))
    result.table("Medians", *tree_times.summary_table(runs, names))
    result.notes = [*notes, *tree_times.REFERENCE]
    if len(names) == 2:
        judged = tree_times.judged(runs)
        ratios = {found[0].name: [one.ratio for one in found] for found in zip(*judged.values())}
        result.add_dots("Medians", f"time on {names[1]} over time on {names[0]}", tree_times.PHASES, ratios, 1)
        isolated = [
            f"{one.ratio:.2f} ({one.name})"
            for one in judged["delete"]
            if one.name.startswith("isolated") and one.verdict != "same"
        ]
        if isolated:
            result.summary.append("Dropping a tree of isolated deinits takes " + ", ".join(isolated) + " of the time.")
    return result
