"""Prints the events of a file of the recorder, one a line, in the order of their time.

dump_trace.py FILE [PREFIX]: with PREFIX, only the events of tasks whose names begin with it, and names instead of IDs;
"=" is none of them, but the first line with what is known of the whole file.
It knows as much of SwiftConcurrencyTrace.h as the tests need, and stops at whatever that does not allow.
"""

import struct
import sys
from pathlib import Path

KINDS = {
    1: "time", 2: "thread", 3: "lost", 4: "first_job",
    8: "create", 9: "name", 10: "destroy", 11: "status", 12: "wait", 13: "resume", 14: "cancel",
    15: "continuation", 16: "await", 17: "continue",
    24: "enqueue_global", 25: "enqueue_delayed", 26: "enqueue_main", 27: "run", 28: "end",
    32: "actor_create", 34: "actor_deallocate", 35: "actor_enqueue", 36: "actor_dequeue",
    39: "switch", 48: "group_add", 49: "group_next",
    56: "sleep", 57: "awake", 58: "sleep_cancelled", 64: "deinit", 65: "deinit_job",
    72: "steal", 73: "wake", 74: "stand_in", 75: "park", 76: "unpark", 77: "worker",
}  # fmt: skip
#: Which words are IDs of tasks, of 1 and 2.
TASKS = {
    8: (1,), 9: (1,), 10: (1,), 11: (1,), 12: (1, 2), 13: (1,), 14: (1,), 15: (1,), 24: (1,), 25: (1,), 26: (1,),
    27: (1,), 35: (2,), 36: (2,), 39: (1,), 48: (2,), 49: (2,), 56: (1,), 57: (1,), 58: (1,),
}  # fmt: skip

#: What follows an event of one of these kinds with JOINED, with so many words of it.
JOINED, SECONDS = 128, {8: (24, 1), 13: (24, 1), 12: (28, 0)}

data = Path(sys.argv[1]).read_bytes()
prefix = sys.argv[2] if len(sys.argv) > 2 else None
magic, order, version, machine, header_size, chunk_size, pid, clock, reason, complete, signal = struct.unpack_from(
    "<8sIHHIIIBBBB", data
)
assert (magic, order, version) == (b"SwiftTrc", 0x01020304, 2), "not a file of the recorder"
assert header_size % 4096 == 0 and chunk_size & (chunk_size - 1) == 0
overwritten, lost = struct.unpack_from("<QQ", data, 80)
events: list[tuple[int, int, int, int, int, tuple[int, ...]]] = []
names: dict[int, str] = {}
sequences: set[tuple[int, int]] = set()
modules = counters = 0
for start in range(header_size, len(data), chunk_size):
    chunk = data[start : start + chunk_size]
    if len(chunk) < 64:
        continue
    mark, kind, ring, index, thread, base, running, sequence, gap, depth = struct.unpack_from("<IHHIIQQQII", chunk)
    if not mark:
        continue
    assert mark == 0x43525453, f"chunk at {start} has another magic"
    modules += kind == 2
    counters += kind == 3
    if kind != 1:
        continue
    assert (ring, index) not in sequences, "two chunks of a ring have one number"
    sequences.add((ring, index))
    assert sequence and thread and thread >= 1
    at, last = 64, 0
    while at + 8 <= len(chunk):
        (head,) = struct.unpack_from("<Q", chunk, at)
        what, size, argument, delta = head & 127, head >> 8 & 15, head >> 12 & 4095, head >> 24
        if not head & 255 or at + 8 * size > len(chunk):
            break
        assert what in KINDS, f"kind {what} at {start + at}"
        assert size, f"an event without a size at {start + at}"
        words = struct.unpack_from(f"<{size - 1}Q", chunk, at + 8)
        if what == 1:
            (base,) = words
            last = 0
        elif what == 2:
            thread = words[0]
        elif what == 9:
            names[words[0]] = struct.pack(f"<{size - 2}Q", *words[1:]).rstrip(b"\0").decode()
        assert what != 27 or words[1], f"a run without a function at {start + at}"
        assert delta >= last, f"time goes back at {start + at}"
        last = delta
        events.append((base + delta, ring, index, at, thread, (what, argument, *words)))
        if head & JOINED:
            second, count = SECONDS[what]
            events.append((base + delta, ring, index, at, thread, (second, 0, *words[:count])))
        at += 8 * size
    assert not any(chunk[at:]) or len(chunk) < chunk_size or at + 8 * 15 >= len(chunk), f"after the end at {start + at}"
events.sort(key=lambda event: event[:4])
print(f"reason={reason} signal={signal} complete={complete} overwritten={overwritten} lost={lost}", end=" ")
print(f"events={len(events)} threads={len({event[4] for event in events})}", end=" ")
missing = sum(index > 1 and (ring, index - 1) not in sequences for ring, index in sequences)
print(f"modules={modules} counters={counters} missing={missing}")
if prefix == "=":
    sys.exit()
wanted = {task: name for task, name in names.items() if prefix and name.startswith(prefix)}
on: dict[int, list[int]] = {}
for _, _, _, _, thread, (what, argument, *rest) in events:
    stack = on.setdefault(thread, [])
    mine = [rest[i - 1] for i in TASKS.get(what, ())]
    if what == 27:
        stack.append(rest[0])
    shown = [*mine, *([stack[-1]] if stack and what in (16, 28) else [])]
    if what == 28 and stack:
        stack.pop()
    if prefix is None:
        print(thread, KINDS[what], f"{argument:#x}", *(hex(word) for word in rest))
    elif any(task in wanted for task in shown) and what != 9:
        print(KINDS[what], *(wanted.get(task, "-") for task in shown), argument if what in (8, 17, 39) else "")
