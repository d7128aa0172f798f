"""Traces of programs whose order is known, from files that are written here, event by event."""

import importlib.util
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from ..base import memory
from ..base.errors import UserError
from ..base.paths import REPO
from . import counters, symbols
from . import header as headers
from .events import JOINED, NOT_TASK, Kind, Module

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
if HAS_NUMPY:
    from . import chrome, lives, recording, summary, table, timeline


CHUNK = 512
HEADER = 256
FUNCTION, TYPE, ACTOR = 0x1100, 0x1200, 0x7F0000


def header(**changed: Any) -> bytes:
    """Ticks are nanoseconds."""
    known: dict[str, Any] = dict.fromkeys(headers.Header._fields, 0)
    known |= {"magic": headers.MAGIC, "byte_order": headers.BYTE_ORDER, "version": headers.VERSION, "machine": 62}
    known |= {"header_size": HEADER, "chunk_size": CHUNK, "process": 77, "is_complete": 1, "program": b"/bin/server"}
    known |= {"ticks_per_second": 10**9, **changed}
    return headers.HEADER.pack(*known.values()).ljust(HEADER, b"\0")


def event(kind: int, ticks: int, *words: int, arg: int = 0) -> bytes:
    return struct.pack(f"<{1 + len(words)}Q", kind | (1 + len(words)) << 8 | arg << 12 | ticks << 24, *words)


def events(text: str) -> bytes:
    """Several events, such as "task_create 0 1 2, run_end 5 arg=1": of each its kind, ticks, words and arg."""
    found = b""
    for line in text.split(","):
        words, _, arg = line.partition("arg=")
        kind, *numbers = words.split()
        found += event(Kind[kind.upper()], *(int(number, 0) for number in numbers), arg=int(arg or 0))
    return found


def chunk(ring: int, index: int, content: bytes = b"", **head: Any) -> bytes:
    """Of thread 100 + ring."""
    known: dict[str, Any] = {"magic": headers.CHUNK_MAGIC, "type": 1, "ring": ring, "index": index}
    known |= {"thread": 100 + ring, "base": 1000, "running": 0, "sequence": index, "lost": 0, "depth": 0}
    known |= {"name": b"worker", **head}
    return (struct.pack("<IHHIIQQQII16s", *known.values()) + content).ljust(CHUNK, b"\0")


