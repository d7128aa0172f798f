"""The events of a trace, as columns of numbers."""

import enum
from dataclasses import dataclass, field
from typing import Any

Array = Any  # numpy's, which the host may lack


class Kind(enum.IntEnum):
    """The kinds of events, by their numbers in the file (tracing/include/SwiftConcurrencyTrace.h)."""

    TIME = 1
    THREAD = 2
    LOST = 3
    THREAD_FIRST_JOB = 4
    TASK_CREATE = 8
    TASK_NAME = 9
    TASK_DESTROY = 10
    TASK_STATUS = 11
    TASK_WAIT = 12
    TASK_RESUME = 13
    TASK_CANCEL = 14
    CONTINUATION_INIT = 15
    CONTINUATION_AWAIT = 16
    CONTINUATION_RESUME = 17
    ENQUEUE_GLOBAL = 24
    ENQUEUE_DELAYED = 25
    ENQUEUE_MAIN = 26
    RUN = 27
    RUN_END = 28
    ACTOR_CREATE = 32
    ACTOR_DEALLOCATE = 34
    ACTOR_ENQUEUE = 35
    ACTOR_DEQUEUE = 36
    TASK_SWITCH = 39
    GROUP_ADD = 48
    GROUP_NEXT = 49
    SLEEP_BEGIN = 56
    SLEEP_END = 57
    SLEEP_CANCEL = 58
    DEINIT = 64
    DEINIT_JOB = 65
    POOL_STEAL = 72
    POOL_WAKE = 73
    POOL_STAND_IN = 74
    POOL_PARK = 75
    POOL_UNPARK = 76
    POOL_THREAD = 77


JOINED = 1 << 7  # in the file, of a kind: another event follows at once, and is not written
NOT_TASK = 1 << 8  # in the file: an event is of another job than a task
JOB = 1 << 63  # in `task`: the rest is the address of such a job
ENQUEUES = (Kind.ENQUEUE_GLOBAL, Kind.ENQUEUE_DELAYED, Kind.ENQUEUE_MAIN, Kind.ACTOR_ENQUEUE)


@dataclass
class Module:
    """A file that the process had mapped from `begin` to `end`; base: what is added to the addresses in the file;
    since: when the recording began, in nanoseconds of the system's clock."""

    path: str
    base: int
    begin: int
    end: int
    build_id: str = ""
    since: int = 0


@dataclass
class Trace:
    """Columns of events in the order of time. time: nanoseconds since the first one; segment: an index of `segments`,
    a stretch of one thread in which no event is missing; task: the number of the task or the address of the other job
    that the event is of, or 0; value: its other word; more: of the creation of an actor, its type.

    segments: the index in `threads` of each; threads: (number of the system, name); names: {task: its name};
    lost: {index in threads, or -1: events that could not be kept}; overwritten: events that newer ones replaced; notes:
    what the user must know of the file; end: when the file was written, or the time of the last event;
    complete: from when on no event was overwritten; is_cut: the file could not get longer."""

    time: Array
    segment: Array
    kind: Array
    arg: Array
    task: Array
    value: Array
    more: Array
    segments: Array
    threads: list[tuple[int, str]]
    modules: list[Module]
    names: dict[int, str] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)
    overwritten: int = 0
    program: str = ""
    process: int = 0
    notes: list[str] = field(default_factory=list)
    end: int = 0
    complete: int = 0
    is_cut: bool = False

    @property
    def thread(self) -> Array:
        return self.segments[self.segment]
