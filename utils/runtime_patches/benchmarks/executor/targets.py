"""The samples of rows, and the targets that they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

from ...base.schema import Cell
from ...base.text import number
from ...results.verdicts import quantile

COLUMNS = ("off", "on")
FLOOR, GO = "floor", "Go"
# A run beside other work: no row may be slower than this.
BUSY_MOST = 1.1
# How many of 20 starts a figure has to hold in.
USUAL, NEARLY_ALL = 0.5, 0.95
_UNITS = dict.fromkeys(("wall", "cpu", "beside", "schedule", "p50", "p99"), "ns") | {"rss": "MB", "others": "%"}


@dataclass(frozen=True)
class Target:
    """A figure of a row with the pool, and the most that it may be of something else. against: "off",
    "floor FIGURE" or "Go FIGURE"; empty for the figure itself; share: of the starts."""

    row: str
    figure: str
    most: float
    against: str = "off"
    share: float = USUAL


def _each(rows: str, figures: str, most: float, against: str = "off") -> list[Target]:
    """A Target for each of the figures of each row."""
    return [Target(row, figure, most, against) for row in rows.split() for figure in figures.split()]


TARGETS = [
    Target("main-hop", "wall", 12, f"{FLOOR} line", NEARLY_ALL),
    Target("main-hop", "wall", 0.1, share=NEARLY_ALL),
    Target("main-hop", "futex", 0.01, ""),
    Target("foreign-resume", "p50", 12, f"{FLOOR} line"),
    Target("foreign-add", "cpu", 1.05),
    Target("main-jobs", "wall", 1.05),
    Target("task", "wall", 1.0, f"{GO} spawn.wall"),
    Target("task", "cpu", 0.45),
    Target("task", "futex", 0.01, ""),
    Target("task-main", "wall", 0.25, share=NEARLY_ALL),
    Target("async-let-main", "wall", 0.1),
    Target("async-let", "wall", 0.8, f"{GO} pair.wall"),
    Target("group-child", "cpu", 0.5),
    *_each("group-short actor-calls", "wall cpu", 1.05),
    Target("group-long", "wall", 1.05),
    *_each("fan-out-1 fan-out-2", "p50 cpu", 1.05),
    Target("skynet", "wall", 2.5, f"{GO} skynet.wall"),
    Target("skynet", "rss", 0.2),
    Target("stream", "futex", 0.01, ""),
    Target("mix-1", "wall", 1.02),
    Target("mix-1", "cpu", 1.0),
    Target("mix-8", "wall", 1.02),
    Target("mix-8", "cpu", 1.0),
    *_each("mix-serial-1 mix-serial-8", "wall", 1.02),
    Target("block-behind", "p50", 0.5e6, ""),
    *_each("stream-3 stream-8 stream-3-work stream-3-long blocks-2 blocks-8 yield-2", "wall cpu", 1.05),
    *_each("resumed-2 resumed-7", "wall cpu", 1.0),
    *_each("deinit-end-1 deinit-suspend-1", "wall", 0.1),
    Target("deinit-suspend-100", "wall", 0.2),
    Target("deinit-suspend-100", "futex", 0.001, ""),
    *(
        Target(f"deinit-{who}-{batch}", "wall", 1.0 if batch == 100 else 1.05)
        for who in ("job", "thread")
        for batch in (1, 100, 5000, 1_000_000)
    ),
    *_each("timer-1 timer-5", "p50 cpu", 1.05),
    Target("idle", "cpu", 1.0),
    Target("compute", "others", 1.0, ""),
    Target("beside-pair", "p99", 2.0),
    *_each("background-0.1 background-10", "p50", 50e6, ""),
    *_each("urgent-0.3 urgent-5", "p50 p99", 1.05),
    *_each("block-low block-high block-default", "wall beside", 1.05),
    *_each("block-alone", "wall cpu", 1.05),
    *_each("blocked-1N blocked-2N blocked-4N blocked-child", "p50", 50e6, ""),
    Target("blocked-child-50", "p50", 1e6, ""),
]
# With Dispatch's queues as many blocked jobs of one priority as there are processors wait for ever.
HANGS_WHEN_OFF = ("blocked-1N", "blocked-2N", "blocked-4N")
# These are looked at for futex calls.
WATCHED = tuple(dict.fromkeys(target.row for target in TARGETS if target.figure == "futex"))


def figures(text: str) -> dict[str, float]:
    """{figure: value} of lines NAME<tab>VALUE; those that are no numbers are left out."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition("\t")
        try:
            found[name] = float(value)
        except ValueError:
            continue
    return found


