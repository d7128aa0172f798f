"""Reads a file of the recorder. Its header says what is in it: tracing/include/SwiftConcurrencyTrace.h."""

import os
import platform
import signal
from typing import NamedTuple

import numpy as np

from ..base import errors, memory, text
from . import header
from .events import ENQUEUES, JOB, JOINED, NOT_TASK, Array, Kind, Module, Trace
from .header import BY_SIGNAL, CHUNK_MAGIC, EVENTS, LONGEST, MACHINES, MODULE, MODULES, STREAM, Header

CHUNK = [("magic", "<u4"), ("type", "<u2"), ("ring", "<u2"), ("index", "<u4"), ("thread", "<u4"), ("base", "<u8")]
CHUNK += [("running", "<u8"), ("sequence", "<u8"), ("lost", "<u4"), ("depth", "<u4"), ("name", "S16")]
_REASONS = {1: "the program asked for it", 3: "a crash", 4: "a report of the liveness monitor"}


def read(path: str) -> Trace:
    """The trace in a file. What a cut or damaged one has is read, and the trace notes what is missing."""
    head = header.read(path)
    notes = _notes(head)
    length = os.path.getsize(path)
    memory.require(12 * length, f"a trace of {text.size(length)}", header.SMALLER)
    size = length - head.header_size
    whole, rest = divmod(max(size, 0), head.chunk_size)
    if head.chunk_count > whole + bool(rest) or rest or size < 0:
        count = f" of {head.chunk_count}" if head.chunk_count else ""
        where = "the header" if size < 0 else f"chunk {whole + 1:,}{count}"
        notes.append(f"the file is cut at byte {length:,}, in {where}: this is what comes before")
    with open(path, "rb") as file:

        def part(chunk: int, length: int) -> bytes:
            return os.pread(file.fileno(), length, head.header_size + chunk * head.chunk_size).ljust(length, b"\0")

        chunks = np.frombuffer(b"".join(part(i, 64) for i in range(whole + (rest >= 64))), CHUNK)
        whose = chunks["magic"] == CHUNK_MAGIC
        bad = np.flatnonzero(~whose & (chunks["magic"] != 0))
        if len(bad):
            at = head.header_size + int(bad[0]) * head.chunk_size
            notes.append(f"{len(bad)} of {len(chunks)} chunks are damaged, the first at byte {at:,}: they are left out")
        kept = np.flatnonzero(whose & (chunks["type"] == EVENTS))
        kept = kept[np.lexsort((chunks["index"][kept], chunks["ring"][kept]))]
        words = np.empty((len(kept), head.chunk_size // 8), "<u8")
        for row, chunk in zip(words, kept.tolist()):
            row[:] = np.frombuffer(part(chunk, head.chunk_size), "<u8")
        trace = _events(head, words, chunks[kept], notes)
        # The latest ones first: a file may be loaded where another one was.
        found = np.flatnonzero(whose & (chunks["type"] == MODULES))
        for chunk in found[np.argsort(chunks["sequence"][found], kind="stable")][::-1].tolist():
            trace.modules += _modules(part(chunk, head.chunk_size)[64:], head.first_realtime)
    return trace


def _notes(head: Header) -> list[str]:
    """What the header tells of how the file came about, as lines for the user."""
    notes = []
    if head.reason == BY_SIGNAL or head.signal:
        number = head.signal
        named = signal.Signals(number).name if number in set(signal.Signals) else "a signal"
        notes.append(f"written because of {named}")
    elif head.reason in _REASONS:
        notes.append(f"written because of {_REASONS[head.reason]}")
    if not head.is_complete:
        notes.append("the program was killed, ended with _exit or exec, or still writes: the trace ends in the middle")
    if head.error:
        notes.append(f"the recorder could not write all: {os.strerror(head.error)}; the trace ends there")
    if not head.rate()[1]:
        what = "the clocks went on differently, as if the system was suspended: times from then on may be wrong"
        notes.append(f"{what}. SWIFT_TRACE_CLOCK=monotonic records with a clock that only stops meanwhile")
    if MACHINES[head.machine] != platform.machine():
        notes.append(f"recorded on {MACHINES[head.machine]}: functions have names only where its files are")
    return notes


def _starts(words: Array) -> tuple[Array, int]:
    """(where events begin in each chunk, as a table of truth values; damaged chunks). All chunks are walked at once:
    a step takes one event of each."""
    begins = np.zeros(words.shape, bool)
    lanes, place = np.arange(len(words)), np.full(len(words), 8)
    length, damaged = words.shape[1], 0
    while len(lanes):
        first = words[lanes, place].astype(np.int64)
        size = first >> 8 & 15
        there = first & 255 != 0
        good = there & (size > 0) & (place + size <= length)
        damaged += int((there & ~good).sum())
        lanes, place, size = lanes[good], place[good], size[good]
        begins[lanes, place] = True
        place = place + size
        more = place < length
        lanes, place = lanes[more], place[more]
    return begins, damaged


# Which event follows one with JOINED.
_SECONDS = {Kind.TASK_CREATE: Kind.ENQUEUE_GLOBAL, Kind.TASK_RESUME: Kind.ENQUEUE_GLOBAL, Kind.TASK_WAIT: Kind.RUN_END}


def _doubled(flat: Array, at: Array, is_head: Array) -> tuple[Array, Array]:
    """(places of events, with those of two events twice; whether each is the second one)."""
    joined = ~is_head & (flat[at] & JOINED != 0)
    places = np.flatnonzero(joined)
    is_second = np.zeros(len(at) + len(places), bool)
    is_second[places + np.arange(1, len(places) + 1)] = True
    return np.repeat(at, 1 + joined), is_second


def _filled(length: int, starts: Array, values: Array) -> Array:
    """A column of `length` that has values[i] from starts[i] up to the next start, which are sorted."""
    return np.repeat(values, np.diff(starts, append=length))


class _Columns(NamedTuple):
    """The events of all chunks, and before those of each chunk its head. flat: the words of the chunks; at: where
    events begin in them; heads: which events are heads; one, two: the words after the first."""

    flat: Array
    at: Array
    heads: Array
    kind: Array
    arg: Array
    ticks: Array
    one: Array
    two: Array


def _events(head: Header, words: Array, chunks: Array, notes: list[str]) -> Trace:
    """The trace of the chunks of events, whose `words` are in the order of each ring. notes: gets what is missing."""
    # Whether each chunk goes on where the one before it ended: it is the next one of its ring, and nothing is lost.
    follows: Array = _goes_on(chunks) & (chunks["lost"] == 0)
    columns = _columns(words, chunks, follows, notes)
    threads, new_at, segment, thread_of = _threads(columns, chunks, follows)
    lost = _lost(columns, chunks, thread_of)
    if (unknown := head.lost - sum(lost.values())) > 0:
        lost[-1] = unknown
    names = _task_names(columns.flat, columns.at, columns.kind)
    keep = _kept(head, columns, notes)
    kind, arg, one, two, segment, ticks = (
        column[keep] for column in (columns.kind, columns.arg, columns.one, columns.two, segment, columns.ticks)
    )
    nanoseconds = head.rate()[0]
    time = ((ticks - ticks[:1]) * nanoseconds).astype(np.int64)
    missing = chunks["base"][~_goes_on(chunks) & (chunks["index"] > 1)].astype(np.int64)
    complete = int(missing.max(initial=0)) - int(ticks[0]) if len(ticks) else 0
    # A program in which nothing happens any more has no events. Nor has one whose disk is full.
    ending = 0 if head.error else head.last_ticks
    last = max(int(ticks[-1]), ending) - int(ticks[0]) if len(ticks) else 0
    return Trace(
        *(time, segment, kind, arg, *_meaning(kind, arg, one, two)),
        *(thread_of[new_at], threads, [], names, lost, head.overwritten),
        *(_text(head.program), head.process, notes),
        end=int(last * nanoseconds),
        complete=int(min(max(0, complete), last) * nanoseconds),
        is_cut=bool(head.error),
    )


def _text(data: bytes) -> str:
    """A name up to its 0, in one line."""
    return errors.plain(data.split(b"\0")[0].decode(errors="replace"))


def _goes_on(chunks: Array) -> Array:
    """Whether each chunk is the next one of its ring: none between them was overwritten."""
    found = np.zeros(len(chunks), bool)
    if len(chunks):
        same = np.diff(chunks["ring"].astype(np.int64)) == 0
        found[1:] = same & (np.diff(chunks["index"].astype(np.int64)) == 1)
    return found


def _columns(words: Array, chunks: Array, follows: Array, notes: list[str]) -> _Columns:
    """The events in `words`, with their times. notes: gets how many chunks are damaged."""
    begins, damaged = _starts(words)
    if damaged:
        notes.append(f"{damaged} of {len(words)} chunks have a damaged event: what follows it in them is left out")
    begins[:, 0] = True
    flat, at = words.reshape(-1), np.flatnonzero(begins)
    at, is_second = _doubled(flat, at, at % words.shape[1] == 0)
    is_head = at % words.shape[1] == 0
    heads = np.flatnonzero(is_head)
    first = flat[at]
    kind, arg = (first & (JOINED - 1)).astype(np.uint8), (first >> 12 & 0xFFF).astype(np.uint16)
    ticks, size = (first >> 24).astype(np.int64), first >> 8 & 15
    seconds = np.zeros(JOINED, np.uint8)
    seconds[list(_SECONDS)] = list(_SECONDS.values())
    kind[is_second] = seconds[kind[is_second]]
    arg[is_second] = 0
    size[is_second] = np.where(kind[is_second] == Kind.RUN_END, 1, 2)
    # The head of a chunk stands for the job that runs as it begins, if what came before is missing.
    kind[heads] = np.where(~follows & (chunks["depth"] > 0) & (chunks["running"] > 0), Kind.RUN, 0)
    arg[heads] = ticks[heads] = 0
    one, two = (flat[np.minimum(at + i, len(flat) - 1)] for i in (1, 2))
    one[size < 2] = 0
    two[size < 3] = 0
    one[heads], two[heads] = chunks["running"], 0
    # Times: from the base of the chunk, or from a new one in it.
    based = np.flatnonzero(is_head | (kind == Kind.TIME))
    bases = one[based].astype(np.int64)
    bases[np.searchsorted(based, heads)] = chunks["base"]
    ticks += _filled(len(at), based, bases)
    return _Columns(flat, at, heads, kind, arg, ticks, one, two)


# What only workers of the pool do.
_OF_WORKERS = (Kind.POOL_STEAL, Kind.POOL_PARK, Kind.POOL_UNPARK, Kind.POOL_THREAD)


def _threads(columns: _Columns, chunks: Array, follows: Array) -> tuple[list[tuple[int, str]], Array, Array, Array]:
    """([(number, name)] of threads, where segments begin, the segment of each event, the thread of each event). A
    thread is that of the chunk, or the one that took the ring over; a segment is what one has recorded without a gap.
    """
    flat, at, heads = columns.flat, columns.at, columns.heads
    is_moved = columns.kind == Kind.THREAD
    is_moved[heads] = True
    moved = np.flatnonzero(is_moved)
    numbers = columns.one[moved].astype(np.int64) & 0xFFFFFFFF
    own = np.searchsorted(moved, heads)
    numbers[own] = chunks["thread"]
    named = [bytes(name) for name in flat[(at[moved, None] + (2, 3)).clip(max=len(flat) - 1)].view("S16")[:, 0]]
    for place, name in zip(own.tolist(), chunks["name"].tolist()):
        named[place] = name
    found = {n: _text(name) for n, name in zip(numbers.tolist(), named)}
    index = {number: i for i, number in enumerate(found)}
    new = np.ones(len(moved), bool)
    new[own] = ~follows
    new_at = np.union1d(moved[new], np.flatnonzero(columns.kind == Kind.LOST))
    if not len(at):
        return list(found.items()), new_at, np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    segment = _filled(len(at), new_at, np.arange(len(new_at), dtype=np.uint32))
    thread_of = _filled(len(at), moved, np.array([index[n] for n in numbers.tolist()], np.uint32))
    # A thread that a worker of the pool has made has that one's name, until it gets another one.
    threads, workers = list(found.items()), set(np.unique(thread_of[np.isin(columns.kind, _OF_WORKERS)]).tolist())
    taken = {threads[i][1] for i in workers if threads[i][1].startswith("swift-pool-")}
    threads = [(number, "" if name in taken and i not in workers else name) for i, (number, name) in enumerate(threads)]
    return threads, new_at, segment, thread_of


def _lost(columns: _Columns, chunks: Array, thread_of: Array) -> dict[int, int]:
    """{thread: how many events of it were lost}, as heads of chunks and events tell."""
    lost: dict[int, int] = {}
    after_loss = columns.kind == Kind.LOST
    counted = [(columns.heads, chunks["lost"]), (np.flatnonzero(after_loss), columns.one[after_loss])]
    for places, counts in counted:
        for place in np.flatnonzero(counts).tolist():
            thread = int(thread_of[places[place]])
            lost[thread] = lost.get(thread, 0) + int(counts[place])
    return lost


def _kept(head: Header, columns: _Columns, notes: list[str]) -> Array:
    """Which events a trace has: those of tasks, actors and the pool, in the order of time, which is that of each ring,
    too. notes: gets how many have times that cannot be."""
    keep = np.flatnonzero((columns.kind > Kind.LOST) & (columns.kind != Kind.TASK_NAME))
    ticks = columns.ticks[keep]
    # While a file of all events is written, there may be any time since it grew last. Others are written in a moment.
    ends = head.last_ticks and head.rate()[1] and (head.reason != STREAM or head.is_complete)
    latest = head.last_ticks + (1 << 40) if ends else head.first_ticks + LONGEST
    possible = (ticks > head.first_ticks - (1 << 40)) & (ticks < latest)
    if not possible.all():
        notes.append(f"{int((~possible).sum())} events have times that cannot be: they are left out")
        keep = keep[possible]
    return keep[np.argsort(columns.ticks[keep], kind="stable")]


def _task_names(flat: Array, at: Array, kind: Array) -> dict[int, str]:
    """{task: the last name that it got}."""
    names = {}
    for place in at[np.flatnonzero(kind == Kind.TASK_NAME)].tolist():
        size = int(flat[place]) >> 8 & 15
        if size < 3:
            continue
        names[int(flat[place + 1])] = _text(flat[place + 2 : place + size].tobytes())
    return names


# Whose first word is not a task or job. Of these, the task is the second word.
_SECOND = (Kind.ACTOR_ENQUEUE, Kind.ACTOR_DEQUEUE, Kind.GROUP_ADD, Kind.GROUP_NEXT)
_FIRST = (
    *(Kind.TASK_CREATE, Kind.TASK_DESTROY, Kind.TASK_STATUS, Kind.TASK_WAIT, Kind.TASK_RESUME, Kind.TASK_CANCEL),
    *(Kind.CONTINUATION_INIT, Kind.ENQUEUE_GLOBAL, Kind.ENQUEUE_DELAYED, Kind.ENQUEUE_MAIN),
    *(Kind.RUN, Kind.TASK_SWITCH, Kind.SLEEP_BEGIN, Kind.SLEEP_END, Kind.SLEEP_CANCEL),
)
_JOBS = (Kind.RUN, *ENQUEUES, Kind.ACTOR_DEQUEUE, Kind.SLEEP_BEGIN, Kind.SLEEP_END, Kind.SLEEP_CANCEL)


def _meaning(kind: Array, arg: Array, one: Array, two: Array) -> tuple[Array, Array, Array]:
    """(task, value, more) of events in the order of time."""
    second, first = np.isin(kind, _SECOND), np.isin(kind, _FIRST)
    task = np.where(first, one, np.where(second, two, 0))
    task[np.isin(kind, _JOBS) & (arg & NOT_TASK != 0)] |= JOB
    value = np.where(first, two, one)
    more = np.where(kind == Kind.ACTOR_CREATE, two, 0)
    # A continuation is the task's that began it.
    begun = kind == Kind.CONTINUATION_INIT
    later = (kind == Kind.CONTINUATION_AWAIT) | (kind == Kind.CONTINUATION_RESUME)
    index = np.flatnonzero(begun | later)
    context = value[index]
    order = np.argsort(context, kind="stable")
    index, context = index[order], context[order]
    latest = np.maximum.accumulate(np.where(begun[index], np.arange(len(index)), -1))
    own = (latest >= 0) & (context[np.maximum(latest, 0)] == context) if len(index) else np.zeros(0, bool)
    task[index[own]] = task[index[latest[own]]]
    return task, value, more


def _modules(data: bytes, since: int) -> list[Module]:
    found, place = [], 0
    while place + MODULE.size <= len(data):
        size, id_size, path_size, base, begin, end, build_id = MODULE.unpack_from(data, place)
        if not MODULE.size <= size <= len(data) - place:
            break
        path = data[place + MODULE.size : place + size][:path_size].decode(errors="surrogateescape")
        found.append(Module(path, base, begin, end, build_id[:id_size].hex(), since))
        place += size
    return found
