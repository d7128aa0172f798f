#!/usr/bin/env python3
"""check_perfetto.py FILE: reads a trace with Perfetto's own definitions, checks that it means something, and prints its
tracks with their slices. What viewers do is done here: packets are sorted by time, and those of a moment stay in the
order of the file."""

import sys
from collections import defaultdict
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

trace = Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())
tracks: dict[int, Any] = {}
names: dict[int, str] = {}
events: list[tuple[int, Any]] = []
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1, packet
    names.update((one.iid, one.name) for one in packet.interned_data.event_names)
    if packet.HasField("track_descriptor"):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor
    elif packet.HasField("track_event"):
        assert packet.sequence_flags == 2, packet
        assert not len(UnknownFieldSet(packet)) and not len(UnknownFieldSet(packet.track_event)), packet
        events.append((packet.timestamp, packet.track_event))
events.sort(key=lambda event: event[0])


def title(uuid: int) -> str:
    track = tracks[uuid]
    if track.HasField("process"):
        return f"process {track.process.pid} {track.process.process_name}"
    if track.HasField("thread"):
        return f"thread {track.thread.tid} {track.thread.thread_name}"
    above = title(track.parent_uuid)
    return str(track.name) if above.startswith("process") else f"{above} / {track.name}"


stacks: dict[int, list[tuple[int, str]]] = defaultdict(list)
lines: dict[int, list[str]] = defaultdict(list)
sources: set[int] = set()
targets: set[int] = set()
for time, event in events:
    uuid = event.track_uuid
    assert uuid in tracks, event
    assert tracks[uuid].HasField("counter") == (event.type == TrackEvent.TYPE_COUNTER), event
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        stacks[uuid].append((time, names[event.name_iid]))
        for flow in event.terminating_flow_ids:
            assert flow in sources, f"flow {flow} ends at {time} and began nowhere"
            targets.add(flow)
    elif event.type == TrackEvent.TYPE_SLICE_END:
        assert stacks[uuid], f"{title(uuid)}: an end at {time} without a begin"
        begin, name = stacks[uuid].pop()
        lines[uuid].append(f"{begin} to {time}: {name}")
    elif event.type == TrackEvent.TYPE_INSTANT:
        sources.update(event.flow_ids)
        lines[uuid].append(f"{time}: {names[event.name_iid]}")
    else:
        lines[uuid].append(f"{time}: = {event.counter_value}")
assert not any(stacks.values()), "slices without an end"
if "--brief" not in sys.argv:
    for uuid in tracks:
        print("\n".join([title(uuid), *(f"  {line}" for line in lines[uuid])]))
print(f"{len(tracks)} tracks, {len(events)} events, {len(targets)} flows")
