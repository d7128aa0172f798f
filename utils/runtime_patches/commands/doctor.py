"""utils/doctor: what is ready, missing or stale, and how much room it takes; and cleaning."""

from argparse import Namespace

from ..base.errors import BadUsage, UserError
from ..cli import Parser


def parser() -> Parser:
    command = Parser(
        "utils/doctor",
        "Reports what is ready, missing, stale or damaged, and how much room it takes.\n"
        "With --clean, deletes the named parts. Never builds anything.",
        ["utils/doctor", "utils/doctor --clean old", "utils/doctor --clean test work --dry-run"],
        status="0 nothing to repair, 1 something is, or an error, 2 bad usage",
    )
    what = (
        "remove: old (of other pins and configurations, and what was left by interruptions), ccache, clients "
        "(packages that others wrote, of all clones), cache (toolchain, sources and builds of all clones), build "
        "(its folders except checkout, dispatch and report), or the name of one folder of build/. A checkout is never "
        "removed"
    )
    command.add("--clean PART…", what, complete=_parts)
    command.add("--dry-run", "with --clean: only report")
    return command


def _parts() -> list[str]:
    from .. import installation

    return list(installation.parts(None))


def main(options: Namespace) -> None:
    from .. import installation
    from ..installation import FAULT, Line
    from ..workspace import find

    if options.dry_run and not options.clean:
        raise BadUsage("--dry-run needs --clean", "utils/doctor --clean old --dry-run")
    ws, fault = None, None
    try:
        ws = find.find(options.checkout, options.toolchain)
    except UserError as error:
        fault = Line(FAULT, "workspace", error.message, error.hint)
    if options.clean:
        installation.clean(ws, options.clean, options.dry_run)
    else:
        installation.show(installation.examine(ws, fault, options.toolchain))
