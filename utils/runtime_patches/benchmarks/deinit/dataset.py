"""Inputs files and datasets: lines of numbers below a header of `#` lines.

inputs    `values objects`, made by gen-points.py
dataset   `schedule(ns) total(ns)`, one line a point of the inputs file that the
          first line names; or with `values objects` in front, and no inputs file
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ...base import files
from ...base.errors import UserError

INPUTS = ["values", "objects"]
TIMES = ["schedule(ns)", "total(ns)"]
_TIME = r"\d{1,18}(\.\d*)?"
_FORMS = {"values": r"\d{1,15}", "objects": r"0*[1-9]\d{0,14}", **dict.fromkeys(TIMES, _TIME)}


@dataclass
class Inputs:
    """Points: `values[i]` task-locals and `objects[i]` objects."""

    path: str
    values: list[int]
    objects: list[int]

    def __len__(self) -> int:
        return len(self.values)


@dataclass
class Dataset:
    """Nanoseconds for each point; `inputs` is None if they are in another file."""

    path: str
    label: str
    schedule: list[float]
    total: list[float]
    inputs: Inputs | None

    def __len__(self) -> int:
        return len(self.total)

    @property
    def inputs_name(self) -> str | None:
        """The inputs file in the first line of the header, or None."""
        words = self.label.split()
        return words[1] if len(words) > 1 and not words[1].startswith("--") else None


def read_inputs(path: Path | str) -> Inputs:
    """The Inputs in a file; UserError names the line that is wrong."""
    _, columns = _read(path, "inputs file", [INPUTS], "./gen-points.py 1000 > FILE makes one")
    return _inputs(path, columns)


def read_dataset(path: Path | str) -> Dataset:
    """The Dataset that run-benchmark.sh printed to a file; UserError names the line that is wrong."""
    label, columns = _read(path, "dataset", [TIMES, INPUTS + TIMES], "./run-benchmark.sh NAME INPUTS > FILE makes one")
    inputs = _inputs(path, columns) if "values" in columns else None
    schedule, total = ([float(text) for text in columns[name]] for name in TIMES)
    return Dataset(str(path), label, schedule, total, inputs)


def _inputs(path: Path | str, columns: Any) -> Inputs:
    return Inputs(str(path), *([int(text) for text in columns[name]] for name in INPUTS))


def check_inputs(dataset: Dataset, inputs: Inputs, hint: str) -> None:
    """UserError if `dataset` was not measured with `inputs`, as far as its file tells."""
    named, given = os.path.basename(dataset.inputs_name or ""), os.path.basename(inputs.path)
    if named and named != given:
        raise UserError(f"{dataset.path} was measured with {named} (line 1), not with {given}", hint)
    if len(dataset) != len(inputs):
        raise UserError(f"{dataset.path} has {len(dataset)} points, {inputs.path} has {len(inputs)}", hint)
    own = dataset.inputs
    if own and (own.values, own.objects) != (inputs.values, inputs.objects):
        raise UserError(f"{dataset.path} holds other inputs than {inputs.path}", hint)


def write_dataset(path: Path, label: str, schedule: list[float], total: list[float]) -> None:
    """Writes times as run-benchmark.sh does; the file appears when it is complete."""
    rows = "".join(f"{row[0]:.0f}\t{row[1]:.0f}\n" for row in zip(schedule, total))
    files.write(path, f"# {label}\n#\n# {' '.join(TIMES)}\n{rows}")


def _read(path: Path | str, kind: str, known: Any, hint: str) -> Any:
    """(first line of the header, {column: texts}) of a file whose columns are one of `known`."""
    lines = list(enumerate(files.read_text(Path(path), hint).splitlines(), 1))
    header = [(number, line[1:].strip()) for number, line in lines if line.startswith("#")]
    rows = [(number, line.split()) for number, line in lines if line.strip() and not line.startswith("#")]
    if not rows:
        raise UserError(f"the {kind} {path} has no points", hint)
    if header and header[-1][0] > rows[0][0]:
        raise UserError(f"{path}: a second header in line {header[-1][0]}", "two runs were written to one file")
    columns = header[-1][1].split() if len(header) > 1 else []
    # Without their names, as many as the first line has.
    columns = columns or next((one for one in known if len(one) == len(rows[0][1])), known[0])
    if columns not in known:
        what = f"{path} has the columns {' '.join(columns)}, and is no {kind}"
        raise UserError(what, "inputs come first: ./regression.py INPUTS DATASET")
    for number, row in rows:
        fields = zip_longest(columns, row, fillvalue="")
        if not all(re.fullmatch(_FORMS.get(name, "-"), text, re.ASCII) for name, text in fields):
            hint = "values and objects are whole numbers, objects from 1, times nanoseconds: make the file again"
            raise UserError(f"{path}, line {number}: '{' '.join(row)}' is not '{' '.join(columns)}'", hint)
    return header[0][1] if header else "", dict(zip(columns, zip(*(row for _, row in rows))))
