"""benchmark/load/run-benchmark: the runtime under load."""

from argparse import Namespace

from ...cli import Parser, choose, ensure, harness, integer, ready


def parser() -> Parser:
    command = harness(
        "load",
        "Puts a load on two runtimes, and prints the time of an operation and the resident memory: at "
        "the start,\nwhile all wait, at the end, and when malloc has given back what it keeps.",
        ["./run-benchmark", "./run-benchmark --filter deinits --rounds 5", "./run-benchmark stock after --most 100000"],
        rounds=(3, "processes a figure, which is their median"),
        runtimes="before, after, stock, upto:PATCH",
    )
    command.add("--most N", "operations of the largest run", type=integer(1000), default="1000000")
    return command


def main(options: Namespace) -> None:
    from ..harness import programs
    from . import load_rounds

    chosen = choose(options, {row: f"up to {most:,}" for row, most in load_rounds.ROWS.items()})
    ws = ready(options)
    path = load_rounds.build(ws)
    ensure(ws, *options.runtimes)
    programs.show(load_rounds.measure(ws, path, chosen, options), options.output, left=2)
