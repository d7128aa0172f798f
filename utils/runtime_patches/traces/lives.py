"""Pairs the events of a trace: runs of tasks, waits in queues, and what each task does at the end."""

from dataclasses import dataclass

import numpy as np

from .events import ENQUEUES, JOB, Array, Kind, Trace

# What a task that is suspended waits for, by the last of its events that is here or in _GOES_ON.
WAITS = {
    Kind.CONTINUATION_INIT: "a continuation",
    Kind.TASK_WAIT: "another task",
    Kind.SLEEP_BEGIN: "a sleep",
    Kind.GROUP_NEXT: "a child of its group",
}
JOBS = 1  # the function of jobs that are no tasks
_GOES_ON = (Kind.RUN, Kind.CONTINUATION_RESUME, Kind.TASK_RESUME, *ENQUEUES)


@dataclass
class Lives:
    """Columns of runs, in the order in which they began: begin, end: indices of events, -1 if the end is not in the
    trace; stop: when each ended, at the latest; enqueue: of the event that put the task into a queue, or -1; task: an
    index of `tasks`.
    stays: (run, index of the event with which it begins, executor) of each part of a run on one executor, 0 for the
    global one.
    Columns of tasks: tasks: sorted numbers, of other jobs, too; function: where each began, or 0; created, destroyed,
    last: indices of events, or -1; last: that tells what it does at the end, if no later one can have been overwritten;
    hops: onto other executors."""

    begin: Array
    end: Array
    stop: Array
    enqueue: Array
    task: Array
    stays: tuple[Array, Array, Array]
    tasks: Array
    function: Array
    creator: Array
    created: Array
    destroyed: Array
    last: Array
    hops: Array


def pair(trace: Trace) -> Lives:
    """Also fills in, in the trace, whose the sleeps and the ends of runs are."""
    kind = trace.kind
    begin, end, inner, run = _runs(trace)
    missing = (run >= 0) & (kind[inner] != Kind.TASK_CREATE) & ((trace.task[inner] == 0) | (trace.task[inner] >= JOB))
    trace.task[inner[missing]] = trace.task[begin[run[missing]]]
    tasks, dense = np.unique(trace.task, return_inverse=True)
    dense = dense.astype(np.uint32)
    enqueue = _enqueues(kind, dense)
    # In what was overwritten since, the task may have run and been put into a queue again.
    enqueue[trace.time[enqueue] < trace.complete] = -1

    def latest(*kinds: Kind) -> Array:
        column = np.full(len(tasks), -1, np.int64)
        found = np.flatnonzero(np.isin(kind, kinds))
        column[dense[found]] = found  # later ones overwrite earlier ones
        return column

    created, destroyed, last = latest(Kind.TASK_CREATE), latest(Kind.TASK_DESTROY), latest(*WAITS, *_GOES_ON)
    last[trace.time[last] < trace.complete] = -1
    first = np.full(len(tasks), -1, np.int64)
    told = begin[trace.value[begin] != 0][::-1]  # the head of a chunk does not tell the function
    first[dense[told]] = told
    # Where it was created, or else where its first run here goes on.
    known = np.where(created >= 0, created, first)
    function = np.where(known >= 0, trace.value[known], 0) if len(kind) else np.zeros(0, np.uint64)
    function[tasks >= JOB] = JOBS
    creator = np.full(len(tasks), -1, np.int64)
    made = (run >= 0) & (kind[inner] == Kind.TASK_CREATE)
    creator[dense[inner[made]]] = dense[begin[run[made]]]
    hops = np.bincount(dense[kind == Kind.TASK_SWITCH], minlength=len(tasks))
    stays = _stays(trace, begin, enqueue, inner, run)
    stop = _stops(trace, begin, end)
    return Lives(
        begin, end, stop, enqueue, dense[begin], stays, tasks, function, creator, created, destroyed, last, hops
    )


def look_through(lives: Lives, functions: dict[int, str]) -> None:
    """Gives tasks that began in a thunk of the compiler, which all closures of a type share, a function by who created
    them; functions: {address: name}, to which it adds."""
    thunks = [address for address, name in functions.items() if "thunk for " in name]
    unknown = np.isin(lives.function, thunks) & (lives.creator >= 0)
    creators = lives.function[lives.creator]
    for creator in np.unique(creators[unknown]).tolist():
        if creator not in thunks:
            functions[creator | 1 << 62] = f"a closure in {functions[creator]}"
            lives.function[unknown & (creators == creator)] = creator | 1 << 62
    # A function has several addresses: where it begins, and where it goes on.
    known = np.unique(lives.function)
    first = {functions[address]: address for address in reversed(known.tolist())}
    same = np.array([first[functions[address]] for address in known.tolist()], np.uint64)
    lives.function = same[np.searchsorted(known, lives.function)]


