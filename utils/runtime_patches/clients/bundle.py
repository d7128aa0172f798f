"""Runs a test bundle on a runtime: XCTest and Swift Testing are two runs of one program.

A test that ends the process, or that hangs, costs itself only: the others run in a further process.
"""

import collections
import json
import os
import re
import selectors
import signal
import subprocess
import time
from pathlib import Path

from ..base.errors import UserError
from ..base.paths import BUILD, UTILS
from ..base.process import ending
from ..runtimes.libraries import LIBRARIES
from . import loaded

PASSED, FAILED, SKIPPED, CRASHED, HUNG, NOT_RUN = "passed", "failed", "skipped", "crashed", "hung", "not run"
# What counts as a failure.
BAD = (FAILED, CRASHED, HUNG, NOT_RUN)

_WITH_RUNTIME = str(UTILS / "with-runtime")
_MOST_OUTPUT = 256 << 20  # bytes of one process: a test that prints without end must not fill the disk
_MOST_PROCESSES = 12  # for one bundle: after so many crashes the rest is not run
_LONGEST_LIST = 60_000  # characters: an argument may have 128 KB
_NO_TESTS = 69  # Swift Testing's exit status


class Test(str):
    """The name of a test. library: "xctest" or "swift-testing"."""

    library = "xctest"

    @classmethod
    def of(cls, name, library):
        made = cls(name)
        made.library = library
        return made


