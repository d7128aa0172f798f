"""Every experiment, in order: what is measured, what is fitted, and what it gave on an M1. They are described in
benchmark/deinit/experiments.json."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from ...base import files
from ...base.errors import UserError
from ...base.paths import BENCHMARK, shown

_FILE = BENCHMARK / "deinit" / "experiments.json"


@dataclass(frozen=True)
class Inputs:
    """Random points in closed intervals; `name` is that of a file in data/, if it has one."""

    values: tuple[int, int]
    objects: tuple[int, int]
    points: int
    name: str | None = None


@dataclass(frozen=True)
class Run:
    """One dataset: the benchmark for all points of the inputs."""

    name: str
    benchmark: str
    inputs: Inputs
    ballast: int = 0


@dataclass(frozen=True)
class Fit:
    """One regression: on `run` (less `diff`), with the M1's formula and R² by phase."""

    run: Run
    params: str
    phases: str = "S,T"
    diff: Run | None = None
    min_values: int | None = None
    m1: dict[str, tuple[str, float]] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The line that fits it by hand."""
        words = ["./regression.py"]
        if self.run.inputs.name:
            words.append(f"data/{self.run.inputs.name}.txt")
        words.append(f"data/{self.run.name}.txt")
        if self.diff:
            words.append(f"--diff data/{self.diff.name}.txt")
        if self.phases != "S,T":
            words.append(f"-y {self.phases}")
        words.append(f"-p {self.params}")
        if self.min_values:
            words.append(f"--min-values={self.min_values}")
        return " ".join(words)


@functools.cache
def load() -> tuple[dict[str, Run], dict[str, list[Fit]]]:
    """({name: Run}, {title of a section: its fits}); UserError if the file is damaged."""
    hint = f"git checkout -- {shown(_FILE)}"
    data = files.read_json(_FILE, hint)
    try:
        inputs = {
            name: Inputs(tuple(one["values"]), tuple(one["objects"]), one["points"], one.get("name"))
            for name, one in data["inputs"].items()
        }
        found = {name: Run(name, **{**one, "inputs": inputs[one["inputs"]]}) for name, one in data["runs"].items()}
        return found, {
            title: [Fit(**{**one, "run": found[one["run"]], "diff": found.get(one.get("diff"))}) for one in fits]
            for title, fits in data["sections"].items()
        }
    except (AttributeError, KeyError, TypeError) as fault:
        raise UserError(f"{_FILE} is damaged: {fault}", hint) from None


def runs() -> list[Run]:
    """All datasets that the fits need, each once, in order."""
    found = [run for fits in load()[1].values() for fit in fits for run in (fit.diff, fit.run) if run]
    return list(dict.fromkeys(found))
