"""Folders in the cache that are made once, for all clones, when something first needs them."""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path

from ..base import files, locks
from ..base.progress import Step
from . import provision
from .find import Workspace

# How their names begin, and what they are.
KINDS = {
    "unittest": "test modules",
    "sysroot": "headers and libraries to package with",
    "toolchain": "modules to package with",
    "system": "a release to test packages in",
    "herd7": "for the litmus tests",
    "models": "what models of protocols have answered",
    "after": "the last build of after",
    "package": "the last build to package",
}


def folder(ws: Workspace, name: str, what: str, fill: Callable[[Path], object], *recipe: object) -> Path:
    """The folder in the cache that fill(folder) makes. Its name is `name` and a key of the recipe: the functions and
    values that decide what is in it. It is rebuilt if it is damaged. what: the line that is shown meanwhile."""
    parts = [inspect.getsource(part) if callable(part) else repr(part) for part in recipe]
    key = files.digest("\0".join(parts))[:12]
    place = ws.cache / f"{name}-{key}"
    if files.is_intact(place / files.MADE):
        return place
    with locks.exclusive(ws.cache):
        if not files.is_intact(place / files.MADE):
            with Step(what), files.replaced(place) as partial:
                fill(partial)
                provision.record(partial)
    return place


def kept(cache: Path) -> tuple[list[tuple[Path, str]], list[Path]]:
    """([(folder, what it is)], [folders of a recipe that has changed since])."""
    newest: dict[str, tuple[Path, str]] = {}
    old: list[Path] = []
    for kind, what in KINDS.items():
        for path in sorted(cache.glob(f"{kind}*"), key=os.path.getmtime):
            name = re.sub("-[0-9a-f]{12}$", "", path.name)
            if path.suffix != ".partial":
                old += [newest[name][0]] if name in newest else []
                newest[name] = path, what
    return sorted(newest.values()), old
