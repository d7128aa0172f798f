"""utils/build-runtime: builds runtimes."""

from argparse import Namespace

from ..cli import Parser, ensure, ready


def parser() -> Parser:
    command = Parser(
        "utils/build-runtime",
        "Builds runtimes: stock, before (unpatched), after (the series and what is edited in\n"
        "the checkout), upto:PATCH, package and package-arm64 (as utils/package packs them), and the series\n"
        "with a sanitizer, with assertions or with random delays: asan, tsan, ubsan, debug, chaos\n"
        "(unpatched: before-asan, …). They are installed in build/runtimes/NAME.",
        ["utils/build-runtime before after", "utils/build-runtime upto:NAME", "utils/build-runtime tsan"],
    )
    command.add_runtimes("runtimes NAME…", "the runtimes to build")
    return command


def main(options: Namespace) -> None:
    ws = ready(options)
    for one in options.runtimes:
        ensure(ws, one)
        print(f"{one}: {one.folder}")
