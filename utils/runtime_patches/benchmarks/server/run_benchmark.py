"""benchmark/server/run-benchmark: what a server gains."""

from __future__ import annotations

from ...base.errors import UserError
from ...base.text import plural
from ...cli import choose, ensure, harness, integer, ready, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from ...cli import Parser

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
        ],
        rounds=(7, "new processes a column"),
        runtimes="before, after, stock, upto:PATCH",
        most=2,
    )
    command.add("--pool", "compare the last runtime with its pool of workers off (SWIFT_POOL=0) and on (SWIFT_POOL=1)")
    command.add("--seconds S", "of each load on a server (default: 1.5)", type=seconds(0.2, 99), default="1.5")
    what = "requests a second of the open loops (default: 1000 4000; none: no latencies)"
    command.add("--rates [R…]", what, type=integer(1), default=[1000, 4000])
    command.add("--connections N", "(default: 64)", type=integer(1), default=64)
    command.add("--port N", "of the server (default: a free one)", type=integer(0), default=0)
    return command


def main(options: Namespace) -> None:
    from ..harness.programs import show
    from . import programs, server_rounds
    from .rows import ROWS

    for name, most in (("connections", 1024), ("port", 65535)):
        if getattr(options, name) > most:
            raise UserError(f"--{name}: {getattr(options, name)} is more than {most}", "run-benchmark --help", 2)
    chosen = choose(options, {row.name: row.text for row in ROWS.values()})
    old, new = options.runtimes[0], options.runtimes[-1]
    if options.pool:
        options.sides = [programs.Side(new, f"pool {word}", (("SWIFT_POOL", value),)) for word, value in _POOL]
    else:
        options.sides = [programs.Side(old, old.name), programs.Side(new, new.name)]
    ws = ready(options)
    with server_rounds.place(ws) as place:
        ensure(ws, *(side.runtime for side in options.sides))
        outcome, failed = server_rounds.run(ws, place, options, [ROWS[name] for name in chosen])
        if outcome:
            show(outcome, options.output)
        if failed:
            count = f"{len(failed)} of {plural(len(chosen), 'row')} failed"
            raise UserError(f"{count}: {failed[0].message}", failed[0].hint)
