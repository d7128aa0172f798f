"""Writes a timeline in Chrome's format (JSON), for chrome://tracing, Perfetto and others."""

import io
import json
from collections.abc import Iterator
from typing import BinaryIO

from .timeline import HOPS, Counter, Moments, Slices, Timeline


def write(timeline: Timeline, process: int, output: BinaryIO) -> None:
    """Tracks that are no threads are threads, too, with numbers that no thread has."""
    file = io.TextIOWrapper(output, "utf-8")
    numbers = [(1 << 30) + i if track.thread is None else track.thread for i, track in enumerate(timeline.tracks)]
    names = [json.dumps(name) for name in timeline.names]
    file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
    first = {"ph": "M", "name": "process_name", "pid": process, "args": {"name": timeline.tracks[0].name}}
    file.write(json.dumps(first))
    for number, track in list(zip(numbers, timeline.tracks))[1:]:
        if not track.is_counter:
            event = {"ph": "M", "name": "thread_name", "pid": process, "tid": number, "args": {"name": track.name}}
            file.write(",\n" + json.dumps(event))
    for group in timeline.groups:
        if isinstance(group, Counter):
            for i, time, value in zip(group.track.tolist(), (group.time / 1000).tolist(), group.value.tolist()):
                track = timeline.tracks[i]
                parent = timeline.tracks[track.parent].name + " " if track.parent else ""
                name = json.dumps(parent + track.name)
                file.write(f',\n{{"ph":"C","name":{name},"pid":{process},"ts":{time},"args":{{"jobs":{value}}}}}')
        else:
            for line in _slices(group) if isinstance(group, Slices) else _moments(group):
                track_number, name_number, time, rest, flow = line
                where = f'"pid":{process},"tid":{numbers[track_number]},"ts":{time}'
                file.write(f',\n{{"name":{names[name_number]},{where},{rest}}}')
                if flow:
                    file.write(f",\n{{{where},{flow}}}")
    file.write("\n]}\n")
    file.detach()


def _slices(group: Slices) -> Iterator[tuple[int, int, float, str, str]]:
    columns = (group.track, group.name, group.begin / 1000, (group.end - group.begin) / 1000, group.flow)
    for track, name, begin, length, flow in zip(*(column.tolist() for column in columns)):
        yield track, name, begin, f'"ph":"X","dur":{length}', _flow("flow", "f", flow) if flow else ""


def _moments(group: Moments) -> Iterator[tuple[int, int, float, str, str]]:
    columns = (group.track, group.name, group.time / 1000, group.flow)
    flows = group.flow.tolist()
    first = {flow: place for place, flow in reversed(list(enumerate(flows)))}
    last = {flow: place for place, flow in enumerate(flows)}
    for place, (track, name, time, flow) in enumerate(zip(*(column.tolist() for column in columns))):
        # A flow begins and ends at slices: this one has no length.
        shown = _flow("flow", "s", flow)
        if flow >= HOPS:  # through all hops of a task, if there are two or more
            kind = "s" if place == first[flow] else "f" if place == last[flow] else "t"
            shown = _flow("hops", kind, flow - HOPS) if first[flow] != last[flow] else ""
        yield track, name, time, '"ph":"X","dur":0', shown


def _flow(name: str, kind: str, number: int) -> str:
    """Of several flows with one number, the name tells which it is. Numbers stay below 2^53, which is all that readers
    of JSON take."""
    end = ',"bp":"e"' if kind == "f" else ""
    return f'"name":"{name}","cat":"{name}","ph":"{kind}","id":{number}{end}'
