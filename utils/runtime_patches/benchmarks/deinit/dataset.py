"""Inputs files and datasets: lines of numbers below a header of `#` lines.

inputs    `values objects`, made by gen-points.py
dataset   `schedule(ns) total(ns)`, one line a point of the inputs file that the
          first line names; or with `values objects` in front, and no inputs file
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ...base import files
from ...base.errors import UserError

INPUTS = ["values", "objects"]
TIMES = ["schedule(ns)", "total(ns)"]


@dataclass
class Inputs:
    """Points: `values[i]` task-locals and `objects[i]` objects."""

    path: str
    values: list
    objects: list

    def __len__(self):
        return len(self.values)


@dataclass
class Dataset:
    """Nanoseconds for each point; `inputs` is None if they are in another file."""

    path: str
    label: str
    schedule: list
    total: list
    inputs: Inputs | None

    def __len__(self):
        return len(self.total)

    @property
    def inputs_name(self):
        """The inputs file in the first line of the header, or None."""
        words = self.label.split()
        return words[1] if len(words) > 1 and not words[1].startswith("--") else None


def read_inputs(path):
    """Reads an inputs file; UserError names the line that is wrong."""
    _, columns, rows = _read(path, "inputs file", "./gen-points.py 1000 > FILE makes one")
    if columns not in (None, INPUTS):
        raise UserError(
            f"{path} has the columns {' '.join(columns)}, and is no inputs file",
            "inputs come first: ./regression.py INPUTS DATASET",
        )
    for number, row in rows:
        _check_count(path, number, row, INPUTS)
        if not (_whole(row[0]) and _whole(row[1])):
            raise UserError(
                f"{path}, line {number}: '{' '.join(row)}' are not two whole numbers",
                "a line has values and objects: ./gen-points.py makes such files",
            )
        if int(row[1]) < 1:
            raise UserError(
                f"{path}, line {number}: a point needs at least 1 object",
                "change the line, or make a new file with ./gen-points.py",
            )
    return Inputs(str(path), [int(row[0]) for _, row in rows], [int(row[1]) for _, row in rows])


def read_dataset(path):
    """Reads the output of run-benchmark.sh; UserError names the line that is wrong."""
    label, columns, rows = _read(path, "dataset", "./run-benchmark.sh NAME INPUTS > FILE makes one")
    if columns is None:
        columns = TIMES if len(rows[0][1]) == 2 else INPUTS + TIMES
    if columns not in (TIMES, INPUTS + TIMES):
        if columns == INPUTS:
            raise UserError(
                f"{path} is an inputs file, and no dataset", "inputs come first: ./regression.py INPUTS DATASET"
            )
        missing = [name for name in TIMES if name not in columns]
        raise UserError(
            f"{path}: {'no column ' + missing[0] if missing else 'unknown columns'} "
            f"in the header '{' '.join(columns)}'",
            f"the header names {' '.join(TIMES)}, or {' '.join(INPUTS + TIMES)}",
        )
    times = []
    for number, row in rows:
        _check_count(path, number, row, columns)
        times.append([_nanoseconds(path, number, text) for text in row[-2:]])
    inputs = None
    if columns != TIMES:
        for number, row in rows:
            if not (_whole(row[0]) and _whole(row[1])):
                raise UserError(
                    f"{path}, line {number}: '{row[0]} {row[1]}' are no values and objects", "measure it again"
                )
        inputs = Inputs(str(path), [int(row[0]) for _, row in rows], [int(row[1]) for _, row in rows])
    return Dataset(str(path), label, [t[0] for t in times], [t[1] for t in times], inputs)


def inputs_of(dataset, inputs=None):
    """The points of `dataset`: those of `inputs` where given, else its own."""
    if inputs is None:
        if dataset.inputs is None:
            raise UserError(
                f"{dataset.path} does not hold its inputs",
                f"name its inputs file, too: ./regression.py {dataset.inputs_name or 'INPUTS'} {dataset.path}",
            )
        return dataset.inputs
    if dataset.inputs_name:
        named, given = (os.path.basename(name) for name in (dataset.inputs_name, inputs.path))
        if named != given:
            raise UserError(
                f"{dataset.path} was measured with {named} (line 1), not with {given}",
                f"./regression.py {dataset.inputs_name} {dataset.path}",
            )
    if len(dataset) != len(inputs):
        raise UserError(
            f"{dataset.path} has {len(dataset)} points, {inputs.path} has {len(inputs)}",
            "the run was cut off, or had other inputs: measure it again",
        )
    _check_own(dataset, inputs, f"leave {inputs.path} out")
    return inputs


def _check_own(dataset, inputs, hint):
    own = dataset.inputs
    if own and (own.values, own.objects) != (inputs.values, inputs.objects):
        raise UserError(f"{dataset.path} holds other inputs than {inputs.path}", hint)


def check_same_inputs(dataset, baseline, inputs):
    """UserError unless `baseline` was measured with the inputs of `dataset`."""
    if dataset.inputs is None and baseline.inputs is None:
        named = [os.path.basename(d.inputs_name or "") for d in (dataset, baseline)]
        if all(named) and named[0] != named[1]:
            raise UserError(
                f"{baseline.path} was measured with {named[1]} (line 1), {dataset.path} with {named[0]}",
                "a difference needs two datasets of the same inputs",
            )
    if len(baseline) != len(dataset):
        raise UserError(
            f"{baseline.path} has {len(baseline)} points, {dataset.path} has {len(dataset)}",
            "a difference needs two datasets of the same inputs",
        )
    _check_own(baseline, inputs, "a difference needs two datasets of the same inputs")


def write_dataset(path, dataset):
    """Writes the times of `dataset` as run-benchmark.sh does; the file appears when whole."""
    rows = "".join(f"{row[0]:.0f}\t{row[1]:.0f}\n" for row in zip(dataset.schedule, dataset.total))
    files.write(path, f"# {dataset.label}\n#\n# {' '.join(TIMES)}\n{rows}")


def _read(path, kind, hint):
    """(first header line, the columns that the last header line names, [(line number, fields)])."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise UserError(f"cannot read the {kind} {path}: {error.strerror}", hint) from None
    except UnicodeDecodeError:
        raise UserError(f"the {kind} {path} is not a text file", hint) from None
    header, rows = [], []
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            if rows:
                raise UserError(
                    f"{path}, line {number}: a second header", "two runs were written to one file: measure it again"
                )
            header.append(line[1:].strip())
        elif line.strip():
            rows.append((number, line.split()))
    if not rows:
        raise UserError(f"the {kind} {path} has no points", hint)
    columns = header[-1].split() if len(header) > 1 else None
    return header[0] if header else "", columns or None, rows


def _check_count(path, number, row, columns):
    if len(row) < len(columns):
        raise UserError(
            f"{path}, line {number}: the column {columns[len(row)]} is missing: '{' '.join(row)}'",
            f"a line has {' and '.join(columns)}",
        )
    if len(row) > len(columns):
        raise UserError(
            f"{path}, line {number}: {len(row)} columns in place of {len(columns)}",
            f"a line has {' and '.join(columns)}",
        )


def _whole(text):
    return re.fullmatch(r"\d{1,15}", text, re.ASCII) is not None


def _nanoseconds(path, number, text):
    if not re.fullmatch(r"\d{1,18}(\.\d*)?", text, re.ASCII):
        raise UserError(
            f"{path}, line {number}: '{text}' is not a time in nanoseconds", "the file is damaged: measure it again"
        )
    return float(text)
