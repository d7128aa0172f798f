"""What the checkouts have that patches/ has not: it is compiled, but the state of the series does not tell it."""

from pathlib import Path

from ..base import locks
from ..base.errors import UserError
from ..base.paths import BUILD, shown
from ..base.text import plural
from ..workspace.find import Workspace
from . import checkout, dispatch, own_checkout, series


def found(folder: Path) -> str:
    """What it is, as text; empty if nothing. folder: that with the swift/ that has the series."""
    if edited := checkout.edited(checkout.git_of(folder)) + dispatch.edited():
        return f"edits of {plural(len(edited), 'file')}"
    changes = checkout.export(folder, check=True) + dispatch.export(check=True)
    return f"{plural(len(changes), 'patch', 'patches')} not exported" if changes else ""


def refuse(ws: Workspace) -> None:
    """UserError if build/checkout or build/dispatch, which are brought up to date, has some."""
    series.load.cache_clear()  # a command that runs for hours has an old one
    with locks.exclusive(BUILD):
        own_checkout.renew(ws)
        dispatch.renew(ws)
    if text := found(own_checkout.FOLDER):
        checkouts = f"{shown(own_checkout.FOLDER)}/swift and {shown(dispatch.FOLDER)}"
        hint = f"utils/export-patches after a commit, or git stash in {checkouts}: records are of the series alone"
        raise UserError(f"the checkout has what patches/ has not: {text}", hint)
