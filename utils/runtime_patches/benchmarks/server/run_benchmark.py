"""benchmark/server/run-benchmark: what a server gains."""

from argparse import Namespace

from ...base.errors import BadUsage, UserError
from ...base.paths import REPORT
from ...base.text import plural
from ...cli import Parser, choose, ensure, harness, integer, ready, seconds

_POOL = (("off", "0"), ("on", "1"))


def parser() -> Parser:
    command = harness(
        "server",
        "Compares two runtimes by a server on swift-nio under load, by loops of what servers do, and "
        "by swift-nio's\nown benchmark: operations a second, CPU time, latencies at fixed rates, context switches, "
        "memory.",
        [
            "./run-benchmark",
            "./run-benchmark --filter '^all' --rounds 16",
            "./run-benchmark --filter nio --rounds 5",
            "./run-benchmark --pool --filter '^all'",
            "./run-benchmark --profile --rounds 5",
        ],
        rounds=(7, "new processes a column"),
        runtimes="before, after, stock, upto:PATCH",
        most=2,
    )
    command.add("--pool", "compare the last runtime with its pool of workers off (SWIFT_POOL=0) and on (SWIFT_POOL=1)")
    what = "tell by perf which libraries and parts of the runtime the CPU time goes to, with the pool off and on"
    command.add("--profile", what)
    command.set_defaults(filter=None)
    command.add("--seconds S", "how long each load lasts (default: 1.5)", type=seconds(0.2, 99), default="1.5")
    what = "requests a second of the open loops (default: 1000 4000; none: no latencies)"
    command.add("--rates [R…]", what, type=integer(1), default=[1000, 4000])
    command.add("--port N", "the server's port (default: a free one)", type=integer(0, 65535), default=0)
    return command


def main(options: Namespace) -> None:
    from ..harness.programs import show
    from . import profile, programs, server_rounds
    from .rows import ROWS

    if options.pool and options.profile:
        raise BadUsage("--pool and --profile exclude each other", "--profile shows the pool off and on")
    options.filter = options.filter or (profile.DEFAULT_ROWS if options.profile else ".")
    chosen = choose(options, {row.name: row.text for row in ROWS.values()})
    if options.profile and any(ROWS[name].kind == "nio" for name in chosen):
        raise BadUsage("--profile has no rows of swift-nio's own benchmark", "leave them out: --filter")
    old, new = options.runtimes[0], options.runtimes[-1]
    if options.pool:
        options.sides = [programs.Side(new, f"pool {word}", (("SWIFT_POOL", value),)) for word, value in _POOL]
    else:
        options.sides = [programs.Side(old, old.name), programs.Side(new, new.name)]
    ws = ready(options)
    with server_rounds.place(ws) as place:
        ensure(ws, *(side.runtime for side in options.sides))
        rows = [ROWS[name] for name in chosen]
        if options.profile:
            before, after = options.sides
            dispatch = programs.Side(new, f"{new}, SWIFT_POOL=0", (("SWIFT_POOL", "0"),))
            columns = {str(old): before, f"{old} again": before, str(new): after, str(dispatch): dispatch}
            found = profile.take(options, place, rows, columns)
            # A result of its own: it does not replace that of the speeds.
            output = REPORT / "server-cpu" if options.output == REPORT / "server" else options.output
            show(profile.report(options, found, columns), output)
            return
        taken, failed = server_rounds.take(ws, place, options, rows)
        if taken:
            show(server_rounds.report(options, taken, failed), options.output)
        if failed:
            count = f"{len(failed)} of {plural(len(chosen), 'row')} failed"
            raise UserError(f"{count}: {failed[0].message}", failed[0].hint)
