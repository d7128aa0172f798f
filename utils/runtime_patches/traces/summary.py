"""What people look for first in a trace, as numbers: queue waits, runs, actors, threads, hops, stranded tasks."""

from dataclasses import dataclass

import numpy as np

from . import lives as pairs
from .events import JOB, Array, Kind, Trace
from .lives import Lives

BUCKETS = 40


@dataclass
class Row:
    """A function in which tasks began. Times are nanoseconds; waits, runs: (p50, p99, max); hops: onto actors."""

    function: int
    tasks: int
    count: int
    waits: tuple[float, ...]
    runs: tuple[float, ...]
    total: int
    hops: int


@dataclass
class Actor:
    address: int
    type: int
    longest: int
    jobs: int
    waits: tuple[float, ...]


@dataclass
class Thread:
    """use: of each part of the time, from 0 to 1."""

    number: int
    name: str
    runs: int
    use: list[float]


@dataclass
class Stranded:
    """Tasks that were suspended at the end: how many of a function, what they wait for, since when (nanoseconds)."""

    function: int
    reason: str
    tasks: int
    longest: int


@dataclass
class Summary:
    """tasks: that have an event; count, total: of their runs; counts: {kind of event: how many}."""

    events: int
    seconds: float
    tasks: int
    count: int
    total: int
    waits: tuple[float, ...]
    runs: tuple[float, ...]
    hops: tuple[float, ...]
    rows: list[Row]
    actors: list[Actor]
    threads: list[Thread]
    stranded: list[Stranded]
    counts: dict[str, int]


