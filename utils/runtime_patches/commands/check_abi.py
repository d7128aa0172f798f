"""utils/check-abi: compares what programs and debuggers rely on."""

from argparse import Namespace

from ..base.errors import UserError
from ..base.text import plural
from ..cli import Parser, ready, runtime


def parser() -> Parser:
    command = Parser(
        "utils/check-abi",
        "Compares what programs and debuggers rely on: exported symbols, the values of\n"
        "_swift_concurrency_debug_*, and the layout of tasks, jobs, actors and status records.\n"
        "Each difference must be named in the `ABI:` field of a patch. No symbol may be removed.",
        ["utils/check-abi", "utils/check-abi before upto:NAME"],
        status="0 NEW is ABI-compatible with OLD, 1 it is not, or an error, 2 bad usage",
    )
    what = "a runtime (default: stock, whose layouts are before's)"
    command.add_runtimes("old [OLD]", what, default="stock")
    command.add_runtimes("new [NEW]", "a runtime (default: after)", default="after")
    return command


def main(options: Namespace) -> None:
    from ..runtimes import abi

    ws = ready(options, runtime("before"), options.old, options.new)
    faults = 0
    for what, text, reason in abi.compare(ws, options.old, options.new):
        faults += reason is None
        print(f"{what:14} {text}" + (f": {reason}" if reason else ""))
    if faults:
        count = plural(faults, "difference")
        what = f"{count} between {options.old} and {options.new} in no `ABI:` field of the series"
        raise UserError(what, "patches/README.md says what may change")
    print(f"{options.new} is ABI-compatible with {options.old}")
