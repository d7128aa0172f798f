"""What the builds and the installed runtimes are like, for utils/doctor."""

from __future__ import annotations

from pathlib import Path

from ..base import files
from ..base.findings import FAULT, MISSING, READY, STALE, Line
from ..series import series
from ..workspace.find import Workspace
from . import build
from .runtime import FOLDER, in_folder, stock


def before(ws: Workspace) -> Line:
    place, again = build.home(ws, stock()), "utils/build-runtime before"
    if not place.is_dir():
        return Line(MISSING, "before", "made when it is needed (5-7 min)", again)
    if not files.is_intact(place / files.MADE):
        damage = "its libraries are not as they were built: linked again when needed"
        return Line(STALE, place.name, damage, again, place)
    return Line(READY, place.name, "the unpatched build", path=place)


def laid(ws: Workspace | None) -> list[Line]:
    folders = [path for path in sorted(FOLDER.glob("*")) if path.is_dir() and not path.name.endswith(".partial")]
    return [_runtime(ws, folder) for folder in folders]


def _runtime(ws: Workspace | None, folder: Path) -> Line:
    """What doctor tells of the runtime in a folder."""
    runtime = in_folder(folder)
    record = runtime.record
    name = str(record.get("name") or folder.name)

    def line(state: str, text: str = "") -> Line:
        return Line(state, f"runtime {name}", text, f"utils/build-runtime {name}" if text else "", folder)

    if not record:
        return line(FAULT, "is not intact")
    if not runtime.is_laid:
        return line(FAULT, "is not intact: files changed since it was installed")
    if record.get("series", series.load().key) != series.load().key:
        return line(STALE, "patches/ has changed since")
    if ws and record.get("configuration", build.configuration_key(ws)) != build.configuration_key(ws):
        return line(STALE, "the build's configuration has changed since")
    return line(READY)
