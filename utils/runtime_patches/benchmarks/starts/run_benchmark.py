"""benchmark/starts/run-benchmark: what is asked for the first time, and starts of programs."""

from argparse import Namespace

from ...cli import Parser, choose, harness, ready


def parser() -> Parser:
    return harness(
        "starts",
        "Measures on two runtimes how long the first look-up of a conformance takes, and the start of programs that\n"
        "make many: tools of the toolchain, a server until its first answer, a program that decodes one struct.",
        [
            "./run-benchmark",
            "./run-benchmark --filter swift-package --rounds 40",
            "./run-benchmark upto:cast-memo upto:conformance-index",
        ],
        rounds=(15, "new processes a column"),
        runtimes="one or two of before, after, stock, upto:PATCH",
        most=2,
    )


def main(options: Namespace) -> None:
    from ..harness.programs import show
    from . import start_rounds

    chosen = choose(options, {row.name: row.text for row in start_rounds.ROWS.values()})
    old, new = options.runtimes[0], options.runtimes[-1]
    ws = ready(options, old, new)
    rows = start_rounds.build(ws, [start_rounds.ROWS[name] for name in chosen])
    found = start_rounds.measure(ws, rows, old, new, options.rounds)
    show(start_rounds.report(found, old.name, new.name, options.rounds), options.output)