def module(path: str, begin: int, end: int) -> bytes:
    name = path.encode().ljust(len(path) // 8 * 8 + 8, b"\0")
    head = headers.MODULE.pack(56 + len(name), 0, len(path), begin, begin, end, b"")
    return chunk(0, 1, head + name, type=headers.MODULES)


def program() -> bytes:
    """Thread 100 creates tasks 1 and 2; thread 101 runs 1, which hops to an actor, behind 2, and leaves a continuation
    that nobody resumes; 2 sleeps and ends."""
    named = int.from_bytes(b"request", "little")
    first = events(
        f"actor_create 0 {ACTOR} {TYPE}, task_create 10 1 {FUNCTION}, task_name 10 1 {named}, enqueue_global 20 1, "
        f"task_create 30 2 {FUNCTION + 1}, actor_enqueue 40 {ACTOR} 2, enqueue_global 50 0x5000 arg={NOT_TASK}"
    )
    second = events(
        f"run 120 1, task_switch 130 1 {ACTOR}, actor_enqueue 140 {ACTOR} 1, run_end 150, "
        f"run 200 0x5000 arg={NOT_TASK | 192}, actor_dequeue 210 {ACTOR} 2, run 240 2, "
        f"continuation_init 250 2 0x9000, sleep_begin 260 0x6000 500 arg={NOT_TASK}, continuation_await 270 0x9000, "
        "run_end 280"
    )
    third = events(
        f"actor_dequeue 0 {ACTOR} 1, run 10 1, continuation_init 20 1 0x9900, continuation_await 30 0x9900, "
        f"run_end 40, run_end 50, sleep_end 500 0x6000 arg={NOT_TASK}, continuation_resume 510 0x9000, "
        "enqueue_global 520 2, run 600 2, task_cancel 610 2, run_end 700, task_destroy 710 2"
    )
    chunks = [chunk(1, 2, third, base=1300, running=0x5000, depth=1), module("/bin/server", 0x1000, 0x2000)]
    chunks += [chunk(0, 1, first), chunk(1, 1, second)]
    return header() + b"".join(chunks)


def overtaking(tasks: int) -> bytes:
    """Each task is resumed by the other thread before the run in which it waits has ended."""
    chunks = []
    for task in range(1, tasks + 1):
        waits = f"continuation_init 30 {task} 0x9000, continuation_await 40 0x9000, run_end 90"
        own = f"task_create 0 {task} {FUNCTION}, enqueue_global 10 {task}, run 20 {task}, {waits}"
        resumed = f"continuation_resume 50 0x9000, enqueue_global 60 {task}, run 70 {task}"
        other = f"{resumed}, run_end 200, task_destroy 210 {task}"
        chunks += [chunk(ring, task, events(some), base=1000 * task) for ring, some in enumerate((own, other))]
    return header() + b"".join(chunks)


# Task 1 never leaves its thread, on which 2 has begun to wait. What is written until 5,000 tells of nothing more.
ENDLESS = chunk(0, 1, events(f"task_create 0 1 {FUNCTION}, run 0 1, run 10 2, continuation_init 10 2 9, run_end 20"))
FIVE_THOUSAND = {"first_ticks": 1, "last_ticks": 5000, "first_ns": 1, "last_ns": 5000}


class Formats(unittest.TestCase):
    def test_kinds_are_those_of_the_header(self) -> None:
        text = (REPO / "tracing" / "include" / "SwiftConcurrencyTrace.h").read_text()
        kinds = dict(re.findall(r"  swift_trace_(\w+) = (\d+),\n", text[text.index("About the recording itself") :]))
        self.assertEqual({kind.name.lower(): str(kind.value) for kind in Kind}, kinds)
        version = re.search(r"#define SWIFT_TRACE_VERSION (\d+)", text)
        self.assertEqual(version and int(version[1]), headers.VERSION)

    def test_counters(self) -> None:
        def sums(sequence: int, *numbers: int) -> bytes:
            data = struct.pack("<2IQ13Q24QQ", 320, 2, sequence * 1000, *numbers, *range(24), 1_500_000_000)
            return chunk(0, 1, data, type=headers.COUNTERS, sequence=sequence)

        with tempfile.NamedTemporaryFile() as file:
            newest, oldest = sums(9, 50, 20, *range(11)), sums(8, *range(13))
            Path(file.name).write_bytes(header() + sums(7, *range(13)) + newest + oldest + newest[:100])
            found = headers.newest_counters(file.name)
        self.assertEqual((found["monotonic_ns"], found["tasks_created"], found["hops"]), (9000, 50, 3))
        lines, waits = counters.text(found).splitlines(), "swift_concurrency_queue_wait_seconds"
        self.assertIn("swift_concurrency_tasks_live 30", lines)
        self.assertIn("swift_concurrency_sleeps_pending -11", lines)
        self.assertIn(f'{waits}_bucket{{le="4e-06"}} 3', lines)
        last = [f'{waits}_bucket{{le="+Inf"}} 276', f"{waits}_sum 1.500000000", f"{waits}_count 276"]
        self.assertEqual(lines[-3:], last)

    def test_counters_of_a_process_without_the_recorder(self) -> None:
        """A signal would end it."""
        env = {**os.environ, "SWIFT_TRACE": "1", "SWIFT_TRACE_SIGNAL": "USR2"}
        with subprocess.Popen(
            ["sh", "-c", "echo; cat"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            process.stdout.readline()  # /proc has no environment before the program has begun
            with self.assertRaisesRegex(UserError, f"process {process.pid} does not handle SIGUSR2"):
                counters.of_process(process.pid)
            process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0)

    def test_what_cannot_be_read_is_told(self) -> None:
        good = program()
        for data, message in (
            (b"", "is empty"),
            (b"\x7fELF" + good[4:], "is no trace: it does not begin with SwiftTrc"),
            (b"Swi", "is cut in its header, at byte 3 of 240"),
            (good[:100], "is cut in its header, at byte 100 of 240"),
            (header(version=1), "has version 1 of the format; this command reads 2"),
            (header(machine=3), "is of machine 3 of ELF"),
            (header(byte_order=0x04030201), "is of a machine with another byte order, or damaged at byte 8"),
            (header(chunk_size=500), "is damaged: the size of chunks at byte 20 is impossible"),
            (header(header_size=7), "is damaged: the size of the header at byte 16 is impossible"),
            (
                header(last_ticks=1 << 50, ticks_per_second=1000),
                "is damaged: the range of times at byte 32 is impossible",
            ),
            (header(ticks_per_second=0), "is damaged: the rate of the clock at byte 72 is impossible"),
        ):
            with tempfile.NamedTemporaryFile() as file, self.subTest(message):
                Path(file.name).write_bytes(data)
                with self.assertRaises(UserError) as raised:
                    headers.read(file.name)
                self.assertEqual(raised.exception.message, f"{file.name} {message}")
                self.assertTrue(raised.exception.hint)
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(pipe := os.path.join(folder, "pipe"))
            with self.assertRaisesRegex(UserError, "is no regular file"):
                headers.read(pipe)

    def test_a_python_without_numpy(self) -> None:
        lines = "import sys", "sys.modules['numpy'] = None", "from runtime_patches.traces.inside import errors, main"
        argv = [sys.executable, "-B", "-c", "\n".join([*lines, "errors.run_main(main)"]), '{"file": "trace"}']
        done = subprocess.run(argv, cwd=REPO / "utils", stderr=subprocess.PIPE, text=True)
        wanted = "error: python3 has no module numpy\nhint: sudo apt install python3-numpy if --toolchain is given.*\n"
        self.assertRegex(done.stderr, f"^{wanted}$")
        self.assertEqual(done.returncode, 1)


@unittest.skipUnless(shutil.which("swift-demangle"), "no swift-demangle: test/utils/trace runs this in the workspace")
class Symbols(unittest.TestCase):
    def test_a_file_whose_name_is_not_utf_8(self) -> None:
        module = Module(os.fsdecode(b"/bin/tr\xffy"), 0x1000, 0x1000, 0x2000)
        self.assertEqual(symbols.resolve({0x1010}, [module]), {0x1010: "tr\ufffdy+0x10"})

    def test_a_file_that_was_replaced(self) -> None:
        """It has no build ID."""
        with tempfile.NamedTemporaryFile() as file:
            changed = os.stat(file.name).st_ctime_ns
            for since in (changed, changed - 1):
                module = Module(file.name, 0x1000, 0x1000, 0x2000, since=since)
                self.assertEqual(symbols.is_same(module), since == changed)


@unittest.skipUnless(HAS_NUMPY, "no numpy: test/utils/trace runs this in the workspace")
class Reading(unittest.TestCase):
    def read(self, data: bytes) -> Any:
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(data)
            return recording.read(file.name)

    def slices(self, drawn: Any) -> list[str]:
        """The names of all slices."""
        return [drawn.names[i] for one in drawn.groups if isinstance(one, timeline.Slices) for i in one.name.tolist()]

    def summarize(self, data: bytes) -> Any:
        trace = self.read(data)
        paired = lives.pair(trace)
        return trace, paired, summary.summarize(trace, paired)

    def test_a_known_program(self) -> None:
        trace, paired, found = self.summarize(program())
        self.assertEqual(trace.notes, [])
        self.assertEqual(trace.names, {1: "request"})
        self.assertEqual(trace.threads, [(100, "worker"), (101, "worker")])
        self.assertEqual([(one.path, one.begin) for one in trace.modules], [("/bin/server", 0x1000)])
        self.assertEqual((found.tasks, found.seconds), (2, 1010 / 1e9))
        # In the order in which they began: task 1, the drain, 2, 1, 2. The second chunk begins in the drain.
        runs = zip(trace.time[paired.begin].tolist(), trace.time[paired.end].tolist(), paired.task.tolist())
        drain = 3
        one, two = 1, 2
        expected = [(120, 150, one), (200, 350, drain), (240, 280, two), (310, 340, one), (900, 1000, two)]
        self.assertEqual(list(runs), expected)
        rows = {row.function: row for row in found.rows}
        self.assertEqual(rows[FUNCTION].waits, (100.0, 170.0, 170.0))
        self.assertEqual(rows[FUNCTION + 1].waits, (80.0, 200.0, 200.0))
        self.assertEqual((rows[FUNCTION].hops, rows[FUNCTION].total, rows[FUNCTION].count), (1, 60, 2))
        (actor,) = found.actors
        self.assertEqual((actor.address, actor.type, actor.longest, actor.jobs), (ACTOR, TYPE, 2, 2))
        self.assertEqual(actor.waits, (170.0, 200.0, 200.0))
        (thread,) = found.threads
        self.assertEqual((thread.number, thread.runs), (101, 5))
        self.assertAlmostEqual(sum(thread.use) * 26, 30 + 150 + 100)  # what stands in the drain counts once
        left = [(one.function, one.reason, one.tasks, one.longest) for one in found.stranded]
        self.assertEqual(left, [(FUNCTION, "a continuation", 1, 1010 - 320)])
        self.assertEqual((found.counts["task_cancel"], found.counts["sleep_begin"]), (1, 1))

    def test_two_events_in_one(self) -> None:
        """As if each were written. Nothing joins the last one, and a chunk's head is no event."""

        def written(joined: int) -> bytes:
            def two(first: bytes, second: bytes) -> bytes:
                return bytes((first[0] | joined,)) + first[1:] if joined else first + second

            made = two(event(Kind.TASK_CREATE, 10, 1, FUNCTION, arg=25), event(Kind.ENQUEUE_GLOBAL, 10, 1))
            made += event(Kind.RUN, 20, 1, FUNCTION)
            made += two(event(Kind.TASK_WAIT, 30, 1, 2), event(Kind.RUN_END, 30))
            made += event(Kind.RUN, 40, 2, FUNCTION)
            made += two(event(Kind.TASK_RESUME, 50, 1), event(Kind.ENQUEUE_GLOBAL, 50, 1))
            return made + event(Kind.RUN_END, 60) + event(Kind.TASK_DESTROY | joined, 70, 2)

        head = {"running": JOINED}
        columns = [
            [getattr(trace, name).tolist() for name in ("time", "kind", "arg", "task", "value", "more", "segment")]
            for trace in (self.read(header() + chunk(0, 1, written(joined), **head)) for joined in (0, JOINED))
        ]
        self.assertEqual(len(columns[0][0]), 10)
        self.assertEqual(*columns)

    def test_a_job_that_never_ends(self) -> None:
        """Nothing happens any more until the file is written, at 5,000."""
        _, paired, found = self.summarize(header(**FIVE_THOUSAND) + ENDLESS)
        self.assertEqual(paired.stop.tolist(), [4000, 20])
        self.assertEqual([round(sum(one.use) / len(one.use), 3) for one in found.threads], [1])
        self.assertEqual([(one.tasks, one.longest) for one in found.stranded], [(1, 3990)])

    def test_a_task_that_was_created_before(self) -> None:
        """Its first run here says where it goes on."""
        known = f"task_create 8 2 {FUNCTION}, run_end 9, run 10 2 {FUNCTION}"
        made = events(f"run 5 1 {FUNCTION + 1}, run_end 6, run 7 1 {FUNCTION + 2}, {known}")
        _, paired, _ = self.summarize(header() + chunk(0, 1, made))
        self.assertEqual(paired.function.tolist(), [FUNCTION + 1, FUNCTION])

    def test_a_task_of_which_nothing_is_known(self) -> None:
        """It is alone in its row: the event before it is of no task."""
        found = self.summarize(header() + chunk(0, 1, events("pool_wake 5 1, run 6 1")))[2]
        self.assertEqual([(row.function, row.tasks, row.count) for row in found.rows], [(0, 1, 1)])

    def test_a_task_that_sleeps_at_the_end(self) -> None:
        waits = "continuation_init 6 1 9, sleep_begin 7 1 100, continuation_await 8 9"
        made = events(f"task_create 0 1 {FUNCTION}, run 5 1, {waits}, run_end 9")
        found = self.summarize(header() + chunk(0, 1, made))[2]
        self.assertEqual([one.reason for one in found.stranded], ["a sleep"])

    def test_how_times_are_shown(self) -> None:
        times = (0, 999.4, 999.5, 1000, 999_499, 999_500, 17_340_000, 999_600_000, 5e9, 999.4e9, 999.6e9, 8_640_000e9)
        shown = ["0 ns", "999 ns", "1 us", "1 us", "999 us", "1 ms", "17.3 ms", "1 s", "5 s", "999 s", "1000 s"]
        self.assertEqual([table._time(time) for time in times], [*shown, "8640000 s"])

    def test_closures_behind_a_thunk(self) -> None:
        made = events(
            f"task_create 0 1 {FUNCTION}, run 1 1, task_create 2 2 0x1300, task_create 2 3 {FUNCTION + 8}, run_end 3, "
            "run 4 2, task_create 5 4 0x1300, run_end 6, task_create 7 5 0x1300"
        )
        _, paired, _ = self.summarize(header() + chunk(0, 1, made))
        functions = {FUNCTION: "serve()", FUNCTION + 8: "serve()", 0x1300: "thunk for @async"}
        lives.look_through(paired, functions)
        names = [functions[address] for address in paired.function.tolist()]
        self.assertEqual(names, ["serve()", "a closure in serve()", "serve()", "thunk for @async", "thunk for @async"])
        self.assertEqual(len(set(paired.function.tolist())), 3)

    def test_one_that_is_too_large_for_the_memory(self) -> None:
        told = self.assertRaisesRegex(UserError, "a trace of 0 MB would need about 0 MB of memory")
        with mock.patch.object(memory, "available", return_value=10_000), told:
            self.read(program())

    def test_cut_everywhere(self) -> None:
        data, whole = program(), len(self.read(program()).time)
        for length in range(HEADER, len(data), 40):
            trace, _, found = self.summarize(data[:length])
            self.assertLessEqual(len(trace.time), whole)
            if (length - HEADER) % CHUNK:
                self.assertIn(f"the file is cut at byte {length:,}, in chunk", trace.notes[0])
        self.assertEqual(found.events, len(trace.time))
        notes = self.summarize(data[: HEADER - 1])[0].notes
        self.assertEqual(notes, ["the file is cut at byte 255, in the header: this is what comes before"])

    def test_damaged(self) -> None:
        data, at = bytearray(program()), HEADER + 3 * CHUNK
        data[at : at + 4] = b"oops"
        notes = self.read(bytes(data)).notes
        self.assertEqual(notes, [f"1 of 4 chunks are damaged, the first at byte {at:,}: they are left out"])
        data = bytearray(program())
        data[HEADER + 64 + 1] &= 0xF0  # the size of the first event
        self.assertIn("1 of 3 chunks have a damaged event", self.read(bytes(data)).notes[0])
        # Anything may stand in a file: it is read, or an error says what is wrong.
        for place in range(0, len(program()), 13):
            data = bytearray(program())
            data[place] ^= 0xFF
            try:
                self.summarize(bytes(data))
            except UserError as error:
                self.assertTrue(error.hint)

    def test_losses(self) -> None:
        data = header(lost=12, overwritten=1000, reason=3, signal=11, is_complete=0)
        data += chunk(0, 4, events("run 5 1"), lost=3)
        # Chunk 5 is missing: an end that follows is not the end of that run.
        data += chunk(0, 6, events("run_end 90, lost 100 7, run 110 2"), depth=1, running=9, base=1100)
        trace, paired, found = self.summarize(data)
        self.assertEqual((trace.lost, trace.overwritten, trace.complete), ({0: 10, -1: 2}, 1000, 95))
        self.assertEqual(trace.notes[0], "written because of SIGSEGV")
        told = table.text(trace, found, dict.fromkeys(paired.function.tolist(), "f"), {}, 8)
        self.assertIn("lost events: 10 of thread 100, 2 of unknown threads; 1,000 older ones", told)
        trace.lost = {-1: 1234}
        self.assertIn("lost events: 1,234 of unknown threads; ", table._lost(trace))
        self.assertEqual(paired.tasks[paired.task].tolist(), [1, 9, 2])
        self.assertEqual([trace.time[i] if i >= 0 else None for i in paired.end.tolist()], [None, 185, None])

    def test_what_was_overwritten_is_not_guessed(self) -> None:
        """Thread 100 keeps its only chunk, in which tasks 1 and 2 were enqueued, and 3 waits. Chunk 1 of thread 101, in
        which 1 ran and was enqueued again, and 3 went on, was overwritten."""
        created = "".join(f"task_create 0 {task} {FUNCTION}, " for task in (1, 2, 3))
        old = "enqueue_global 10 1, run 20 3, continuation_init 30 3 9, continuation_await 40 9, run_end 50"
        new = "run 0 1, continuation_init 10 1 8, run_end 20, enqueue_global 30 2, run 40 2, run_end 50"
        data = header(overwritten=9) + chunk(0, 1, events(created + old)) + chunk(1, 2, events(new), base=9000)
        trace, paired, found = self.summarize(data)
        self.assertEqual(trace.complete, 8000)
        self.assertEqual(found.waits, (10.0, 10.0, 10.0))
        self.assertEqual([(one.reason, one.tasks, one.longest) for one in found.stranded], [("a continuation", 1, 40)])
        self.assertEqual([(one.number, sum(one.use) * 2) for one in found.threads], [(101, 30), (100, 0)])
        made = timeline.draw(trace, paired, {}, {})
        drawn = self.slices(made)
        self.assertEqual((drawn.count("in a queue"), drawn.count("waits for a continuation")), (1, 1))
        counters = [one for one in made.groups if isinstance(one, timeline.Counter)]
        self.assertEqual([one.value.tolist() for one in counters], [[], [], [1, 0]])

    def test_a_full_disk(self) -> None:
        """The program went on until 5,000, but nobody knows with what."""
        trace, paired, found = self.summarize(header(**FIVE_THOUSAND, error=28) + ENDLESS)
        self.assertEqual((trace.end, paired.stop.tolist(), found.stranded), (20, [20, 20], []))
        self.assertIn("No space left on device; the trace ends there", trace.notes[0])

    def test_queues_of_other_executors(self) -> None:
        """Task 1 is resumed before it awaits, then hops; task 2 hops to an actor that is free."""
        one = "run 0 1, continuation_init 1 1 9, continuation_resume 2 9, task_switch 3 1 0x8000, run_end 4"
        two = f"run 60 2, task_switch 61 2 {ACTOR} arg=1, run_end 62, run 70 2, run_end 71"
        made = events(f"{one}, run 50 1, run_end 51, {two}")
        trace, paired, _ = self.summarize(header() + chunk(0, 1, made))
        drawn = self.slices(timeline.draw(trace, paired, {}, {}))
        self.assertEqual((drawn.count("waits for another executor"), drawn.count("suspended")), (1, 1))

    def test_what_moments_are_called(self) -> None:
        made = events(
            f"task_create 0 1 {FUNCTION}, group_add 1 8 1, enqueue_global 2 1, group_next 3 8 2, enqueue_global 4 2, "
            f"task_switch 5 3 {ACTOR}, actor_enqueue 6 {ACTOR} 3, task_switch 7 3, enqueue_global 8 3, "
            "enqueue_global 9 4"
        )
        trace, paired, _ = self.summarize(header() + chunk(0, 1, made))
        drawn = timeline.draw(trace, paired, {}, {})
        moments = next(one for one in drawn.groups if isinstance(one, timeline.Moments))
        expected = ["create", "resume", "hop to an actor", "hop to another executor", "enqueue"]
        self.assertEqual([drawn.names[i] for i in moments.name.tolist()], expected)

    def test_names_that_threads_inherit(self) -> None:
        name = {"name": b"swift-pool-0"}
        data = header() + chunk(0, 1, events("pool_thread 0 0, run 1 1"), **name)
        data += chunk(1, 1, events("run 2 2"), **name) + chunk(2, 1, events("run 3 3"), name=b"swift-pool-1")
        self.assertEqual(self.summarize(data)[0].threads, [(100, "swift-pool-0"), (101, ""), (102, "swift-pool-1")])

    def test_what_was_lost_ends_no_wait(self) -> None:
        """Only what was overwritten moves the time from which nothing is missing."""
        old, new = events(f"task_create 0 1 {FUNCTION}, enqueue_global 10 1"), events("run 0 1, run_end 20")
        trace, _, found = self.summarize(header() + chunk(0, 1, old) + chunk(0, 2, new, base=1100, lost=1))
        self.assertEqual((trace.complete, found.waits), (0, (90.0, 90.0, 90.0)))

    def test_time_bases_and_threads_in_a_chunk(self) -> None:
        name = int.from_bytes(b"later", "little")
        made = events(f"run 5 1, run_end 6, time 0 5000, run 1 2, run_end 3, thread 4 222 {name} 0")
        made += event(200, 4, 1, 2, 3) + events("run 10 3, run_end 12")
        trace, paired, _ = self.summarize(header() + chunk(0, 1, made))
        self.assertEqual(trace.threads, [(100, "worker"), (222, "later")])
        self.assertEqual(trace.time[paired.begin].tolist(), [0, 3996, 4005])
        self.assertEqual(trace.thread[paired.begin].tolist(), [0, 0, 1])

    def test_a_process_that_is_up_for_months(self) -> None:
        """A file that is still written may have later times than its header, and others may not."""
        begin, end = 1 << 10, 1 << 56  # times of which doubles are exact
        known = {"first_ticks": begin, "last_ticks": end, "first_ns": begin, "last_ns": end}
        chunks = [chunk(i, 1, events(f"run 0 {1 + i}"), base=time) for i, time in enumerate((begin, end, 2 * end))]
        data = header(**known, is_complete=0) + b"".join(chunks)
        self.assertEqual(self.read(data).time.tolist(), [0, end - begin, 2 * end - begin])
        for changed in ({"is_complete": 1}, {"is_complete": 0, "reason": 1}):
            trace = self.read(header(**known, **changed) + b"".join(chunks))
            self.assertEqual(trace.time.tolist(), [0, end - begin])
            self.assertIn("1 events have times that cannot be: they are left out", trace.notes)

    def test_a_system_that_was_suspended(self) -> None:
        """The counter went on, began anew or stopped, and the rate that was measured at the start counts."""
        second, made = 10**9, chunk(0, 1, events("run 0 1, run_end 900"))
        for first, last, length, notes in (
            (1, second + second // 200, 895, []),
            (1, 3 * second, 900, ["the clocks went on differently"]),
            (3 * second, second, 900, ["the clocks went on differently"]),
            (1, second // 2, 900, ["the clocks went on differently"]),
        ):
            with self.subTest(first=first, last=last):
                data = header(first_ticks=first, last_ticks=last, first_ns=1, last_ns=second)
                trace = self.read(data + made)
                self.assertEqual([note.partition(",")[0] for note in trace.notes], notes)
                self.assertEqual(trace.time.tolist(), [0, length])

    def test_nothing(self) -> None:
        for data in (header(), header() + bytes(CHUNK), header() + chunk(0, 1)):
            self.assertEqual(self.summarize(data)[2].events, 0)

    def test_chrome(self) -> None:
        trace, paired, _ = self.summarize(program())
        made = timeline.draw(trace, paired, {FUNCTION: "serve()"}, {TYPE: "Database"})
        output = io.BytesIO()
        chrome.write(made, 77, output)
        events = json.loads(output.getvalue())["traceEvents"]
        names = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
        self.assertIn("request #1", names.values())
        self.assertIn(f"Database {ACTOR:#x}", names.values())
        task = [
            (one["name"], one["ts"], one["dur"])
            for one in events
            if names.get(one.get("tid")) == "request #1" and one["ph"] == "X"
        ]
        expected = [("in a queue", 0.02, 0.1), ("runs", 0.12, 0.02), ("in a queue", 0.14, 0.17), ("runs", 0.31, 0.03)]
        expected += [("waits for a continuation", 0.34, 0.67)]
        self.assertEqual([(name, round(ts, 6), round(dur, 6)) for name, ts, dur in task], expected)
        starts = {one["id"] for one in events if one["ph"] == "s"}
        self.assertEqual({one["id"] for one in events if one["ph"] == "f"}, starts - {7})

    def test_hops_in_chrome(self) -> None:
        """A flow begins at the first hop of a task and ends at the last one. Task 5 hops once."""
        made = ", ".join(f"task_switch {tick} {task} {ACTOR}" for tick, task in enumerate((3, 4, 3, 5, 4, 3, 3)))
        trace, paired, _ = self.summarize(header() + chunk(0, 1, events(made)))
        output = io.BytesIO()
        chrome.write(timeline.draw(trace, paired, {}, {}), 77, output)
        hops = [one for one in json.loads(output.getvalue())["traceEvents"] if one.get("cat") == "hops"]
        found = {task: "".join(one["ph"] for one in hops if one["id"] == task) for task in (3, 4, 5)}
        self.assertEqual((found, len(hops)), ({3: "sttf", 4: "sf", 5: ""}, 6))
