"""Writes a timeline in Perfetto's format (protobuf), for ui.perfetto.dev.

The packets of a group differ in numbers only. So they are rows of a table of bytes, in which each number has a fixed
width: a varint may have bytes that add nothing. The numbers of fields are those of perfetto's trace_packet.proto and
track_event.proto.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from .events import Array
from .timeline import Counter, Slices, Timeline

_BEGIN, _END, _MOMENT, _COUNTER = 1, 2, 3, 4  # TrackEvent.Type
_FLOW, _LAST_FLOW = 47, 48  # TrackEvent.flow_ids, terminating_flow_ids
_ROWS = 100_000


def write(timeline: Timeline, process: int, file: BinaryIO) -> None:
    """Writes a Timeline as Perfetto's trace packets. process: the number of the traced one."""
    events = b"".join(_field(2, _field(1, i + 1) + _field(2, name)) for i, name in enumerate(timeline.names))
    # The first packet begins the one sequence and has the names; the others need it.
    file.write(_packet(_field(13, 1) + _field(12, events)))
    for number, track in enumerate(timeline.tracks):
        content = _field(1, number + 1)
        if not number:
            content += _field(3, _field(1, process) + _field(6, track.name))
        elif track.thread is not None:
            content += _field(4, _field(1, process) + _field(2, track.thread) + _field(5, track.name))
        else:
            content += _field(2, track.name) + _field(5, track.parent + 1)
        file.write(_packet(_field(60, content + (_field(8, b"") if track.is_counter else b""))))
    for group in timeline.groups:
        for start in range(0, len(group.track), _ROWS):
            part = slice(start, start + _ROWS)
            track = group.track[part] + 1
            if isinstance(group, Counter):
                rows = [_rows(group.time[part], _COUNTER, track, value=group.value[part])]
            elif isinstance(group, Slices):
                name, flow = group.name[part] + 1, group.flow[part]
                begin = _rows(group.begin[part], _BEGIN, track, name, flow, _LAST_FLOW)
                # Each is followed by its end, so that those of a track stand in order.
                rows = [begin, _rows(group.end[part], _END, track)]
            else:
                rows = [_rows(group.time[part], _MOMENT, track, group.name[part] + 1, group.flow[part], _FLOW)]
            file.write(np.hstack(rows).tobytes())


def _rows(
    time: Array,
    kind: int,
    track: Array,
    name: Array | None = None,
    flow: Array | None = None,
    flow_field: int = 0,
    value: Array | None = None,
) -> Array:
    """Packets of Trace, a row each. One without a flow is as long as one with it: it has another field there,
    TracePacket.trusted_uid, which nothing reads."""
    count = len(time)
    event = [_constant(count, _key(9, 0) + bytes([kind]) + _key(11, 0)), _padded(track, 4)]
    if name is not None:
        event += [_constant(count, _key(10, 0)), _padded(name, 4)]
    if value is not None:
        event += [_constant(count, _key(30, 0)), _padded(value, 5)]
    filler: list[Array] = []
    length = np.full((count, 1), sum(part.shape[1] for part in event), np.uint8)
    if flow is not None:
        tail = np.hstack([_constant(count, _key(flow_field, 1)), flow.astype("<u8").view(np.uint8).reshape(count, 8)])
        other = _constant(count, _key(3, 0) + b"\x80" * 8 + b"\0")
        has = (flow != 0)[:, None]
        filler = [np.where(has, tail, other)]
        length += np.where(has, tail.shape[1], 0).astype(np.uint8)
    head = _constant(count, _key(10, 0) + b"\1" + _key(13, 0) + b"\2" + _key(8, 0))
    parts = [head, _padded(time, 8), _constant(count, _key(11, 2)), length, *event, *filler]
    size = sum(part.shape[1] for part in parts)
    return np.hstack([_constant(count, _key(1, 2) + bytes([size])), *parts])


def _padded(values: Array, width: int) -> Array:
    """Varints of `width` bytes."""
    shifts = 7 * np.arange(width, dtype=np.int64)
    found = (values.astype(np.int64)[:, None] >> shifts & 0x7F).astype(np.uint8)
    found[:, :-1] |= 0x80
    return found


def _constant(count: int, text: bytes) -> Array:
    return np.broadcast_to(np.frombuffer(text, np.uint8), (count, len(text)))


def _packet(content: bytes) -> bytes:
    return _field(1, content + _field(10, 1))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _key(number, 0) + _varint(value)
    data = value.encode("utf-8", "replace") if isinstance(value, str) else value
    return _key(number, 2) + _varint(len(data)) + data


def _key(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
