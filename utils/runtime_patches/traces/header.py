"""The header of a file of the recorder, and its newest counters, which the host reads without numpy.

tracing/include/SwiftConcurrencyTrace.h says what is in such a file.
"""

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..base.errors import UserError

MAGIC, VERSION, BYTE_ORDER, CHUNK_MAGIC = b"SwiftTrc", 2, 0x01020304, 0x43525453
MACHINES = {62: "x86_64", 183: "aarch64"}
EVENTS, MODULES, COUNTERS = 1, 2, 3
STREAM, BY_SIGNAL = 0, 2
LONGEST = 1 << 62  # ticks and nanoseconds: those of decades
HEADER, MODULE = struct.Struct("<8sIHHIIIBBBB9QiI128s"), struct.Struct("<IHHQQQ24s")
SUMS = "tasks_created tasks_destroyed tasks_cancelled jobs_enqueued jobs_run hops pool_steals pool_wakes "
SUMS += "pool_stand_ins pool_parks sleeps_begun sleeps_ended sleeps_cancelled"
SMALLER = "record with SWIFT_TRACE=1, which keeps the last events only, or read it where more memory is free"
_AGAIN = "record it again: SWIFT_TRACE=FILE PROGRAM, or utils/trace --record -- PROGRAM"


class Header(NamedTuple):
    """The fields of a file's header, in their order; SwiftConcurrencyTrace.h describes them."""

    magic: bytes
    byte_order: int
    version: int
    machine: int
    header_size: int
    chunk_size: int
    process: int
    clock: int
    reason: int
    is_complete: int
    signal: int
    first_ticks: int
    first_ns: int
    first_realtime: int
    last_ticks: int
    last_ns: int
    ticks_per_second: int
    overwritten: int
    lost: int
    chunk_count: int
    error: int
    reserved: int
    program: bytes

    def rate(self) -> tuple[float, bool]:
        """(nanoseconds of a tick, whether they were the same all the time). While the system is suspended, one clock
        may stop, or begin anew."""
        ticks, ns = self.last_ticks - self.first_ticks, self.last_ns - self.first_ns
        told = 1e9 / max(1, self.ticks_per_second)
        found = ns / ticks if ns > 1_000_000 and ticks > 0 else told
        is_steady = abs(found - told) < told / 100 and not 0 < self.last_ticks < self.first_ticks
        return found if is_steady else told, is_steady


def refuse_irregular(path: str) -> None:
    """UserError if `path` is a pipe or a device: it would wait for ever, or has no size."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise UserError(f"{path} is no regular file", "give the path of a file")


def read(path: str) -> Header:
    """The header of a file; UserError if no trace can be read from it."""
    refuse_irregular(path)
    try:
        with open(path, "rb") as file:
            data = file.read(HEADER.size)
    except IsADirectoryError:
        raise UserError(f"{path} is a folder", "give a file that SWIFT_TRACE wrote") from None
    except OSError as error:
        hint = "give a file that SWIFT_TRACE wrote, or record one: utils/trace --record -- PROGRAM"
        raise UserError(f"{path} cannot be read: {error.strerror}", hint) from None
    if data[:8] != MAGIC[: len(data)] or not data:
        what = f"{path} is no trace: it does not begin with {MAGIC.decode()}" if data else f"{path} is empty"
        raise UserError(what, "give a file that SWIFT_TRACE wrote")
    if len(data) < HEADER.size:
        raise UserError(f"{path} is cut in its header, at byte {len(data)} of {HEADER.size}", _AGAIN)
    found = Header(*HEADER.unpack(data))
    if found.byte_order != BYTE_ORDER:
        what = f"{path} is of a machine with another byte order, or damaged at byte 8"
        raise UserError(what, "read it on a machine of that kind")
    if found.version != VERSION:
        what = f"{path} has version {found.version} of the format; this command reads {VERSION}"
        raise UserError(what, "use utils/trace of the repository that the runtime was built from")
    if found.machine not in MACHINES:
        known = " and ".join(MACHINES.values())
        raise UserError(f"{path} is of machine {found.machine} of ELF", f"this command reads {known}")
    size = found.chunk_size
    for what, wrong, at in (
        ("size of chunks", size & (size - 1) or not 128 <= size <= 1 << 28, 20),
        ("size of the header", not HEADER.size <= found.header_size <= 1 << 20 or found.header_size % 8, 16),
        ("range of times", (found.last_ticks - found.first_ticks) * max(1, found.rate()[0]) >= LONGEST, 32),
        ("rate of the clock", not 1000 <= found.ticks_per_second <= 1 << 40, 72),
    ):
        if wrong:
            raise UserError(f"{path} is damaged: the {what} at byte {at} is impossible", _AGAIN)
    return found


def chunks(path: str, kind: int, size: int) -> Iterator[bytes]:
    """The first `size` bytes of each chunk of a kind; not of one that is cut before."""
    head = read(path)
    with open(path, "rb") as file:
        for place in range(head.header_size, os.path.getsize(path), head.chunk_size):
            data = os.pread(file.fileno(), size, place)
            if len(data) == size and struct.unpack_from("<IH", data) == (CHUNK_MAGIC, kind):
                yield data


def newest_counters(path: str) -> dict[str, Any]:
    """The latest swift_trace_counters in a file as a dictionary; empty if it has none. `waits` is its histogram,
    and waits_ns their sum, since version 2."""
    names = SUMS.split()
    layout = struct.Struct(f"<2IQ{len(names)}Q24QQ")
    latest, numbers = -1, ()
    for data in chunks(path, COUNTERS, 64 + layout.size):
        (sequence,) = struct.unpack_from("<Q", data, 32)
        if sequence > latest:
            latest, numbers = sequence, layout.unpack_from(data, 64)
    if not numbers:
        return {}
    found = {"monotonic_ns": numbers[2], **dict(zip(names, numbers[3:])), "waits": list(numbers[3 + len(names) : -1])}
    return {**found, "waits_ns": numbers[-1]} if numbers[1] > 1 else found