def spread(values: Array) -> tuple[float, ...]:
    """(p50, p99, max); empty if there are no values."""
    if not len(values):
        return ()
    ordered = np.sort(values)
    half, most = (ordered[-(-len(values) * share // 100) - 1] for share in (50, 99))
    return float(half), float(most), float(ordered[-1])


def summarize(trace: Trace, lives: Lives) -> Summary:
    """The figures of a trace: times in ns, but its length in s."""
    time, real = trace.time, (lives.tasks != 0) & (lives.tasks < JOB)
    # A task that was enqueued with a delay waits for its time, and not in a queue.
    queued = np.flatnonzero(lives.enqueue >= 0)
    queued = queued[trace.kind[lives.enqueue[queued]] != Kind.ENQUEUE_DELAYED]
    waits = np.maximum(0, time[lives.begin[queued]] - time[lives.enqueue[queued]])
    ended = np.flatnonzero(lives.end >= 0)
    runs = time[lives.end[ended]] - time[lives.begin[ended]]
    of_task = real[lives.task[ended]]
    counted = np.bincount(trace.kind, minlength=256)
    return Summary(
        len(time),
        trace.end / 1e9,
        int(real.sum()),
        int(real[lives.task].sum()),
        int(runs[of_task].sum()),
        spread(waits[real[lives.task[queued]]]),
        spread(runs[of_task]),
        spread(lives.hops[real & (lives.created >= 0)]),
        _rows(lives, queued, waits, ended, runs),
        _actors(trace, lives, queued, waits),
        _threads(trace, lives),
        _stranded(trace, lives, real),
        {kind.name.lower(): int(counted[kind]) for kind in Kind},
    )


def _rows(lives: Lives, queued: Array, waits: Array, ended: Array, runs: Array) -> list[Row]:
    """A Row for each function in which tasks began, those with the most time first."""
    functions, which = np.unique(lives.function, return_inverse=True)
    of_run, length = which[lives.task], len(functions)
    total, waited = np.bincount(of_run[ended], runs, length), np.bincount(of_run[queued], waits, length)
    # Events of no task have number 0.
    tasks, count = np.bincount(which, lives.tasks != 0, length), np.bincount(of_run, minlength=length)
    hops = np.bincount(which, lives.hops, length)
    wait_groups, run_groups = _groups(of_run[queued], waits), _groups(of_run[ended], runs)
    return [
        Row(
            int(functions[i]),
            int(tasks[i]),
            int(count[i]),
            spread(wait_groups.get(i, ())),
            spread(run_groups.get(i, ())),
            int(total[i]),
            int(hops[i]),
        )
        for i in np.argsort(-(total + waited), kind="stable").tolist()
        if count[i]
    ]


def _groups(keys: Array, values: Array) -> dict[int, Array]:
    order = np.argsort(keys, kind="stable")
    found, starts = np.unique(keys[order], return_index=True)
    return dict(zip(found.tolist(), np.split(values[order], starts[1:]))) if len(found) else {}


def _actors(trace: Trace, lives: Lives, queued: Array, waits: Array) -> list[Actor]:
    """The 20 actors with the longest queues."""
    index, actor, address = pairs.actors(trace)
    longest = np.zeros(len(address), np.int64)
    np.maximum.at(longest, actor, pairs.lengths(trace, index, actor))
    kind, types = trace.kind[index], np.zeros(len(address), np.uint64)
    types[actor[kind == Kind.ACTOR_CREATE]] = trace.more[index[kind == Kind.ACTOR_CREATE]]
    order = np.argsort(index)
    enqueue = lives.enqueue[queued]
    onto = np.flatnonzero(trace.kind[enqueue] == Kind.ACTOR_ENQUEUE) if len(enqueue) else queued
    groups = _groups(actor[order[np.searchsorted(index[order], enqueue[onto])]], waits[onto]) if len(onto) else {}
    jobs = np.bincount(actor[kind == Kind.ACTOR_ENQUEUE], minlength=len(address))
    return [
        Actor(int(address[i]), int(types[i]), int(longest[i]), int(jobs[i]), spread(groups.get(i, ())))
        for i in np.lexsort((-jobs, -longest))[:20].tolist()
        if longest[i]
    ]


def _threads(trace: Trace, lives: Lives) -> list[Thread]:
    """The use of each thread in BUCKETS equal parts of the time of which all is there, the busiest thread first."""
    step = max(1, -(-(trace.end - trace.complete) // BUCKETS))
    begin, thread = trace.time[lives.begin], trace.thread[lives.begin]
    found = []
    for i, (number, name) in enumerate(trace.threads):
        mine = thread == i
        if not mine.any():
            continue
        # What several runs cover that stand in each other counts once.
        starts, ends = begin[mine], np.maximum.accumulate(lives.stop[mine])
        starts[1:] = np.maximum(starts[1:], ends[:-1])
        edges = trace.complete + np.arange(BUCKETS + 1) * step
        used = np.concatenate(([0], np.cumsum(ends - starts)))  # before each run
        place = np.searchsorted(starts, edges, "right")  # runs that have begun at each edge
        before = used[place] - np.where(place > 0, np.maximum(0, ends[place - 1] - edges), 0)
        found.append(Thread(number, name, int(mine.sum()), (np.diff(before) / step).tolist()))
    return sorted(found, key=lambda thread: -sum(thread.use))


def _stranded(trace: Trace, lives: Lives, real: Array) -> list[Stranded]:
    """Tasks that wait at the end of the trace. Where recording ended early, nobody knows."""
    if trace.is_cut:
        return []
    runs = np.zeros(len(lives.tasks), bool)
    runs[lives.task] = lives.end < 0  # the last one of each stays
    alive = np.flatnonzero((lives.destroyed < 0) & (lives.last >= 0) & real & ~runs)
    kinds = trace.kind[lives.last[alive]]
    found = []
    for kind, reason in pairs.WAITS.items():
        these = alive[kinds == kind]
        for function, tasks in _groups(lives.function[these], these).items():
            since = trace.end - int(trace.time[lives.last[tasks]].min())
            found.append(Stranded(function, reason, len(tasks), since))
    # Those come first whose continuation nobody resumes: nothing in the trace says that they will go on.
    return sorted(found, key=lambda one: (one.reason != pairs.WAITS[Kind.CONTINUATION_INIT], -one.longest))
