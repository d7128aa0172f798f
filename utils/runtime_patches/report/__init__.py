"""The page build/report/index.html: all results in one file, without scripts or network.

utils/report makes it from the results of one or several machines; run-smoke-bench and
benchmark/deinit/reproduce make it anew when they have measured.
"""

import time
from pathlib import Path

from .. import files, pins
from ..errors import UserError
from ..progress import note
from . import page, read

FOLDER = pins.BUILD / "report"
PAGE = FOLDER / "index.html"


def write(paths, target):
    """Writes the page of the results in `paths` (files, or folders that hold some) to the
    file `target`, whole or not at all. Returns (number of results, notes)."""
    results, notes = read.load_all(paths)
    text = page.render(results, notes, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        files.write(target, text)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}",
                        "--output FILE names another place") from None
    return len(results), notes


def found():
    """The files of results below build/report."""
    return read.found(FOLDER)


def renew(folder):
    """Makes the page anew after results were written to `folder`, where that is below
    build/report. A fault in other results only gets a line: what was measured stands."""
    if FOLDER.resolve() not in [p.resolve() for p in (Path(folder), *Path(folder).parents)]:
        return
    try:
        write([FOLDER], PAGE)
        note(f"page: {PAGE}")
    except UserError as error:
        note(f"the page was not made: {error.message}")
