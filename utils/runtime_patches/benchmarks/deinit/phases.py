"""The times of a dataset by phase, and the points that a fit is limited to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...base.errors import UserError
from . import dataset as files
from .dataset import Dataset, Inputs

ALL = (0.0, math.inf)  # an interval that holds every number of values or objects
PHASES: dict[str, tuple[str, Callable[[Dataset], list[float]]]] = {
    "S": ("Scheduling", lambda data: data.schedule),
    "E": ("Execution", lambda data: [t - s for s, t in zip(data.schedule, data.total)]),
    "T": ("Total", lambda data: data.total),
}


def times(phase: str, data: Dataset, baseline: Dataset | None = None) -> list[float]:
    """Nanoseconds for each point, less those of `baseline` if given."""
    own = PHASES[phase][1](data)
    if baseline is None:
        return own
    return [a - b for a, b in zip(own, PHASES[phase][1](baseline))]


class Selection:
    """The points whose values and objects are within closed intervals."""

    def __init__(self, inputs: Inputs, values: tuple[float, float] = ALL, objects: tuple[float, float] = ALL) -> None:
        self.indices = [
            i
            for i, (v, o) in enumerate(zip(inputs.values, inputs.objects))
            if values[0] <= v <= values[1] and objects[0] <= o <= objects[1]
        ]
        if not self.indices:
            what = f"no point of {inputs.path} is left within the given limits"
            raise UserError(what, "change --min-values, --max-values, --min-objects or --max-objects")
        self.values = self.of(inputs.values)
        self.objects = self.of(inputs.objects)

    def of(self, column: Sequence[Any]) -> list[Any]:
        """The part of `column` that belongs to the selected points."""
        return [column[i] for i in self.indices]


def load(
    inputs_path: Path | str | None, dataset_path: Path | str, baseline_path: Path | str | None = None
) -> tuple[Inputs, Dataset, Dataset | None]:
    """(inputs, dataset, baseline or None), checked to belong together."""
    given = files.read_inputs(inputs_path) if inputs_path else None
    data = files.read_dataset(dataset_path)
    again = f"./regression.py {data.inputs_name or 'INPUTS'} {data.path}"
    if given:
        files.check_inputs(data, given, again)
    inputs = given or data.inputs
    if not inputs:
        raise UserError(f"{data.path} does not hold its inputs", f"name its inputs file, too: {again}")
    baseline = files.read_dataset(baseline_path) if baseline_path else None
    if baseline:
        files.check_inputs(baseline, inputs, "a difference needs two datasets of the same inputs")
    return inputs, data, baseline
