"""Runs a test bundle on a runtime: XCTest and Swift Testing are two runs of one program.

A test that ends the process, or that hangs, costs itself only: the others run in a further process.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Optional

from ..base.errors import UserError
from ..base.paths import BUILD
from ..base.process import captured, ending, start
from ..runtimes.libraries import LIBRARIES
from ..runtimes.runtime import Runtime
from ..workspace.find import Workspace
from . import loaded
from .description import Checkout

PASSED, FAILED, SKIPPED, CRASHED, HUNG, NOT_RUN = "passed", "failed", "skipped", "crashed", "hung", "not run"
# What counts as a failure.
BAD = (FAILED, CRASHED, HUNG, NOT_RUN)

_MOST_OUTPUT = 256 << 20  # bytes of one process: a test that prints without end must not fill the disk
_MOST_PROCESSES = 12  # for one bundle: after so many crashes the rest is not run
_LONGEST_LIST = 60_000  # characters: an argument may have 128 KB
_START = 30  # seconds to a process's first test, and from one to the next, which a busy machine may take
_NO_TESTS = 69  # Swift Testing's exit status


class Test(str):
    """The name of a test. library: "xctest" or "swift-testing"."""

    library = "xctest"
    beside: Sequence[str] = ()  # what ran when the process ended that this stands for

    @classmethod
    def of(cls, name: str, library: str, beside: Sequence[str] = ()) -> Test:
        made = cls(name)
        made.library, made.beside = library, beside
        return made


# Of a library: what takes a line that a process writes, the arguments for a list of tests or for all, the file with the
# lines if that is not the output.
_Library = tuple[Callable[[str], None], Callable[[Optional[list[Test]]], list[str]], Optional[Path]]


class Bundle:
    """The tests of one package.

    checkout: its Checkout; files: {runtime: the program that runs on it}; binds: more folders that tests read;
    timeout: seconds that a test may take; wanted: a regular expression of those that are run; parallel: whether
    XCTest runs in as many processes at once as there are cores. Swift Testing runs tests at once by itself.
    """

    def __init__(
        self,
        ws: Workspace,
        checkout: Checkout,
        files: Mapping[Runtime, Path],
        *,
        binds: Iterable[Path] = (),
        timeout: float = 300,
        wanted: str = "",
        parallel: bool = False,
    ) -> None:
        self.ws, self.checkout, self.name, self.files = ws, checkout, checkout.name, files
        self.binds, self.timeout = [checkout.folder, *binds], timeout
        self.wanted, self.skip = re.compile(wanted), [re.compile(text) for text in checkout.package.skip]
        self.scratch = BUILD / "clients" / "scratch" / str(os.getpid())
        self.place = self.scratch / "package"
        self.workers = len(os.sched_getaffinity(0)) if parallel else 1
        self.listed = []
        self.is_over = False  # somebody has interrupted it

    def tests(self, runtime: Runtime) -> list[Test]:
        """The tests, in the order in which they run."""
        listed = self._capture(runtime, ["--list-tests"])
        found = [Test.of(line, "xctest") for line in listed.splitlines() if re.fullmatch(r"[^\s/]+\.[^\s/]+/\S+", line)]
        testing = self._capture(runtime, ["--testing-library", "swift-testing", "--list-tests"], (0, _NO_TESTS))
        found += [Test.of(line, "swift-testing") for line in testing.splitlines() if re.match(r"\w+\..*\)$", line)]
        self.listed = list(dict.fromkeys(found))
        return [
            test for test in self.listed if self.wanted.search(test) and not any(one.search(test) for one in self.skip)
        ]

    def run(self, runtime: Runtime, tests: Sequence[Test], show: Callable[[], None] = lambda: None) -> dict[Test, str]:
        """{test: outcome} of `tests` on a runtime; show: called after each."""
        # Tests may look for files from where they are started, and may write there.
        if not self.place.exists():
            self.place.mkdir(parents=True)
            for path in self.checkout.folder.iterdir():
                (self.place / path.name).symlink_to(path)
        outcomes, parts = {}, []
        for library in ("xctest", "swift-testing"):
            chosen = [test for test in tests if test.library == library]
            # Neighbours, of which all may be slow, go to different parts.
            number = min(len(chosen), 16 * self.workers if self.workers > 1 and library == "xctest" else 1)
            parts += [chosen[first::number] for first in range(number)]
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            try:
                for found in pool.map(lambda part: self._rounds(runtime, part, show), parts):
                    outcomes.update(found)
            except BaseException:
                self.is_over = True
                raise
        return outcomes

    def _rounds(self, runtime: Runtime, tests: Sequence[Test], show: Callable[[], None]) -> dict[Test, str]:
        """Starts processes until all tests have an outcome."""
        outcomes, left, is_cut = {}, list(tests), False
        for _ in range(_MOST_PROCESSES):
            process = self._drive(runtime, left, show)
            outcomes.update(process.outcomes)
            if is_cut and (process.outcomes or process.suspects):
                # These could run: so the process before, of which nothing else tells it, ended too early.
                outcomes[_process_of(tests[0].library, (), ())] = CRASHED
            for suspect in process.suspects:
                # Several ran at once: each of them alone tells which one it was.
                alone = process if len(process.suspects) == 1 else self._drive(runtime, [suspect], show)
                outcomes.update(alone.outcomes)
                if suspect in alone.suspects:
                    outcomes[suspect] = alone.end
            before, left = len(left), [test for test in left if test not in outcomes]
            is_well = not process.suspects and not any(outcome in BAD for outcome in process.outcomes.values())
            # All tests are well, and yet the process is not: a crash or a report of a leak at its end, or one of
            # several tests that ran at once, and of which each goes well alone.
            is_explained = any(outcomes.get(test) in BAD for test in process.suspects)
            if process.end and not is_explained or process.status and is_well and not left:
                outcomes[_process_of(tests[0].library, process.suspects, left)] = process.end or CRASHED
            is_cut = not process.suspects and not process.end
            if not left or len(left) == before:
                break
        return {**outcomes, **dict.fromkeys(left, NOT_RUN)}

    def _drive(self, runtime: Runtime, tests: Sequence[Test], show: Callable[[], None]) -> _Process:
        process = _Process(self, runtime, tests, show)
        library = self._xctest if tests[0].library == "xctest" else self._swift_testing
        take, arguments, events = library(process, tests)
        # By name, if these are not simply all.
        is_all = set(tests) >= {test for test in self.listed if test.library == tests[0].library}
        parts: Iterable[list[Test] | None] = [None] if is_all else _parts(tests)
        for part in parts:
            process.start(arguments(part))
            process.follow(take, events)
            if process.end:
                break
        return process

    def _xctest(self, process: _Process, tests: Sequence[Test]) -> _Library:
        """XCTest, whose output names the tests as they start and end."""
        by_line, last = collections.defaultdict(collections.deque), {}
        for test in tests:
            # The list says Module.Class/method, the output Class.method.
            by_line[re.sub(r"^[^.]*\.", "", test).replace("/", ".")].append(test)

        def take(text: str) -> None:
            for found in re.finditer(r"Test Case '(.+?)' (started at|passed|failed|skipped)", text):
                waiting, outcome = by_line.get(found[1]), found[2]
                if outcome == "started at" and waiting:
                    process.started(waiting[0])
                elif waiting:
                    last[found[1]] = waiting.popleft()
                    process.ended(last[found[1]], outcome)
                elif found[1] in last and outcome == FAILED:
                    process.ended(last[found[1]], outcome)  # what said otherwise was printed by the test itself

        return take, lambda part: [",".join(part)] if part else [], None

    def _swift_testing(self, process: _Process, tests: Sequence[Test]) -> _Library:
        """Swift Testing, whose events go to a file as JSON. A test has failed if an issue of it is an error that is
        not known."""
        wanted = {str(test): test for test in tests}
        events = self.scratch / f"events-{time.monotonic_ns()}.json"
        failed = set()

        def take(text: str) -> None:
            try:
                record = json.loads(text)
                payload, kind = record["payload"], record["payload"]["kind"]
                # The list says Module.Suite/test(), an event also where that stands: …/File.swift:12:3.
                test = wanted.get(re.sub(r"/[^/]*:\d+:\d+$", "", payload.get("testID", "")))
            except (ValueError, KeyError, TypeError, AttributeError):
                return
            if not test:
                return
            if kind == "testStarted":
                process.started(test)
            elif kind == "testSkipped":
                process.ended(test, SKIPPED)
            elif kind == "issueRecorded":
                issue = payload.get("issue", {})
                if not issue.get("isKnown") and issue.get("_severity", "error") == "error":
                    failed.add(test)
            elif kind == "testEnded":
                process.ended(test, FAILED if test in failed else PASSED)

        def arguments(part: list[Test] | None) -> list[str]:
            names = [re.sub(r"([][{}()*+?.\\^$|/])", r"\\\1", test) for test in part or ()]
            filters = [word for name in names for word in ("--filter", f"^{name}(/|$)")]
            stream = ["--event-stream-output-path", str(events), "--event-stream-version", "0"]
            return ["--testing-library", "swift-testing", *stream, *filters]

        return take, arguments, events

    def command(self, runtime: Runtime, arguments: Iterable[str] = (), words: Iterable[str] = ()) -> list[str]:
        """The command line that runs the bundle on a runtime; words: what starts it."""
        return loaded.command(self.ws, runtime, [*words, self.files[runtime], *arguments], self.binds)

    def _capture(self, runtime: Runtime, arguments: Sequence[str], good: Collection[int] = (0,)) -> str:
        try:
            done = captured(self.command(runtime, arguments), timeout=max(self.timeout, _START))
        except subprocess.TimeoutExpired as late:
            what = f"the tests of {self.name} cannot be listed: no answer within {late.timeout:g} s"
            raise UserError(what, "does the package run code before main()?") from None
        # A package with a LinuxMain.swift of its own knows XCTest only.
        if done.returncode not in good and 'Invalid option "--testing-library"' not in done.stderr + done.stdout:
            ended = ending(done.returncode, done.stderr)
            by_hand = ["utils/with-runtime", *self.command(runtime, arguments)[-len(arguments) - 3 :]]
            raise UserError(f"the tests of {self.name} cannot be listed on {runtime}: it {ended}", " ".join(by_hand))
        return done.stdout


def _process_of(library: str, running: Sequence[str], left: Sequence[str]) -> Test:
    """What stands for a process that ended badly although each test goes well."""
    name = "the tests beside each other" if running or left else "the end of the process"
    return Test.of(f"{name} ({library})", library, running)


def _parts(tests: Iterable[Test]) -> Iterator[list[Test]]:
    """Lists of tests whose names fit into a command line."""
    part, length = [], 0
    for test in tests:
        if part and length + len(test) + 20 > _LONGEST_LIST:
            yield part
            part, length = [], 0
        part.append(test)
        length += len(test) + 20
    if part:
        yield part


class _Process:
    """Processes of a bundle, one after the other, until one does not end well.

    outcomes: of the tests that ended; suspects: those that were running when the process ended;
    end: None, CRASHED or HUNG; status: the exit status of the last process.
    """

    def __init__(self, bundle: Bundle, runtime: Runtime, tests: Sequence[Test], show: Callable[[], None]) -> None:
        self.bundle, self.runtime, self.show = bundle, runtime, show
        self.outcomes, self.running, self.suspects = {}, {}, []
        self.end: str | None = None
        self.status = 0
        # Each of the pool's threads has one process at a time.
        part = threading.current_thread().name.rpartition("_")[2]
        library = tests[0].library + f"-{part}" * (bundle.workers > 1)
        self.log = BUILD / "logs" / f"clients-{bundle.name}-{runtime.plain}-{library}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.loads = bundle.scratch / f"loads-{part}"

    def started(self, test: Test) -> None:
        self.running[test] = self.last = time.monotonic()

    def ended(self, test: Test, outcome: str) -> None:
        self.running.pop(test, None)
        self.outcomes[test] = outcome
        self.last = time.monotonic()
        self.show()

    def start(self, arguments: Iterable[str]) -> None:
        bundle = self.bundle
        for path in bundle.scratch.glob(f"{self.loads.name}.*"):
            path.unlink()
        words = loaded.environment(self.loads, {"SWIFT_BACKTRACE": "enable=off"})
        with open(self.log, "ab") as log:
            self.begin = log.tell()
            command = bundle.command(self.runtime, arguments, words)
            self.process = start(command, stdout=log, stderr=subprocess.STDOUT, cwd=bundle.place)
        self.last = time.monotonic()

    def follow(self, take: Callable[[str], None], events: Path | None = None) -> None:
        """Gives each line of the output, or of the file `events`, to `take`, until the process ends or hangs."""
        lines = _Lines(events, 0) if events else _Lines(self.log, self.begin)
        try:
            while self.process.poll() is None and not self.end:
                time.sleep(0.02)
                if self.bundle.is_over:
                    raise concurrent.futures.CancelledError
                for line in lines.new():
                    take(line)
                if self.log.stat().st_size - self.begin > _MOST_OUTPUT or self._hangs():
                    self.end = HUNG
        finally:
            self._kill()
        for line in [*lines.new(), lines.rest]:
            take(line)
        if events:
            events.unlink(missing_ok=True)
        self.status = self.process.returncode
        if self.end is None and (self.status < 0 or self.running):
            self.end = CRASHED
        self.suspects = list(self.running)
        self.running = {}
        self._prove()

    def _hangs(self) -> bool:
        """Whether a test has run too long, or nothing at all happens."""
        now, most = time.monotonic(), self.bundle.timeout
        if any(now - since > most for since in self.running.values()):
            # Those that have just been started are not to blame.
            self.running = {test: since for test, since in self.running.items() if now - since > most / 2}
            return True
        return not self.running and now - self.last > max(most, _START)

    def _kill(self) -> None:
        """Ends the process, and what tests have left: all of its session, in any group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                state, _, _, session = (folder / "stat").read_text().rpartition(") ")[2].split()[:4]
                if int(session) == self.process.pid and state != "Z":
                    os.kill(int(folder.name), signal.SIGKILL)
        self.process.wait()

    def _prove(self) -> None:
        """UserError if the process has not loaded the libraries of its runtime, or has loaded other ones."""
        found = loaded.libraries(self.loads, self.process.pid)
        if any(one.always and one.name not in found for one in LIBRARIES) and (self.end or self.status):
            what = f"the tests of {self.bundle.name} do not start on {self.runtime} (the program {ending(self.status)})"
            raise UserError(what, f"the output is in {self.log}")
        loaded.check(found, self.bundle.name, self.runtime)


class _Lines:
    """The lines of a file that is written, from the byte `read` on; rest: what follows the last line's end."""

    def __init__(self, path: Path, read: int) -> None:
        self.path, self.read, self.rest = path, read, ""

    def new(self) -> list[str]:
        """Those that have come since the last time."""
        if not self.path.exists():
            return []
        with open(self.path, "rb") as file:
            file.seek(self.read)
            data = file.read()
        self.read += len(data)
        *lines, self.rest = (self.rest + data.decode(errors="replace")).split("\n")
        self.rest = self.rest[-(1 << 20) :]
        return lines
