"""The results that the READMEs show: benchmark/results/MACHINE/NAME.json, compact."""

from ..base import files, schema
from ..base.errors import UserError
from ..base.paths import SAVED_RESULTS
from . import read

# Comparisons that are kept, and their names.
_COMPARISONS = {("before", "after"): "smoke", ("stock", "before"): "smoke-stock"}


def save(paths, machine):
    """Writes the results in `paths`, made compact; returns the files. NAME: of the harness, or of the comparison."""
    if not machine.strip(".") or "/" in machine:
        raise UserError(f"--save: '{machine}' is not a name", "name the machine, such as vm-2-cores")
    target, written = SAVED_RESULTS / machine, []
    target.mkdir(parents=True, exist_ok=True)
    for result in read.load_all(paths)[0]:
        name = _COMPARISONS.get(result.data.names) if result.is_comparison else result.data.name
        if not name:
            continue
        written.append(target / f"{name}.json")
        files.write(written[-1], schema.dump(result.data.compact()))
    return written


def load(machine, name):
    """The Comparison or the Outcome that was saved; None if there is none."""
    path = SAVED_RESULTS / machine / f"{name}.json"
    return read.load(path, files.read_text(path, schema.HINT)) if path.exists() else None
