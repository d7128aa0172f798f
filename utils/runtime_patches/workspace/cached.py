"""Folders in the cache that are made once, for all clones, when something first needs them."""

from ..base import files, locks
from ..base.progress import Step
from . import provision


def folder(ws, name, what, fill):
    """The folder `name` in the cache. If it is missing or damaged, fill(folder) makes it anew; what: the line that is
    shown meanwhile."""
    place = ws.cache / name
    if files.is_intact(place / files.MADE):
        return place
    with locks.exclusive(ws.cache):
        if not files.is_intact(place / files.MADE):
            with Step(what), files.replaced(place) as partial:
                fill(partial)
                provision.record(partial)
    return place
