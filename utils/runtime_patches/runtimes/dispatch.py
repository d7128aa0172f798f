"""libdispatch.so with the series of patches/dispatch, for the runtimes whose pool runs its global queues."""

from __future__ import annotations

import shlex

from ..base.paths import CONFIG
from ..base.process import run_logged
from ..series import dispatch
from . import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..workspace.find import Workspace

NAME = "libdispatch.so"
# The patch of Swift's series that uses what the series of libdispatch adds.
_USER = "executor-dispatch"


def build(ws: Workspace, place: Path, applied: Iterable[str]) -> dict[str, Path]:
    """Compiles what has changed, in a runtime's build folder; returns {name: library}, which is empty if the patches of
    the runtime have no use for it."""
    if _USER not in applied:
        return {}
    dispatch.renew(ws)
    folder = place / "build" / "dispatch"
    folder.mkdir(exist_ok=True)
    sources = f"{dispatch.FOLDER}/"
    copy = ["rsync", "-rlpc", "--no-times", "--delete", "--exclude=.git", sources, str(folder / "source")]
    run_logged(
        ws.command(copy, binds=[dispatch.FOLDER]),
        "sync-dispatch",
        failed="the sources of libdispatch could not be copied",
        env=ws.environment(),
    )
    recipe = ["sh", str(CONFIG / "dispatch.sh"), f"{tree.OUT}/dispatch", str(ws.toolchain)]
    run_logged(
        ws.command(["sh", "-c", shlex.join(recipe)], fixed=tree.places(place)),
        "build-dispatch",
        env=ws.environment(),
        failed="libdispatch does not build",
    )
    return {NAME: folder / "build" / NAME}