class Bundle:
    """The tests of one package.

    files: {flavour: path of the program}; folder: of the package, like which the tests see theirs; options:
    those of utils/with-runtime; binds: more folders that tests read; timeout: seconds that a test may take; skip:
    regular expressions of tests that are left out; wanted: one of those that are run.
    """

    def __init__(
        self,
        name,
        files,
        folder,
        *,
        options=(),
        binds=(),
        timeout=300,
        skip=(),
        environment=None,
        flavour=None,
        wanted="",
    ):
        self.name, self.files, self.options, self.binds = name, files, list(options), [folder, *binds]
        self.timeout, self.skip, self.environment = timeout, [re.compile(text) for text in skip], environment or {}
        self.flavour = flavour or (lambda runtime: "")
        self.folder = folder
        self.scratch = BUILD / "clients" / "scratch" / str(os.getpid())
        self.listed = []
        self.wanted = re.compile(wanted)
        self.processes = {}  # {runtime: how many were seen with its libraries}

    def tests(self, runtime):
        """The tests, in the order in which they run."""
        listed = self._capture(runtime, ["--list-tests"])
        found = [Test.of(line, "xctest") for line in listed.splitlines() if re.fullmatch(r"[^\s/]+\.[^\s/]+/\S+", line)]
        testing = self._capture(runtime, ["--testing-library", "swift-testing", "--list-tests"], (0, _NO_TESTS))
        found += [Test.of(line, "swift-testing") for line in testing.splitlines() if re.match(r"\w+\..*\)$", line)]
        self.listed = list(dict.fromkeys(found))
        return [
            test for test in self.listed if self.wanted.search(test) and not any(one.search(test) for one in self.skip)
        ]

    def run(self, runtime, tests, show=lambda done: None):
        """{test: outcome} of `tests` on a runtime."""
        outcomes = {}
        for library, drive in (("xctest", self._xctest), ("swift-testing", self._swift_testing)):
            chosen = [test for test in tests if test.library == library]
            if chosen:
                outcomes.update(self._rounds(runtime, chosen, drive, show))
        return outcomes

    def _rounds(self, runtime, tests, drive, show):
        """Starts processes until all tests have an outcome."""
        outcomes, left = {}, list(tests)
        for _ in range(_MOST_PROCESSES):
            before = len(left)
            process = drive(runtime, left, lambda test, outcome: show(test))
            outcomes.update(process.outcomes)
            if process.suspects and len(process.suspects) > 1:
                # Several ran at once: each of them alone tells which one it was.
                for test in process.suspects:
                    alone = drive(runtime, [test], lambda test, outcome: show(test))
                    outcomes.update(alone.outcomes)
                    for suspect in alone.suspects:
                        outcomes[suspect] = alone.end
            else:
                for suspect in process.suspects:
                    outcomes[suspect] = process.end
            left = [test for test in left if test not in outcomes]
            if (
                process.status
                and not any(outcome in BAD for outcome in process.outcomes.values())
                and not process.suspects
                and not left
            ):
                # All tests are well, and yet the process is not: a crash or a report of a leak at its end.
                outcomes[Test.of(f"the end of the process ({drive.__name__.strip('_')})", tests[0].library)] = CRASHED
            if not left or len(left) == before and not process.suspects:
                break
        for test in left:
            outcomes[test] = NOT_RUN
        return outcomes

    # One process.

    def _xctest(self, runtime, tests, show):
        process = _Process(self, runtime, tests, show)
        by_line, last = collections.defaultdict(collections.deque), {}
        for test in tests:
            # The list says Module.Class/method, the output Class.method.
            by_line[re.sub(r"^[^.]*\.", "", test).replace("/", ".")].append(test)

        def line(text):
            for found in re.finditer(r"Test Case '(.+?)' (started at|passed|failed|skipped)", text):
                waiting, outcome = by_line.get(found[1]), found[2]
                if outcome == "started at" and waiting:
                    process.started(waiting[0])
                elif waiting:
                    last[found[1]] = waiting.popleft()
                    process.ended(last[found[1]], outcome)
                elif found[1] in last and outcome == FAILED:
                    process.ended(last[found[1]], outcome)  # what said otherwise was printed by the test itself

        for part in self._cut(tests):
            arguments = [",".join(part)] if part else []
            process.start(arguments)
            process.follow(line)
            if process.end:
                break
        return process

    def _swift_testing(self, runtime, tests, show):
        process = _Process(self, runtime, tests, show)
        wanted = {str(test): test for test in tests}
        events = self.scratch / f"events-{time.monotonic_ns()}.json"
        failed = set()

        def line(text):
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

        for part in self._cut(tests):
            filters = [word for test in part or () for word in ("--filter", f"^{_escaped(test)}(/|$)")]
            process.start(
                [
                    "--testing-library",
                    "swift-testing",
                    "--event-stream-output-path",
                    str(events),
                    "--event-stream-version",
                    "0",
                    *filters,
                ]
            )
            process.follow(line, events)
            events.unlink(missing_ok=True)
            if process.end:
                break
        return process

    def _cut(self, tests):
        """The parts in which `tests` are asked for by name; [None] if these are simply all."""
        if set(tests) >= {test for test in self.listed if test.library == tests[0].library}:
            return [None]
        return _parts(tests)

    def command(self, runtime, arguments=()):
        """The command line that runs the bundle on a runtime."""
        return [
            _WITH_RUNTIME,
            *self.options,
            *(f"--bind={folder}" for folder in self.binds),
            runtime.name,
            "--",
            str(self.files[self.flavour(runtime)]),
            *arguments,
        ]

    def _capture(self, runtime, arguments, good=(0,)):
        try:
            done = subprocess.run(
                self.command(runtime, arguments),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise UserError(
                f"the tests of {self.name} cannot be listed: no answer within {self.timeout} s",
                "does the package run code before main()?",
            ) from None
        # A package with a LinuxMain.swift of its own knows XCTest only.
        if done.returncode not in good and 'Invalid option "--testing-library"' not in done.stderr + done.stdout:
            raise UserError(
                f"the tests of {self.name} cannot be listed on {runtime}: it {ending(done.returncode, done.stderr)}",
                " ".join(["utils/with-runtime", *self.command(runtime, arguments)[-len(arguments) - 3 :]]),
            )
        return done.stdout


def _parts(tests):
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


def _escaped(text):
    return re.sub(r"([][{}()*+?.\\^$|/])", r"\\\1", text)


class _Process:
    """Processes of a bundle, one after the other, until one does not end well.

    outcomes: of the tests that ended; suspects: those that were running when the process ended;
    end: None, CRASHED or HUNG; status: the exit status of the last process.
    """

    def __init__(self, bundle, runtime, tests, show):
        self.bundle, self.runtime, self.tests, self.show = bundle, runtime, tests, show
        self.outcomes, self.running, self.suspects, self.end, self.status = {}, {}, [], None, None

    def started(self, test):
        self.running[test] = self.last = time.monotonic()
        self.show(test, None)

    def ended(self, test, outcome):
        self.running.pop(test, None)
        self.outcomes[test] = outcome
        self.last = time.monotonic()
        self.show(test, outcome)

    def start(self, arguments):
        bundle = self.bundle
        place = bundle.scratch / "package"
        if not place.exists():
            # Tests may look for files from where they are started, and may write there.
            place.mkdir(parents=True)
            for path in bundle.folder.iterdir():
                (place / path.name).symlink_to(path)
        (BUILD / "logs").mkdir(parents=True, exist_ok=True)
        self.log = BUILD / "logs" / f"clients-{bundle.name}-{self.runtime.plain}-{self.tests[0].library}.log"
        self.loads = bundle.scratch / "loads"
        for path in bundle.scratch.glob("loads.*"):
            path.unlink()
        command = bundle.command(self.runtime, arguments)
        at = command.index("--") + 1
        command[at:at] = [
            "env",
            *loaded.environment(self.loads),
            "SWIFT_BACKTRACE=enable=off",
            *(f"{name}={value}" for name, value in bundle.environment.items()),
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=place,
            bufsize=0,
        )
        assert self.process.stdout
        self.pipe = self.process.stdout
        self.last = time.monotonic()

    def follow(self, line, events=None):
        """Reads what the process prints, or writes to the file `events`, until it ends or hangs."""
        output, watched = _Lines(line if events is None else None), _Lines(line)
        written = 0
        try:
            with selectors.DefaultSelector() as selector, open(self.log, "ab") as log:
                pipe = self.pipe.fileno()
                selector.register(pipe, selectors.EVENT_READ)
                whole = False  # no more output will come
                while True:
                    gone = self.process.poll() is not None
                    waits = not whole and bool(selector.select(0 if gone else 0.1))
                    if waits:
                        data = os.read(pipe, 1 << 16)
                        written += len(data)
                        log.write(data)
                        output.feed(data)
                        if not data:
                            whole = True
                            selector.unregister(pipe)
                    self._events(events, watched)
                    # A child of a test may keep the pipe: it is not waited for.
                    if gone and (whole or not waits):
                        break
                    if whole:
                        time.sleep(0.02)
                    if written > _MOST_OUTPUT or not gone and self._hangs():
                        self.end = HUNG
                        break
                self._events(events, watched)
                output.feed(b"\n")
        finally:
            self._kill()
        self.status = self.process.returncode
        if self.end is None and (self.status < 0 or self.running):
            self.end = CRASHED
        self.suspects = list(self.running)
        self.running = {}
        self._prove()

    def _events(self, events, watched):
        if events is not None:
            try:
                with open(events, "rb") as file:
                    file.seek(watched.read)
                    watched.feed(file.read())
            except OSError:
                pass

    def _hangs(self):
        """Whether a test has run too long, or nothing at all happens."""
        now, most = time.monotonic(), self.bundle.timeout
        if any(now - since > most for since in self.running.values()):
            # Those that have just been started are not to blame.
            self.running = {test: since for test, since in self.running.items() if now - since > most / 2}
            return True
        return not self.running and now - self.last > most

    def _kill(self):
        """Ends the process, and what tests have left: all of its session, in any group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                state, _, _, session = (folder / "stat").read_text().rpartition(") ")[2].split()[:4]
                if int(session) == self.process.pid and state != "Z":
                    os.kill(int(folder.name), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        self.process.wait()
        self.pipe.close()

    def _prove(self):
        """UserError unless the process has loaded the libraries of its runtime, and no other ones."""
        found = loaded.libraries(self.loads, self.process.pid)
        if any(one.always and one.name not in found for one in LIBRARIES) and (self.end or self.status):
            raise UserError(
                f"the tests of {self.bundle.name} do not start on {self.runtime} (the program {ending(self.status)})",
                f"the output is in {self.log}",
            )
        loaded.check(found, self.bundle.name, self.runtime)
        self.bundle.processes[self.runtime] = self.bundle.processes.get(self.runtime, 0) + 1


class _Lines:
    """Cuts bytes into lines, and gives each to `take`."""

    def __init__(self, take):
        self.take, self.rest, self.read = take, b"", 0

    def feed(self, data):
        self.read += len(data)
        if not self.take:
            return
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.rest = self.rest[-(1 << 20) :]
        for line in lines:
            self.take(line.decode(errors="replace"))
