"""benchmark/instructions/run-benchmark: instruction counts, the noise-free second opinion."""

from __future__ import annotations

from argparse import Namespace

from ...cli import Parser, harness, integer, ready
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace

ROWS = r"^(IsolatedDeinit\.(Nonisolated|NoHop|Hop)\.Array\.1000|TaskLocalCopy\.Task\.(0|100)|RuntimeCaches\..*)$"


def parser() -> Parser:
    command = harness(
        "instructions",
        "Counts the instructions that an iteration of rows of the benchmark suite takes on several\n"
        "runtimes, with valgrind's callgrind: the noise-free second opinion.",
        [
            "./run-benchmark",
            "./run-benchmark --filter '^TaskLocalCopy' before upto:NAME after",
            "./run-benchmark --allocations --filter Task",
        ],
        runtimes="stock, before, after, upto:PATCH; ratios are to the first one",
    )
    command.set_defaults(filter=None)
    command.add("--allocations", "count calls of malloc and bytes instead, of operations on tasks")
    command.add("--repeat N", "counts of each; the median is told", type=integer(1), default="2")
    return command


def main(options: Namespace) -> None:
    from ..harness import programs
    from . import counting

    runtimes = list(dict.fromkeys(options.runtimes))
    ws = ready(options)
    if options.allocations:
        _allocations(ws, options, runtimes)
        return
    binary, rows = counting.choose(ws, runtimes, options.filter or ROWS)
    if options.list:
        print("\n".join(rows))
        return
    counts = counting.measure(ws, binary, rows, runtimes, options.repeat)
    programs.show(counting.report(counts, options.repeat), options.output)


def _allocations(ws: Workspace, options: Namespace, runtimes: list[Runtime]) -> None:
    from ...base.paths import REPORT
    from ...cli import choose, ensure
    from ..harness import programs
    from . import allocations

    path = allocations.build(ws)
    options.filter = options.filter or "."
    rows = choose(options, programs.rows(ws, path))
    ensure(ws, *runtimes)
    repeat = int(options.repeat)
    found = allocations.measure(ws, path, rows, runtimes, repeat)
    # A result of its own: it does not replace that of the counts of instructions.
    output = REPORT / "allocations" if options.output == REPORT / "instructions" else options.output
    programs.show(allocations.report(found, runtimes, repeat), output)
