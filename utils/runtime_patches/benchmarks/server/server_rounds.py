"""Measures the rows of the server benchmark, and makes their tables."""

from __future__ import annotations

import os
import shutil
import statistics
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...base.errors import UserError
from ...base.paths import BUILD
from ...base.process import terminable
from ...base.progress import note
from ...base.text import number
from ...results import outcome, verdicts
from ...results.outcome import Outcome
from ...results.verdicts import Verdict
from ...workspace.find import Workspace
from ..harness import measuring
from . import programs, requests
from .programs import Place
from .rows import ServerRow


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
            taken[row.name] = requests.measure(options, row, there, built[row.kind])
        except UserError as error:
            note(f"error: {error.message}")
            failed.append(error)
    return taken, failed


def median(samples: Iterable[Mapping[str, Any]], what: str) -> float | None:
    """The median of one measure over samples; None where none has it."""
    values = [sample[what] for sample in samples if sample.get(what) is not None]
    return statistics.median(values) if values else None


def judged(taken: Mapping[str, requests.Columns], measure: Callable[[requests.Sample], Any]) -> dict[str, Verdict]:
    """{row: its Verdict} by a measure of each sample; a row of which one has none is left out."""
    values = {
        name: {column: [measure(sample) for sample in samples] for column, samples in columns.items()}
        for name, columns in taken.items()
    }
    known = {name: columns for name, columns in values.items() if all(map(all, columns.values()))}
    return {verdict.name: verdict for verdict in verdicts.judge(known)}


def _compared(one: Verdict) -> list[str]:
    """Cells: both sides, new/old, and by how much old differs from itself."""
    return [number(one.old), number(one.new), f"{one.ratio:.2f}", f"{one.noise * 100:+.1f} %"]


def tables(
    options: Namespace, taken: Mapping[str, requests.Columns]
) -> list[tuple[str, list[str], list[list[str | None]]]]:
    """[(title, columns, rows)] of the tables that have rows."""
    speed: list[list[str | None]] = []
    cpu: list[list[str | None]] = []
    system: list[list[str | None]] = []
    late: list[list[str | None]] = []
    rates = judged(taken, lambda sample: sample["rate"])
    used = judged(taken, lambda sample: sample.get("cpu"))
    enough = options.rounds >= verdicts.FEWEST
    times = judged(taken, lambda sample: 1 / sample["rate"]) if enough else {}
    for name, columns in taken.items():
        if name in rates:
            speed.append([name, *_compared(rates[name]), times[name].verdict if times else None])
        if name in used:
            cpu.append([name, *_compared(used[name])])
            sides = columns["old"] + columns["control"], columns["new"]
            switches, rss = ([number(median(side, what)) for side in sides] for what in ("switches", "rss"))
            futexes = [number(median(columns[column], "futexes")) for column in ("old", "new")]
            system.append([name, *switches, *futexes, *rss])
        for load in columns["old"][0]["latencies"]:
            found = {column: list(zip(*(one["latencies"][load] for one in columns[column]))) for column in columns}
            places = [(place, column) for place in range(len(requests.QUANTILES)) for column in verdicts.COLUMNS]
            medians = [number(statistics.median(found[column][place])) for place, column in places]
            unanswered = [str(sum(found[column][-1])) for column in ("old", "new")]
            late.append([name, load, *medians, " ".join(unanswered)])
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
    rates = judged(taken, lambda sample: sample["rate"])
    used = judged(taken, lambda sample: sample.get("cpu"))
    dots = {name: (one.ratio, 1 + one.noise) for name, one in rates.items()}
    result.add_dots("Operations a second", "new/old", ["new", "old again"], dots, 1.0)
    old, new = options.sides
    result.notes = [
        f"Medians of {options.rounds} new processes a column, {old}, {old} again and {new} in turn; "
        f"{programs.CONNECTIONS} connections, loads of {options.seconds:g} s.",
        "At a fixed rate a request's time begins when it is due, whether a connection is free or not. 'late "
        "at the end': requests that had no answer then, with the time that they had waited.",
        "old again against old, operations a second: median "
        f"{statistics.median(abs(one.noise) for one in rates.values()) * 100:.1f} %",
    ]
    result.notes += [f"not measured: {error.message}" for error in failed]
    shown = [name for name in ("plain", "all", "all-10", "all-100") if name in used]
    told = [f"{name} {used[name].ratio:.2f}" for name in shown]
    if told:
        result.summary.append(f"A server's CPU time a request, {new}/{old}: {', '.join(told)}.")
    return result
