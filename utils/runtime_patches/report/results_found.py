"""What the results and the page are like, for utils/doctor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..base import files
from ..base.findings import FAULT, READY, STALE, Line
from ..base.paths import REPORT
from ..runtimes.runtime import FOLDER, plain
from . import PAGE, read


def lines() -> list[Line]:
    paths = read.found(REPORT)
    found = [_result(path) for path in paths]
    newest = max((path.stat().st_mtime for path in paths), default=None)
    if PAGE.exists() and newest:
        late = PAGE.stat().st_mtime < newest
        what, hint = ("is older than the results", "utils/report") if late else ("", "")
        found.append(Line(STALE if late else READY, "index.html", what, hint, PAGE))
    return found


def _result(path: Path) -> Line:
    name, data = str(path.relative_to(REPORT)), files.read_record(path)
    if data is None:
        return Line(FAULT, name, "is damaged", "measure again, or remove it", path)
    if other := _measured_others(data):
        return Line(STALE, name, f"measured another build of {other} than is there now", "utils/run-smoke-bench", path)
    return Line(READY, name, str(data.get("started") or ""), path=path)


def _measured_others(data: Mapping[str, Any]) -> str | None:
    """The name of a side whose libraries are no longer those that were measured."""
    sides = data.get("sides")
    for side in sides.values() if isinstance(sides, dict) else ():
        libraries = side.get("libraries") if isinstance(side, dict) else None
        for library, entry in libraries.items() if isinstance(libraries, dict) else ():
            path = FOLDER / plain(str(side.get("name"))) / "lib" / "swift" / "linux" / library
            if path.is_file() and isinstance(entry, dict) and files.sha256(path) != entry.get("sha256", ""):
                return str(side["name"])
    return None
