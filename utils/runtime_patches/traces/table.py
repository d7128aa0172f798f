"""A summary on one screen."""

from collections.abc import Sequence

from ..base.text import plural
from ..results.outcome import Table
from .events import Trace
from .lives import JOBS
from .summary import Summary

_BARS = " ▁▂▃▄▅▆▇█"
_WIDE = 44


def text(trace: Trace, summary: Summary, functions: dict[int, str], types: dict[int, str], rows: int) -> str:
    """rows: of a table, at most."""
    counts = summary.counts
    lines = [f"note: {note}" for note in trace.notes]
    head = f"{trace.program or 'a program'} (process {trace.process}), {summary.seconds:.6g} s, "
    head += f"{plural(summary.events, 'event')}, {plural(summary.tasks, 'task')}, "
    lines += [head + plural(len(trace.threads), "thread"), _lost(trace), ""]
    found = []
    for row in summary.rows:
        tasks = None if row.function == JOBS else row.tasks
        times = [*_times(row.waits), *_times(row.runs), _time(row.total)]
        found.append([_short(functions[row.function]), tasks, row.count, *times, row.hops])
    columns = ["tasks that began in", "tasks", "runs", "wait p50", "p99", "max", "run p50", "p99", "max", "all", "hops"]
    total = ["all tasks", summary.tasks, summary.count, *_times(summary.waits), *_times(summary.runs)]
    total += [_time(summary.total), counts["task_switch"]]
    lines += _table(columns, [total, *found], rows + 1)
    busiest = [
        [_short(f"{types.get(one.type, 'actor')} {one.address:#x}"), one.longest, one.jobs, *_times(one.waits)]
        for one in summary.actors
    ]
    lines += _table(["actors", "longest queue", "jobs", "wait p50", "p99", "max"], busiest, rows // 2)
    used = [
        [f"{one.number} {one.name}", one.runs, f"{sum(one.use) / len(one.use):.0%}", "".join(map(_bar, one.use))]
        for one in summary.threads
    ]
    lines += _table(["threads", "runs", "busy", "over the time of the trace"], used, rows)
    waiting = [[_short(functions[one.function]), one.tasks, _time(one.longest), one.reason] for one in summary.stranded]
    lines += _table(["suspended at the end", "tasks", "longest", "waits for"], waiting, rows // 2)
    hops = "/".join(f"{n:.0f}" for n in summary.hops) if summary.hops else "–"
    lines += [
        f"hops of a task (p50/p99/max): {hops}; cancelled: {counts['task_cancel']}; "
        f"sleeps: {counts['sleep_begin']}; wake-ups: {counts['pool_wake']} of workers, {counts['pool_park']} parked, "
        f"{counts['pool_steal']} steals, {counts['pool_stand_in']} stand-ins"
    ]
    return "\n".join(lines)


def _lost(trace: Trace) -> str:
    lost = ", ".join(f"{count:,} of thread {trace.threads[i][0]}" for i, count in sorted(trace.lost.items()) if i >= 0)
    if more := trace.lost.get(-1):
        lost += f"{', ' if lost else ''}{more:,} of unknown threads"
    over = ""
    if trace.overwritten:
        over = f"; {trace.overwritten:,} older ones were overwritten: complete from {trace.complete / 1e9:.6g} s on"
    return f"lost events: {lost or 'none'}{over}"


def _table(columns: list[str], rows: list[list[object]], most: int) -> list[str]:
    if not rows:
        return []
    text = Table("", columns, [[cell if cell is None else str(cell) for cell in row] for row in rows[:most]]).text()
    return [text, *([f"… and {len(rows) - most} more (--rows)"] if len(rows) > most else []), ""]


def _times(values: Sequence[float]) -> list[object]:
    return [_time(value) for value in values] or [None] * 3


def _time(nanoseconds: float) -> str:
    """With three digits, or those of the seconds. What would be rounded to 1,000 of a unit is 1 of the next one."""
    if nanoseconds >= 999.5e9:
        return f"{nanoseconds / 1e9:.0f} s"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= 0.9995 * size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def _short(text: str) -> str:
    """With its end, which tells closures apart from others."""
    return text if len(text) <= _WIDE else f"{text[:14]}…{text[15 - _WIDE :]}"


def _bar(share: float) -> str:
    return _BARS[min(8, max(0, int(share * 8 + (0.999 if share > 0.005 else 0))))]
