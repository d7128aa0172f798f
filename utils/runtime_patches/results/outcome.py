"""What a harness has measured, in the form that the page and the READMEs are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from ..base import files, schema
from ..base.schema import Cell
from . import environment
from .environment import Environment, State

FORMAT = 1


@dataclass
class Table:
    """rows: cells, as many as there are columns."""

    title: str
    columns: list[str]
    rows: list[list[Cell]]

    def __post_init__(self) -> None:
        if not self.columns or any(len(row) != len(self.columns) for row in self.rows):
            raise schema.Mismatch(f"the rows of {self.title}")

    def text(self, left: int = 1) -> str:
        """For the screen; all but the first `left` columns to the right."""
        lines: list[list[str]] = [self.columns, *[[cell(one) for one in row] for row in self.rows]]
        columns = []
        for place, column in enumerate(zip(*lines)):
            width = max(map(len, column))
            columns.append([word.ljust(width) if place < left else word.rjust(width) for word in column])
        return "\n".join("  ".join(line).rstrip() for line in zip(*columns))

    def markdown(self, left: int = 1) -> str:
        aligned = ["---"] * left + ["--:"] * (len(self.columns) - left)
        lines: list[list[Any]] = [self.columns, aligned, *self.rows]
        return "\n".join("| " + " | ".join(cell(one).replace("|", "\\|") for one in line) + " |" for line in lines)


def cell(value: object) -> str:
    return "–" if value is None else str(value)


@dataclass
class Dots:
    """A mark for each of `series` in each row; a line where `reference` is."""

    title: str
    x: str
    series: list[str]
    rows: list[tuple[str, list[Optional[float]]]]
    reference: Optional[float] = None

    def __post_init__(self) -> None:
        if any(len(values) != len(self.series) for _, values in self.rows):
            raise schema.Mismatch(f"the dots of {self.title}")


@dataclass
class Points:
    """One series of a plot: points, and a line where it is not through them."""

    name: str
    points: list[tuple[float, float]]
    line: Optional[list[tuple[float, float]]] = None


@dataclass
class Curve:
    """A plot; chapter: what it belongs to, on the page."""

    title: str
    x: str
    y: str
    series: list[Points]
    log_x: bool = False
    log_y: bool = False
    chapter: Optional[str] = None
    clip: Optional[float] = None


@dataclass
class Outcome:
    """The results of one run of a harness. name: of its folder below benchmark/; command: what the user
    typed; summary: the few sentences for the head of the page."""

    name: schema.FileName
    title: str
    command: Optional[str] = None
    format: int = FORMAT
    started: Optional[str] = None
    environment: Environment = field(default_factory=Environment)
    state: Optional[State] = None
    summary: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dots: list[Dots] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    kind: str = "harness"

    def table(self, title: str, columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> Table:
        self.tables.append(Table(title, list(columns), [list(row) for row in rows]))
        return self.tables[-1]

    def add_dots(
        self, title: str, x: str, series: Iterable[str], rows: Mapping[str, Iterable[float | None]], reference: float
    ) -> None:
        """rows: {name: a number or None for each of `series`}."""
        lines = [(name, list(values)) for name, values in rows.items()]
        self.dots.append(Dots(title, x, list(series), lines, reference))

    def curve(
        self, title: str, x: str, y: str, series: Mapping[str, Sequence[tuple[float, float | None]]], **options: Any
    ) -> None:
        """series: {name: [(x, y)]}; points without a y are left out."""
        lines = [
            Points(name, [(at, value) for at, value in points if value is not None]) for name, points in series.items()
        ]
        self.curves.append(Curve(title, x, y, lines, **options))

    def markdown(self) -> str:
        return "\n\n".join([f"# {self.title}", *(table.markdown() for table in self.tables), *self.notes]) + "\n"

    def compact(self) -> Outcome:
        """The same with few points in each plot: what is kept in benchmark/results."""

        def thin(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
            step = -(-len(points) // 100) or 1
            return [(float(f"{at:.4g}"), float(f"{value:.4g}")) for at, value in points[::step]]

        def thinned(one: Points) -> Points:
            return replace(one, points=thin(one.points), line=one.line and thin(one.line))

        return replace(self, curves=[replace(one, series=list(map(thinned, one.series))) for one in self.curves])

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        files.write_all(folder, {"report.md": self.markdown(), "results.json": schema.dump(self)})


def begin(name: str, title: str, command: str = "") -> Outcome:
    """command: if it is not that of the harness `name`."""
    made = Outcome(name, title, command or f"benchmark/{name}/run-benchmark", started=environment.now())
    made.environment, made.state = environment.here(), environment.state()
    return made
