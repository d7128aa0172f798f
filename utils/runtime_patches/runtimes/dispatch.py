"""libdispatch.so of each runtime that is built, so that all have the same flags, and of what is shipped. The runtimes
whose pool runs its global queues have the series of patches/dispatch in it."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from ..base.paths import CONFIG
from ..base.process import run_logged
from ..series import dispatch
from ..workspace.find import Workspace
from . import tree
from .libraries import Library

NAME = "libdispatch.so"
# Not one of libraries.LIBRARIES: it holds none of Swift's metadata, and is not measured.
LIBRARY = Library(NAME, "dispatch/build")
# The patch of Swift's series that uses what the series of libdispatch adds.
_USER = "executor-dispatch"


def built(place: Path) -> dict[str, Path]:
    """{name: library} in the build folder `place`: those of tree.built(), and this one, if the workspace has sources of
    it."""
    path = _folder(place) / "build" / NAME
    return {**tree.built(place), **({NAME: path} if path.exists() else {})}


def build(ws: Workspace, place: Path, applied: Iterable[str]) -> None:
    """Compiles what has changed, in a runtime's build folder."""
    sources = ws.sources / dispatch.NAME
    if not sources.is_dir():
        return
    if _USER in applied:
        dispatch.renew(ws)
        sources = dispatch.FOLDER
    folder = _folder(place)
    folder.mkdir(exist_ok=True)
    copy = ["rsync", "-rlpc", "--no-times", "--delete", "--exclude=.git", f"{sources}/", str(folder / "source")]
    command, failed = ws.command(copy, binds=[sources, folder]), "the sources of libdispatch could not be copied"
    run_logged(command, "sync-dispatch", env=ws.environment(), failed=failed)
    recipe = ["sh", str(CONFIG / "dispatch.sh"), f"{tree.OUT}/dispatch", str(ws.toolchain)]
    command = ws.command(["sh", "-c", shlex.join(recipe)], fixed=tree.places(place))
    run_logged(command, "build-dispatch", env=ws.environment(), failed="libdispatch does not build")


def _folder(place: Path) -> Path:
    return place / "build" / "dispatch"
