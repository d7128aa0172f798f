"""utils/export-patches: writes the series back from the commits of a checkout."""

from argparse import Namespace

from ..base.errors import UserError
from ..cli import Parser, ready


def parser() -> Parser:
    command = Parser(
        "utils/export-patches",
        "Writes the series back from the commits of a checkout, byte for byte reproducible.",
        ["utils/export-patches --check", "utils/export-patches --checkout ~/swift-project"],
        status="0 done, 1 an error, or a difference with --check, 2 bad usage",
    )
    command.add("--check", "change nothing; exit 1 when the files differ from the commits")
    return command


def main(options: Namespace) -> None:
    from ..base import locks
    from ..base.paths import BUILD, shown
    from ..base.progress import note
    from ..base.text import plural
    from ..series import checkout, dispatch, own_checkout
    from ..workspace import find

    if options.checkout:
        folder = find.check_checkout(options.checkout)
    else:
        ws, folder = ready(options), own_checkout.FOLDER
        if not (folder / "swift").exists():
            with locks.exclusive(BUILD):
                own_checkout.renew(ws)
    if folder.resolve() == own_checkout.FOLDER:
        changes = own_checkout.export(options.check)
    else:
        changes = checkout.export(folder, options.check)
    changes += dispatch.export(options.check)
    if edited := dispatch.edited():
        note(f"note: {plural(len(edited), 'edited file')} in {dispatch.FOLDER} not committed")
    if edited := checkout.edited(checkout.git_of(folder)):
        note(f"note: {plural(len(edited), 'edited file')} in {folder}/swift not committed")
    for path, what in changes:
        print(f"{what:8} {shown(path)}")
    if not changes:
        print(f"patches/ is the same as the commits of {folder}/swift")
    elif options.check:
        what = f"patches/ differs from the commits of {folder}/swift in {plural(len(changes), 'file')}"
        raise UserError(what, "utils/export-patches")
