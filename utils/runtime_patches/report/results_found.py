"""What the results and the page are like, for utils/doctor."""

from pathlib import Path

from ..base import files, schema
from ..base.errors import UserError
from ..base.findings import FAULT, READY, STALE, Line
from ..base.paths import REPORT
from ..results.comparison import Comparison
from ..runtimes.runtime import FOLDER, in_folder, plain
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
    name = str(path.relative_to(REPORT))
    try:
        data = read.load(path, files.read_text(path, schema.HINT))
    except UserError as error:
        return Line(FAULT, name, error.message.removeprefix(f"{path} "), "measure again, or remove it", path)
    for side in (data.sides.old, data.sides.new) if isinstance(data, Comparison) else ():
        runtime = in_folder(FOLDER / plain(side.name))
        for library, entry in side.libraries.items():
            there = runtime.library(library)
            if there.is_file() and files.sha256(there) != entry.get("sha256"):
                what = f"measured another build of {side.name} than is there now"
                return Line(STALE, name, what, "utils/run-smoke-bench", path)
    return Line(READY, name, data.started or "" if data else "holds no results that are known here", path=path)
