"""utils/update-figures: writes the figures in the headers of patches from the records."""

from argparse import Namespace

from ..base.errors import UserError
from ..cli import Parser, machine, patch_names


def parser() -> Parser:
    command = Parser(
        "utils/update-figures",
        "Writes the `Benchmark:` fields that begin with before/after, or with after if before lacks the\n"
        "rows, and name rows of the suite: the first three rows, with the times that are saved in\n"
        "benchmark/results. Others stay as they are.",
        ["utils/update-figures vm-2-cores --check", "utils/update-figures vm-2-cores tasklocal-map"],
        workspace=False,
        status="0 done, 1 an error, 2 bad usage, 3 figures differ with --check",
    )
    command.add("machine MACHINE", "whose records are taken", type=machine)
    command.add("patches [PATCH…]", "only these patches (default: all)", complete=patch_names)
    command.add("--check", "change nothing; exit 3 if figures are not those of the records")
    return command


def main(options: Namespace) -> None:
    from ..base import files
    from ..base.text import plural
    from ..report import figures, saved
    from ..results.comparison import Comparison
    from ..series import series

    result = saved.load(options.machine, "smoke")
    if not isinstance(result, Comparison):
        what = f"no results of the suite are saved for {options.machine}"
        raise UserError(what, f"utils/measure {options.machine} smoke")
    listed, changed = series.load(), []
    for patch in listed.select(options.patches):
        text = figures.header(patch, result, options.machine)
        if text not in (None, patch.text):
            changed.append(patch.slug)
            print(f"{'not of the records' if options.check else 'written'}: {patch.path}")
            if not options.check:
                files.write(listed.path(patch.slug), text or "")
    if changed and options.check:
        what = f"{plural(len(changed), 'header')} without the figures of the records"
        raise UserError(what, f"utils/update-figures {options.machine}", 3)
    if not changed:
        print("all figures of rows are those of the records")
