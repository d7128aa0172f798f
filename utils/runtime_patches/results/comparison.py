"""results.json of run-smoke-bench: what a comparison measured, where, and what it concluded."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Optional

from ..base import files, schema
from ..base.errors import UserError
from ..base.paths import REPORT
from ..base.schema import Positive
from . import table, verdicts
from .environment import Environment, State
from .verdicts import Verdict

FORMAT = 1
FOLDER = REPORT / "smoke"
_AGAIN = "utils/run-smoke-bench measures again"
SideName = Literal["old", "new"]


@dataclass
class Process:
    """What one process measured: samples in microseconds an iteration, in order; max_rss in bytes."""

    samples: list[float]
    max_rss: float

    @property
    def value(self) -> float:
        """Its one value: the median of the samples without the first."""
        return verdicts.process_value(self.samples)


@dataclass
class Row:
    """A benchmark: {"old", "control" or "new": its processes}."""

    name: str
    columns: dict[str, list[Process]]
    iterations: Optional[float] = None

    def values(self, column: str) -> list[float]:
        return [process.value for process in self.columns[column]]


@dataclass
class Side:
    """One of the two runtimes. libraries: {name: {path, sha256, processes that were seen with it}}; variables: of its
    processes; loads: libraries that its processes load besides those that all do."""

    name: str
    folder: str = ""
    library_path: str = ""
    made: dict[str, Any] = field(default_factory=dict)
    libraries: dict[str, dict[str, Any]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    loads: list[str] = field(default_factory=list)


@dataclass
class Sides:
    old: Side
    new: Side


@dataclass
class Method:
    rounds: Positive
    level: float
    factor: float
    seed: Optional[float] = None
    variables: dict[str, str] = field(default_factory=dict)


@dataclass
class OneSided:
    """A row that one side lacks: the values on the other one."""

    name: str
    side: SideName
    values: list[Positive]
    max_rss: float


@dataclass
class Failure:
    name: str
    side: SideName
    reason: str


@dataclass
class Comparison:
    """What run-smoke-bench has measured of two runtimes. rows: the samples; verdicts: one for each row; one_sided: rows
    that only one of them has; failed: those that did not run; started: UTC; seconds: that it took."""

    sides: Sides
    method: Method
    environment: Environment
    rows: list[Row]
    verdicts: list[Verdict]
    one_sided: list[OneSided]
    failed: list[Failure]
    format: int = FORMAT
    started: Optional[str] = None
    seconds: Optional[float] = None
    state: Optional[State] = None
    binary: dict[str, Any] = field(default_factory=dict)
    toolchain: Optional[str] = None
    pins: dict[str, Any] = field(default_factory=dict)
    repository: dict[str, Any] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    @cached_property
    def row_of(self) -> dict[str, Row]:
        return {row.name: row for row in self.rows}

    @property
    def names(self) -> tuple[str, str]:
        return self.sides.old.name, self.sides.new.name

    @property
    def status(self) -> int:
        """The exit status: 0 nothing slower, 2 something slower, 1 something did not run."""
        if self.failed:
            return 1
        return 2 if any(row.verdict == "slower" for row in self.verdicts) else 0

    def compact(self) -> Comparison:
        """The same with one value a process, and without what only the machine can use: what is kept in
        benchmark/results."""
        rows = []
        for row in self.rows:
            columns = {
                column: [Process([float(f"{one.value:.5g}")], one.max_rss) for one in processes]
                for column, processes in row.columns.items()
            }
            rows.append(dataclasses.replace(row, columns=columns))
        sides = Sides(*(Side(side.name) for side in (self.sides.old, self.sides.new)))
        left_out: dict[str, Any] = {"binary": {}, "toolchain": None, "pins": {}, "modules": [], "repository": {}}
        return dataclasses.replace(self, rows=rows, sides=sides, **left_out)

    def write(self, folder: Path) -> None:
        """Writes results.json, the tables, and the samples as upstream's scripts read them."""
        texts = {
            "report.md": table.markdown(self),
            "report.txt": table.text(self),
            "old.json": upstream_lines(self, ["old", "control"]),
            "new.json": upstream_lines(self, ["new"]),
            "results.json": schema.dump(self),
        }
        files.write_all(folder, texts)


def conclude(rows: Iterable[Row], failed: Iterable[Failure]) -> tuple[list[Verdict], list[OneSided]]:
    """(verdicts, one-sided rows) of measured Rows; those of the Failures `failed` are left out."""
    gone = {row.name for row in failed}
    compared, single = {}, []
    for row in sorted(rows, key=lambda row: natural(row.name)):
        if row.name in gone:
            continue
        if {"old", "new"} <= set(row.columns):
            compared[row.name] = {column: row.values(column) for column in row.columns}
        else:
            side: SideName = "new" if "new" in row.columns else "old"
            single.append(OneSided(row.name, side, row.values(side), min(p.max_rss for p in row.columns[side])))
    return verdicts.judge(compared), single


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts `Task.8` before `Task.64`."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.lower()) for part in re.split(r"(\d+)", name)]


def load(path: Path) -> Comparison:
    """The Comparison in a file; UserError if it does not hold any."""
    if path.is_dir():
        raise UserError(f"{path} is a folder", f"give {path}/results.json")
    return check(path, files.parse(files.read_text(path, "utils/run-smoke-bench makes it"), path, _AGAIN))


def check(path: Path, data: object, hint: str = _AGAIN) -> Comparison:
    """The Comparison in `data`, which the file `path` held; UserError if it is none, or damaged."""
    if not isinstance(data, dict) or "verdicts" not in data:
        raise UserError(f"{path} is not a result of run-smoke-bench", hint)
    if data.get("format") != FORMAT:
        raise UserError(f"{path} has format {data.get('format')}, this version reads {FORMAT}", hint)
    found = schema.checked(Comparison, data, path, hint)
    missing = [
        f"{column} of {verdict.name}"
        for verdict in found.verdicts
        for column in verdicts.COLUMNS
        if not _has_samples(found.row_of.get(verdict.name), column)
    ]
    missing += [f"the values of {row.name}" for row in found.one_sided if not row.values]
    if missing:
        raise UserError(f"{path} is damaged: {missing[0]} is missing or wrong", hint)
    return found


def _has_samples(row: Row | None, column: str) -> bool:
    return row is not None and bool(row.columns.get(column)) and all(one.samples for one in row.columns[column])


def upstream_lines(comparison: Comparison, columns: Sequence[str]) -> str:
    """The samples of some columns as the driver's --json output, which upstream's compare_perf_tests.py
    reads: one sample a process."""
    lines = []
    for number, row in enumerate(comparison.rows, 1):
        samples = [process.value for column in columns for process in row.columns.get(column, [])]
        if samples:
            line = {"number": number, "name": row.name, "samples": sorted(samples), "iters": row.iterations}
            lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"
