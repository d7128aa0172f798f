"""Measures the rows of the server benchmark, and makes their tables."""

from __future__ import annotations

import os
import shutil
import statistics
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...base.errors import UserError
from ...base.paths import BUILD
from ...base.process import terminable
from ...base.progress import note
from ...base.text import number
from ...results import outcome, verdicts
from ...results.outcome import Outcome
from ...workspace.find import Workspace
from ..harness import measuring
from . import programs, requests
from .programs import Place
from .rows import ServerRow

_MEASURES = {"nio": requests.nio, "inside": requests.inside, "http": requests.http, "echo": requests.http}


@contextmanager
def place(ws: Workspace) -> Iterator[programs.Place]:
    scratch = BUILD / "clients" / "scratch" / f"server-{os.getpid()}"
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        with terminable(), measuring.alone():
            yield programs.Place(ws, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def take(
    ws: Workspace, there: Place, options: Namespace, chosen: Sequence[ServerRow]
) -> tuple[dict[str, requests.Columns], list[UserError]]:
    """({row: its samples}, [UserError]) of the rows `chosen`: one that fails does not end the others. options: .sides,
    .rounds, .seconds, .rates and .port."""
    built = {kind: programs.nio(ws) if kind == "nio" else programs.server(ws) for kind in {row.kind for row in chosen}}
    if built.keys() & {"http", "echo"}:
        programs.load(ws)
    taken: dict[str, requests.Columns] = {}
    failed: list[UserError] = []
    for row in chosen:
        try:
            taken[row.name] = _MEASURES[row.kind](options, row, there, built[row.kind])
        except UserError as error:
            note(f"error: {error.message}")
            failed.append(error)
    return taken, failed


def median(samples: Iterable[Mapping[str, Any]], what: str) -> float | None:
    """The median of one measure over samples; None where none has it."""
    values = [sample[what] for sample in samples if sample.get(what) is not None]
    return statistics.median(values) if values else None


class Compared(NamedTuple):
    """One measure: old is what both of its columns say; ratio: new/old; again: control/old - 1."""

    old: float
    new: float
    ratio: float
    again: float | None


def ratios(columns: requests.Columns, what: str) -> Compared | None:
    """The medians of a measure, compared; None if a side has none."""
    old = median(columns["old"] + columns["control"], what)
    one, again, new = (median(columns[column], what) for column in verdicts.COLUMNS)
    if not old or new is None:
        return None
    return Compared(old, new, new / old, again / one - 1 if one and again is not None else None)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:+.1f} %"


def _verdicts(options: Namespace, taken: Mapping[str, requests.Columns]) -> dict[str, str]:
    """{row: "faster", "slower" or "same"}: by its time, if there are enough rounds."""
    if options.rounds < verdicts.FEWEST:
        return {}
    times = {
        name: {column: [1 / sample["rate"] for sample in samples] for column, samples in columns.items()}
        for name, columns in taken.items()
    }
    return {verdict.name: verdict.verdict for verdict in verdicts.judge(times)}


def tables(
    options: Namespace, taken: Mapping[str, requests.Columns]
) -> list[tuple[str, list[str], list[list[str | None]]]]:
    """[(title, columns, rows)] of the tables that have rows."""
    speed: list[list[str | None]] = []
    cpu: list[list[str | None]] = []
    system: list[list[str | None]] = []
    late: list[list[str | None]] = []
    judged = _verdicts(options, taken)
    for name, columns in taken.items():
        if rate := ratios(columns, "rate"):
            cells = [number(rate.old), number(rate.new), f"{rate.ratio:.2f}", _percent(rate.again)]
            speed.append([name, *cells, judged.get(name)])
        if time := ratios(columns, "cpu"):
            cpu.append([name, number(time.old), number(time.new), f"{time.ratio:.2f}", _percent(time.again)])
            sides = columns["old"] + columns["control"], columns["new"]
            switches, rss = ([number(median(side, what)) for side in sides] for what in ("switches", "rss"))
            futexes = [number(median(columns[column], "futexes")) for column in ("old", "new")]
            system.append([name, *switches, *futexes, *rss])
        for load in columns["old"][0]["latencies"]:
            found = {column: list(zip(*(one["latencies"][load] for one in columns[column]))) for column in columns}
            places = [(place, column) for place in range(len(requests.QUANTILES)) for column in verdicts.COLUMNS]
            times = [number(statistics.median(found[column][place])) for place, column in places]
            unanswered = [str(sum(found[column][-1])) for column in ("old", "new")]
            late.append([name, load, *times, " ".join(unanswered)])
    old, new = map(str, options.sides)
    quantile_columns = [f"p{part * 100:g} {name}" for part in requests.QUANTILES for name in (old, f"{old} again", new)]
    compared = [old, new, f"{new}/{old}", f"{old} again"]
    calls = "Context switches and futex calls an operation, and the largest RSS in MB"
    listed = [
        ("Operations a second", ["operations/s", *compared, "verdict"], speed),
        ("CPU time an operation, us", ["CPU, us", *compared], cpu),
        (calls, ["calls, MB", f"switches {old}", new, f"futexes {old}", new, f"RSS {old}", new], system),
        ("Latency at a fixed rate, us", ["latency, us", "requests/s", *quantile_columns, "late at the end"], late),
    ]
    return [table for table in listed if table[2]]


def report(options: Namespace, taken: Mapping[str, requests.Columns], failed: list[UserError]) -> Outcome:
    """The Outcome of {row: its columns}; failed: the errors of rows that were not measured."""
    name, title = "server", "What a server gains"
    if options.pool:
        name, title = "server-pool", "What a server gains by the pool of workers"
    # A result of its own: it takes ten times as long as the rest, and is measured less often.
    elif all(row.startswith("nio-") for row in taken):
        name, title = "nio", "What swift-nio's own benchmark gains"
    result = outcome.begin(name, title, "benchmark/server/run-benchmark")
    for title, columns, lines in tables(options, taken):
        result.table(title, columns, lines)
    again = {name: found for name, columns in taken.items() if (found := ratios(columns, "rate"))}
    dots = {name: (one.ratio, 1 + (one.again or 0)) for name, one in again.items()}
    result.add_dots("Operations a second", "new/old", ["new", "old again"], dots, 1.0)
    old, new = options.sides
    result.notes = [
        f"Medians of {options.rounds} new processes a column, {old}, {old} again and {new} in turn; "
        f"{programs.CONNECTIONS} connections, loads of {options.seconds:g} s.",
        "At a fixed rate a request's time begins when it is due, whether a connection is free or not. 'late "
        "at the end': requests that had no answer then, with the time that they had waited.",
        "old again against old, operations a second: median "
        f"{statistics.median(abs(one.again or 0) for one in again.values()) * 100:.1f} %",
    ]
    result.notes += [f"not measured: {error.message}" for error in failed]
    shown = [name for name in ("plain", "all", "all-10", "all-100") if name in taken]
    told = [f"{name} {cpu.ratio:.2f}" for name in shown if (cpu := ratios(taken[name], "cpu"))]
    if told:
        result.summary.append(f"A server's CPU time a request, {new}/{old}: {', '.join(told)}.")
    return result
