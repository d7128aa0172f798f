"""The results that the READMEs show: benchmark/results/MACHINE/NAME.json, compact."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..base import files, schema
from ..base.errors import UserError
from ..base.paths import SAVED_RESULTS, shown
from ..base.progress import note
from ..results.comparison import Comparison
from ..results.outcome import Outcome
from . import read

# Comparisons that are kept, and their names.
_COMPARISONS = {("before", "after"): "smoke", ("stock", "before"): "smoke-stock"}


def save(paths: Iterable[Path | str], machine: str) -> list[Path]:
    """Writes the results in `paths`, made compact; returns the files. NAME: of the harness, or of the comparison."""
    target = SAVED_RESULTS / machine
    found: dict[Path, str] = {}
    for result in read.load_all(paths)[0]:
        name = _COMPARISONS.get(result.compared.names) if result.is_comparison else result.measured.name
        if not name:
            note(f"{result.path}: {' and '.join(result.compared.names)} are not kept: left out")
            continue
        path = target / f"{name}.json"
        if path in found:
            raise UserError(f"two of the results are of '{name}'", "name the files whose results are to be kept")
        found[path] = schema.dump(result.data.compact())
    if not found:
        raise UserError("none of the results is one that is kept", "before and after, stock and before, or a harness")
    target.mkdir(parents=True, exist_ok=True)
    for path, text in found.items():
        files.write(path, text)
    return list(found)


def load(machine: str, name: str) -> Comparison | Outcome | None:
    """The Comparison or the Outcome that was saved; None if there is none."""
    path = SAVED_RESULTS / machine / f"{name}.json"
    if not path.exists():
        return None
    hint = f"git checkout -- {shown(path)}"
    if found := read.load(path, files.read_text(path, hint)):
        return found
    raise UserError(f"{path} holds no results that are known here", hint)
