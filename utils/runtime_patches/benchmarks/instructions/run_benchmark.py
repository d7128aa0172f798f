"""benchmark/instructions/run-benchmark: instruction counts, the noise-free second opinion."""

from __future__ import annotations

from ...cli import harness, integer, ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from ...cli import Parser

ROWS = r"^(IsolatedDeinit\.(Nonisolated|NoHop|Hop)\.Array\.1000|TaskLocalCopy\.Task\.(0|100)|RuntimeCaches\..*)$"


def parser() -> Parser:
    command = harness(
        "instructions",
        "Counts the instructions that an iteration of rows of the benchmark suite takes on several\n"
        "runtimes, with valgrind's callgrind: the noise-free second opinion.",
        ["./run-benchmark", "./run-benchmark --filter '^TaskLocalCopy' before upto:NAME after"],
        runtimes="stock, before, after, upto:PATCH; ratios are to the first one",
    )
    command.set_defaults(filter=ROWS)
    command.add("--repeat N", "counts of each; the median is told", type=integer(1), default="2")
    return command


def main(options: Namespace) -> None:
    from ..harness import programs
    from . import counting

    runtimes = list(dict.fromkeys(options.runtimes))
    ws = ready(options)
    binary, rows = counting.choose(ws, runtimes, options.filter)
    if options.list:
        print("\n".join(rows))
        return
    counts = counting.measure(ws, binary, rows, runtimes, options.repeat)
    programs.show(counting.report(counts, options.repeat), options.output)