@dataclass
class Samples:
    """values: {(what, figure): [value of a process start]}; what: (row, column), "floor" or "Go"."""

    values: dict[tuple[tuple[str, str] | str, str], list[float]] = field(default_factory=dict)

    def add(self, what: tuple[str, str] | str, found: dict[str, float], prefix: str = "") -> None:
        for name, value in found.items():
            self.values.setdefault((what, prefix + name), []).append(value)

    def get(self, what: tuple[str, str] | str, figure: str) -> list[float]:
        return self.values.get((what, figure), [])

    def median(self, what: str | tuple[str, str], figure: str) -> float | None:
        """The median of one figure, as targets have it; None if it has no values."""
        values = self.get(what, figure)
        return quantile(values, USUAL) if values else None


@dataclass(frozen=True)
class Judged:
    """A Target, and what was measured: value is the figure in that share of the starts, reference what it is compared
    with, None if that was not measured."""

    target: Target
    reference: Optional[float]
    value: float

    @property
    def ratio(self) -> float | None:
        """What the target limits; None if it is not known."""
        if not self.target.against:
            return self.value
        return self.value / self.reference if self.reference else None

    @property
    def is_met(self) -> bool | None:
        """None if it is not known."""
        return None if self.ratio is None else self.ratio <= self.target.most


def judge(samples: Samples, targets: Sequence[Target] = tuple(TARGETS)) -> list[Judged]:
    """[Judged] of the targets whose rows were measured."""
    return [
        Judged(target, _reference(samples, target), quantile(values, target.share))
        for target in targets
        if (values := samples.get((target.row, "on"), target.figure))
    ]


def _reference(samples: Samples, target: Target) -> float | None:
    program, _, figure = target.against.partition(" ")
    return samples.median(program, figure) if figure else samples.median((target.row, program), target.figure)


def busy_targets(samples: Samples) -> tuple[Target, ...]:
    """The targets of a run beside other work: every figure of time that both columns have."""
    return tuple(
        Target(what[0], figure, BUSY_MOST)
        for what, figure in samples.values
        if isinstance(what, tuple) and what[1] == "on" and figure in ("wall", "cpu", "p50")
    )


def target_lines(judged: list[Judged]) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) of the table of targets."""
    lines = [
        [
            one.target.row,
            one.target.figure,
            one.target.against,
            *map(number, (one.reference, one.value, one.ratio, one.target.most)),
            "19 of 20" if one.target.share == NEARLY_ALL else "median",
            {True: "yes", False: "NO", None: "not measured"}[one.is_met],
        ]
        for one in judged
    ]
    return ["row", "figure", "against", "there", "here", "ratio", "at most", "of the starts", "met"], lines


def distribution_lines(samples: Samples) -> tuple[list[str], list[list[Cell]]]:
    """(columns, rows): every figure of every row, and how it is spread over the starts of processes."""
    lines: list[list[Cell]] = []
    for (what, figure), values in samples.values.items():
        name, column = what if isinstance(what, tuple) else (what, "")
        unit = _UNITS.get(figure.rpartition(".")[2], "ns" if what == FLOOR else "")
        spread = [number(quantile(values, share)) for share in (0.05, 0.5, 0.95, 1)]
        lines.append([name, figure, column, unit, len(values), *spread])
    return ["row", "figure", "pool", "unit", "starts", "5 %", "median", "95 %", "most"], lines
