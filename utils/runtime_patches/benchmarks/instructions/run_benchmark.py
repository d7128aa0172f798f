"""benchmark/instructions/run-benchmark: instruction counts, the noise-free second opinion."""

from argparse import Namespace

from ...cli import Parser, choose, ensure, harness, integer, ready

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
    command.add("--repeat N", "counts of each; the median is reported", type=integer(1), default=2)
    return command


def main(options: Namespace) -> None:
    from ...base.paths import REPORT
    from ..harness import programs
    from . import allocations, counting

    runtimes = list(dict.fromkeys(options.runtimes))
    ws = ready(options)
    options.filter = options.filter or ("." if options.allocations else ROWS)
    if options.allocations:
        path = allocations.build(ws)
        rows = choose(options, programs.rows(ws, path))
        ensure(ws, *runtimes)
        found = allocations.measure(ws, path, rows, runtimes, options.repeat)
        # A result of its own: it does not replace that of the counts of instructions.
        output = REPORT / "allocations" if options.output == REPORT / "instructions" else options.output
        programs.show(allocations.report(found, runtimes, options.repeat), output)
        return
    binary, found_rows = counting.choose(ws, runtimes, options.filter)
    rows = choose(options, dict.fromkeys(found_rows, ""))
    counts = counting.measure(ws, binary, rows, runtimes, options.repeat)
    programs.show(counting.report(counts, options.repeat), options.output)
