"""What viewers draw of a trace: tracks, slices, moments with flows between them, and counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import lives as pairs
from .events import ENQUEUES, JOB, Array, Kind, Trace
from .lives import Lives

# Above so many tasks, a viewer should draw those of a function together: their tracks then have the same name.
MANY = 1000
HOPS = 1 << 62  # in the flow of all hops of a task, whose number the rest is


@dataclass
class Track:
    name: str
    parent: int
    thread: Optional[int] = None
    is_counter: bool = False


@dataclass
class Slices:
    """Columns: track, begin, end, name (an index); flow: that ends in each, or 0."""

    track: Array
    begin: Array
    end: Array
    name: Array
    flow: Array


@dataclass
class Moments:
    """Columns: track, time, name (an index); flow: that begins in each, or goes through it, or 0."""

    track: Array
    time: Array
    name: Array
    flow: Array


@dataclass
class Counter:
    """Columns: track, time, value."""

    track: Array
    time: Array
    value: Array


@dataclass
class Timeline:
    """tracks: their index is what the columns have; the first one is the process."""

    tracks: list[Track]
    names: list[str]
    groups: list[Slices | Moments | Counter]


def draw(trace: Trace, lives: Lives, functions: dict[int, str], types: dict[int, str]) -> Timeline:
    """The Timeline of a trace. functions, types: {address: name}."""
    return _Drawing(trace, lives, functions, types).timeline


class _Drawing:
    """Makes a Timeline of a trace: tracks of its threads, tasks, actors and counters, and what is on them."""

    def __init__(self, trace: Trace, lives: Lives, functions: dict[int, str], types: dict[int, str]) -> None:
        self.trace, self.lives = trace, lives
        self.timeline = Timeline([Track(trace.program.rpartition("/")[2], 0)], [], [])
        self.indices: dict[str, int] = {}
        time = trace.time
        begin = time[lives.begin]
        unique, which = np.unique(lives.function, return_inverse=True)
        names = [self.name(functions.get(one, f"{one:#x}")) for one in unique.tolist()]
        self.function = np.array(names, np.int64)[which]
        self.threads = np.array([self.track(Track(name or "thread", 0, tid)) for tid, name in trace.threads], np.int64)
        self.draw_threads(begin, lives.stop)
        self.draw_tasks(begin, lives.stop, trace.end)
        self.draw_actors(lives.stop, types)
        self.draw_counters()

    def track(self, track: Track) -> int:
        self.timeline.tracks.append(track)
        return len(self.timeline.tracks) - 1

    def name(self, text: str) -> int:
        if text not in self.indices:
            self.indices[text] = len(self.timeline.names)
            self.timeline.names.append(text)
        return self.indices[text]

    def add(self, group: Slices | Moments | Counter) -> None:
        self.timeline.groups.append(group)

    def draw_threads(self, begin: Array, end: Array) -> None:
        """Runs, and the moments that cause them: a flow has the number of the enqueue, from 1."""
        trace, lives = self.trace, self.lives
        thread = self.threads[trace.thread]
        self.add(Slices(thread[lives.begin], begin, end, self.function[lives.task], lives.enqueue + 1))
        # What an enqueue is called, by the event of the task before it.
        index = np.flatnonzero(trace.task != 0)
        index = index[np.argsort(trace.task[index], kind="stable")]
        before = np.zeros(len(trace.kind), np.uint8)
        same = trace.task[index[1:]] == trace.task[index[:-1]]
        before[index[1:]] = np.where(same, trace.kind[index[:-1]], 0)
        called = np.full(256, self.name("enqueue"))
        called[[Kind.TASK_CREATE, Kind.GROUP_ADD]] = self.name("create")
        called[[Kind.CONTINUATION_RESUME, Kind.TASK_RESUME, Kind.SLEEP_END]] = self.name("resume")
        called[[Kind.CONTINUATION_AWAIT, Kind.GROUP_NEXT]] = self.name("resume")
        called[Kind.TASK_SWITCH] = self.name("hop to another executor")
        queued = np.flatnonzero(np.isin(trace.kind, ENQUEUES))
        names = called[before[queued]]
        onto_actor = (before[queued] == Kind.TASK_SWITCH) & (trace.kind[queued] == Kind.ACTOR_ENQUEUE)
        names[onto_actor] = self.name("hop to an actor")
        self.add(Moments(thread[queued], trace.time[queued], names, queued + 1))
        # A flow through all hops of a task.
        hop = np.flatnonzero(trace.kind == Kind.TASK_SWITCH)
        chain = (trace.task[hop] | np.uint64(HOPS)).astype(np.int64)
        self.add(Moments(thread[hop], trace.time[hop], np.full(len(hop), self.name("hop")), chain))

    def draw_tasks(self, begin: Array, end: Array, last: int) -> None:
        """Of each task: when it was queued, ran, and was suspended, and for what."""
        trace, lives = self.trace, self.lives
        group = self.track(Track("Tasks", 0))
        real = (lives.tasks != 0) & (lives.tasks < JOB)
        tracks = np.zeros(len(lives.tasks), np.int64)
        names, few = self.timeline.names, real.sum() <= MANY
        for i in np.flatnonzero(real).tolist():
            number = int(lives.tasks[i])
            text = trace.names.get(number) or names[self.function[i]]
            tracks[i] = self.track(Track(f"{text} #{number}" if few else text, group))
        runs = np.flatnonzero(real[lives.task])
        runs = runs[np.argsort(lives.task[runs], kind="stable")]
        task, enqueue = lives.task[runs], lives.enqueue[runs]
        track, none = tracks[task], np.zeros(len(runs), np.int64)
        queued = np.where(enqueue >= 0, trace.time[enqueue], begin[runs]) if len(runs) else none
        queued = np.minimum(queued, begin[runs])
        # A task may be enqueued, and run elsewhere, before the thread that it left has said so.
        final = np.append(task[1:] != task[:-1], True)[: len(task)]
        following = np.where(final, last, np.append(queued[1:], 0)[: len(task)])
        ended = np.minimum(end[runs], following)
        # The last thing in each run that it could wait for, if it was not resumed since.
        over = (Kind.CONTINUATION_RESUME, Kind.TASK_SWITCH)
        waits = np.flatnonzero(np.isin(trace.kind, (*pairs.WAITS, *over)))
        key = np.searchsorted(lives.tasks, trace.task[waits]) * len(trace.kind) + waits
        order = np.argsort(key)
        base = task.astype(np.int64) * len(trace.kind)
        stop = np.where(lives.end[runs] >= 0, lives.end[runs], len(trace.kind) - 1)
        found = np.searchsorted(key[order], base + stop, "right") - 1
        known = found >= 0
        known[known] = key[order[found[known]]] >= (base + lives.begin[runs])[known]
        reasons = np.full(256, self.name("suspended"))
        for kind, reason in pairs.WAITS.items():
            reasons[kind] = self.name(f"waits for {reason}")
        reasons[Kind.TASK_SWITCH] = self.name("waits for another executor")
        why = np.full(len(runs), self.name("suspended"))
        cause = waits[order[found[known]]]
        goes_on = (trace.kind[cause] == Kind.TASK_SWITCH) & (trace.arg[cause] & 1 != 0)
        why[known] = np.where(goes_on, self.name("suspended"), reasons[trace.kind[cause]])
        waiting = (lives.last[task] >= 0) & np.isin(trace.kind[lives.last[task]], list(pairs.WAITS))
        stays = (following > ended) & (~final | waiting)
        stays &= ~final | (lives.destroyed[task] < 0)
        # In the order of time, as what ends and begins at one moment is drawn in the order in which it stands here.
        shown = np.stack((enqueue >= 0, np.ones_like(stays), stays), 1).ravel()
        parts = (
            (track, track, track),
            (queued, begin[runs], ended),
            (begin[runs], ended, following),
            (none + self.name("in a queue"), none + self.name("runs"), why),
            (none, none, none),
        )
        self.add(Slices(*(np.stack(part, 1).ravel()[shown] for part in parts)))

    def draw_actors(self, end: Array, types: dict[int, str]) -> None:
        """What runs on each actor, and the lengths of their queues."""
        trace, lives = self.trace, self.lives
        index, actor, address = pairs.actors(trace)
        group = self.track(Track("Actors", 0))
        created = trace.kind[index] == Kind.ACTOR_CREATE
        kinds = dict(zip(actor[created].tolist(), trace.more[index[created]].tolist()))
        texts = [f"{types.get(kinds.get(i, 0), 'actor')} {int(one):#x}" for i, one in enumerate(address)]
        tracks = np.array([self.track(Track(text, group)) for text in texts], np.int64)
        counters = np.array([self.track(Track("queue", one, None, True)) for one in tracks.tolist()], np.int64)
        self.add(Counter(counters[actor], trace.time[index], pairs.lengths(trace, index, actor)))
        run, event, executor = lives.stays
        # The actor with the last event of this address before the stay; or the first one, if there is none.
        rank = np.searchsorted(np.unique(address), np.append(executor, trace.value[index]))
        key = rank * len(trace.kind) + np.append(event, index)
        known = key[len(event) :]
        place = np.minimum(np.searchsorted(known, key[: len(event)], "right"), len(known)) - 1
        if len(index):
            place = np.where((place >= 0) & (trace.value[index[place]] == executor), place, place + 1)
        there = (executor != 0) & (place < len(index)) & (len(index) > 0)
        there[there] = trace.value[index[place[there]]] == executor[there]
        begin = trace.time[event]
        following = np.append(begin[1:], 0)[: len(run)]
        stop = np.where(np.append(run[1:] == run[:-1], False)[: len(run)], following, end[run])
        track = tracks[actor[place[there]]]
        names = self.function[lives.task[run[there]]]
        self.add(Slices(track, begin[there], stop[there], names, np.zeros(len(track), np.int64)))

    def draw_counters(self) -> None:
        trace, lives = self.trace, self.lives
        created, destroyed = trace.kind == Kind.TASK_CREATE, trace.kind == Kind.TASK_DESTROY
        self.count("live tasks", created, destroyed)
        # The drain of an actor is put there, too, but no run of it is traced.
        queued = np.isin(trace.kind, (Kind.ENQUEUE_GLOBAL, Kind.ENQUEUE_MAIN)) & (trace.task < JOB)
        taken = np.zeros(len(trace.kind), bool)
        taken[lives.begin[(lives.enqueue >= 0) & queued[lives.enqueue]] if len(lives.begin) else lives.begin] = True
        self.count("tasks in the global queue", queued, taken)

    def count(self, name: str, more: Array, fewer: Array) -> None:
        index = np.flatnonzero((more | fewer) & (self.trace.time >= self.trace.complete))
        value = np.cumsum(more[index].astype(np.int64) - fewer[index])
        value -= min(0, int(value.min(initial=0)))
        track = self.track(Track(name, 0, None, True))
        self.add(Counter(np.full(len(index), track), self.trace.time[index], value))