def _runs(trace: Trace) -> tuple[Array, Array, Array, Array]:
    """(begin, end, inner, run): the events with which each run begins and ends; other events that belong to the run of
    their thread, and which it is, or -1.

    Runs may stand in each other. What happens at some depth of a thread belongs to the last run that began there."""
    inside = (Kind.SLEEP_BEGIN, Kind.TASK_SWITCH, Kind.TASK_CREATE)
    index = np.flatnonzero(np.isin(trace.kind, (Kind.RUN, Kind.RUN_END, *inside)))
    index = index[np.argsort(trace.segment[index], kind="stable")]
    kind = trace.kind[index]
    depth = np.cumsum((kind == Kind.RUN).astype(np.int64) - (kind == Kind.RUN_END)) + (kind == Kind.RUN_END)
    order = np.lexsort((depth, trace.segment[index]))
    index, kind, depth = index[order], kind[order], depth[order]
    place = np.arange(len(index))
    head = np.maximum.accumulate(np.where(kind == Kind.RUN, place, -1)) if len(index) else place
    same = (head >= 0) & (depth[head] == depth) & (trace.segment[index[head]] == trace.segment[index])
    begin = index[kind == Kind.RUN]
    rank = np.empty(len(begin), np.int64)
    rank[np.argsort(begin, kind="stable")] = np.arange(len(begin))
    number = np.zeros(len(index), np.int64)  # of the run that begins here
    number[kind == Kind.RUN] = rank
    run = np.where(same, number[head], -1)
    end = np.full(len(begin), -1, np.int64)
    ends = np.flatnonzero((kind == Kind.RUN_END) & (run >= 0))[::-1]
    end[run[ends]] = index[ends]  # reversed: the first one stays
    others = kind != Kind.RUN
    return np.sort(begin), end, index[others], run[others]


def _stops(trace: Trace, begin: Array, end: Array) -> Array:
    """A run without an end lasts as long as its segment has events. In the last one of a thread it still runs."""
    last = np.zeros(len(trace.segments), np.int64)
    last[trace.segment] = trace.time  # which are sorted
    final = {thread: segment for segment, thread in enumerate(trace.segments.tolist())}
    last[list(final.values())] = trace.end
    return np.where(end >= 0, trace.time[end], last[trace.segment[begin]]) if len(begin) else begin


def _enqueues(kind: Array, dense: Array) -> Array:
    """For each run, the last enqueue of its task, if nothing ran the task in between."""
    index = np.flatnonzero(np.isin(kind, [Kind.RUN, *ENQUEUES]))
    index = index[np.argsort(dense[index], kind="stable")]
    runs = kind[index] == Kind.RUN
    found = np.full(len(index), -1, np.int64)
    follows = np.flatnonzero(runs[1:] & ~runs[:-1] & (dense[index[1:]] == dense[index[:-1]])) + 1
    found[follows] = index[follows - 1]
    return found[runs][np.argsort(index[runs], kind="stable")]


def _stays(trace: Trace, begin: Array, enqueue: Array, inner: Array, run: Array) -> tuple[Array, Array, Array]:
    onto = (enqueue >= 0) & (trace.kind[enqueue] == Kind.ACTOR_ENQUEUE) if len(enqueue) else np.zeros(0, bool)
    first = np.where(onto, trace.value[enqueue], 0) if len(enqueue) else np.zeros(0, np.uint64)
    switch = (trace.kind[inner] == Kind.TASK_SWITCH) & (run >= 0)
    runs = np.concatenate((np.arange(len(begin)), run[switch]))
    events = np.concatenate((begin, inner[switch]))
    # A task that does not go on at once leaves the thread, and soon the run ends.
    executors = np.concatenate((first, np.where(trace.arg[inner[switch]] & 1, trace.value[inner[switch]], 0)))
    order = np.lexsort((events, runs))
    return runs[order], events[order], executors[order]


def actors(trace: Trace) -> tuple[Array, Array, Array]:
    """(index, actor, address) of all events of actors' queues and lives: an actor is a small number, as an address may
    hold several, one after the other; address: of each number. Sorted by actor, then by time."""
    kinds = [Kind.ACTOR_ENQUEUE, Kind.ACTOR_DEQUEUE, Kind.ACTOR_CREATE]
    index = np.flatnonzero(np.isin(trace.kind, kinds))
    index = index[np.argsort(trace.value[index], kind="stable")]
    address = trace.value[index]
    first = trace.kind[index] == Kind.ACTOR_CREATE
    first[:1] = True
    first[1:] |= address[1:] != address[:-1]
    return index, np.cumsum(first) - 1, address[first]


def lengths(trace: Trace, index: Array, actor: Array) -> Array:
    """The length of its actor's queue after each event of `actors`. What was queued before all is there counts from
    the first event on."""
    kind = trace.kind[index]
    step = (kind == Kind.ACTOR_ENQUEUE).astype(np.int64) - (kind == Kind.ACTOR_DEQUEUE)
    step[trace.time[index] < trace.complete] = 0
    if not len(step):
        return step
    total = np.cumsum(step)
    starts = np.flatnonzero(np.diff(actor, prepend=-1))
    counts = np.diff(starts, append=len(step))
    total -= np.repeat(total[starts] - step[starts], counts)
    return total - np.repeat(np.minimum(np.minimum.reduceat(total, starts), 0), counts)
