"""The page build/report/index.html: all results in one file, without scripts or network.

utils/report makes it from the results of one or several machines; what measures renews it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from ..base import files
from ..base.errors import UserError
from ..base.paths import REPORT
from ..base.progress import note

PAGE = REPORT / "index.html"


def write(paths: Iterable[Path | str], target: Path) -> tuple[int, list[str]]:
    """Writes the page of the results in `paths` (files, or folders that hold some) to the file `target`, complete
    or not at all. Returns (number of results, notes)."""
    from . import page, read

    results, notes = read.load_all(paths)
    text = page.render(results, notes, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        files.write(target, text)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}", "--output FILE names another place") from None
    return len(results), notes


def renew(folder: Path | str) -> None:
    """Renews the page after results were written to `folder`, if that is below build/report. A fault in other
    results only gets a line: what was measured stands."""
    if REPORT.resolve() not in [p.resolve() for p in (Path(folder), *Path(folder).parents)]:
        return
    try:
        write([REPORT], PAGE)
        note(f"page: {PAGE}")
    except UserError as error:
        note(f"the page was not made: {error.message}")
