"""benchmark/teardown/run-benchmark: trees that are made, copied and dropped."""

from argparse import Namespace

from ...base import memory
from ...cli import Parser, choose, ensure, harness, integer, ready


def parser() -> Parser:
    from .tree_rounds import LARGEST_DEPTH, LEAST_DEPTH

    depth = integer(LEAST_DEPTH, LARGEST_DEPTH)
    command = harness(
        "teardown",
        "Makes a full binary tree, copies it and drops both, in several designs, on two runtimes.",
        [
            "./run-benchmark",
            "./run-benchmark --depth 26 --filter '^(class|arena)$'",
            "./run-benchmark stock --filter isolated --isolated-depth 20",
        ],
        what="variant",
        rounds=(5, "processes a figure, which is their median"),
        runtimes="one or two of before, after, stock, upto:PATCH",
        most=2,
    )
    command.add("--depth N", "levels of the tree: 2^N - 1 nodes", type=depth, default="22")
    what = "the same for nodes whose deinit is on an actor, if less"
    command.add("--isolated-depth N", what, type=depth, default="18")
    command.add("--attempts N", "how often a process is run while others disturb it", type=integer(1), default="3")
    command.add("--without-fastbins", "have glibc's malloc keep no lists of small free blocks")
    return command


def main(options: Namespace) -> None:
    from ..harness import programs
    from . import tree_rounds

    ws = ready(options)
    path = tree_rounds.build(ws)
    sizes = {variant: int(size) for variant, size in programs.rows(ws, path).items()}
    chosen = choose(options, {variant: f"{size} bytes a node" for variant, size in sizes.items()}, "variant")
    isolated = min(options.depth, options.isolated_depth)
    depths = {variant: isolated if variant.startswith("isolated") else options.depth for variant in chosen}
    tree_rounds.check_memory(depths, sizes, memory.available())
    ensure(ws, *options.runtimes)
    environment, notes = {}, []
    if options.without_fastbins:
        environment = {"GLIBC_TUNABLES": "glibc.malloc.mxfast=0"}
        notes = ["glibc.malloc.mxfast=0: malloc keeps no lists of small free blocks"]
    runs = tree_rounds.measure(ws, path, depths, options, environment)
    outcome = tree_rounds.report(runs, [runtime.name for runtime in options.runtimes], notes)
    programs.show(outcome, options.output, left=2)
