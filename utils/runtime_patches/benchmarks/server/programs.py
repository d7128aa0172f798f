"""The programs of the server benchmark: the server, the load generator, and nio's own benchmark."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import os
import re
import select
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from ...base import files, locks, once
from ...base.errors import UserError
from ...base.paths import BENCHMARK, BUILD
from ...base.process import captured, end, ending, start
from ...clients import binaries, description, loaded
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import futexes
from ..harness.programs import VARIABLES
from .rows import ServerRow

SOURCES = BENCHMARK / "server"
CONNECTIONS = 64  # of a load
if TYPE_CHECKING:
    # Of a process, what is entered while that runs.
    _During = Optional[Callable[[int], contextlib.AbstractContextManager[object]]]


def server(ws: Workspace) -> Path:
    return _product(ws, SOURCES, "server")


def nio(ws: Workspace) -> Path:
    package = ws.sources / "swift-nio"
    if not description.is_package(package):
        raise UserError(f"the sources have no package swift-nio: {package}", "leave its rows out: --filter")
    return _product(ws, package, "NIOPerformanceTester")


def _product(ws: Workspace, package: Path, product: str) -> Path:
    """The path of a program of a package. It is built in the cache, so that swift-nio is compiled once for all
    clones; the program itself is in this clone, where no other one replaces it while it runs."""
    home = ws.cache / "clients" / f"{product}-release"

    def make(partial: Path) -> None:
        with locks.exclusive(home):
            copy = package
            if package.parent != ws.sources:
                copy = home / "sources" / product
                files.remove(copy)
                shutil.copytree(package, copy)
            checkout = description.Checkout(description.Package(product, minutes=4), copy, True)
            binaries.build(ws, home, checkout, ["--product", product], [ws.sources], configuration="release")
            shutil.copy2(home / "build" / "release" / product, partial)

    sources = sorted(path for path in (package / "Sources" / product).rglob("*") if path.is_file())
    parts: list[str | Path] = [ws.toolchain_key, str(ws.sources), package / "Package.swift", *sources]
    return once.file(BUILD / "clients" / product / product, parts, make)


def load(ws: Workspace) -> Path:
    # Static: it must run on the host, too, and must not load what is measured.
    return program.build(ws, "load", BUILD / "clients" / "load", c=[SOURCES / "load.c"], link=["-static"])


@dataclasses.dataclass(frozen=True)
class Side:
    """What is compared: a runtime, and the environment's variables that are set on it, as (name, value)."""

    runtime: Runtime
    name: str
    variables: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def command(self) -> list[str]:
        """The words before a program's, for whoever tries it by hand."""
        return ["env", *(f"{name}={value}" for name, value in self.variables)] if self.variables else []


class Place:
    """Where programs run; scratch: a folder for what they write."""

    def __init__(self, ws: Workspace, scratch: Path) -> None:
        self.ws, self.scratch = ws, scratch
        self.count = 0

    def start(self, side: Side, argv: Sequence[object], **options: Any) -> tuple[subprocess.Popen[str], Path]:
        """Starts argv on a Side; returns the process, and the prefix of what its loader writes."""
        self.count += 1
        prefix = self.scratch / f"loads-{self.count}"
        variables = {name: os.environ.get(name, value) for name, value in VARIABLES.items()}
        words = loaded.environment(prefix, {**variables, **dict(side.variables)})
        command = loaded.command(self.ws, side.runtime, [*words, *argv], [self.ws.cache])
        return start(command, cwd=self.scratch, **options), prefix

    def run(self, side: Side, argv: Sequence[object], what: str, timeout: float = 120, during: _During = None) -> str:
        """The standard output of argv on a Side; UserError if it fails, or runs on other libraries."""
        process, prefix = self.start(side, argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            with during(process.pid) if during else contextlib.nullcontext():
                out, said = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            what = f"{what} on {side} did not end within {timeout} s"
            raise UserError(what, "its row is left out with --filter") from None
        finally:
            end(process)
        if process.returncode:
            raise UserError(f"{what} on {side} {ending(process.returncode, said)}", by_hand(side, argv))
        loaded.check(loaded.libraries(prefix, process.pid), what, side.runtime)
        return out


def by_hand(side: Side, argv: Iterable[object]) -> str:
    """The command line for whoever tries that by hand."""
    return " ".join(map(str, ["utils/with-runtime", side.runtime, "--", *side.command, *argv]))


class Server:
    """A server on a Side, which is up while the `with` block runs. patience: seconds until it has to answer."""

    def __init__(
        self, place: Place, program: Path, row: ServerRow, side: Side, port: int = 0, patience: float = 30
    ) -> None:
        self.place, self.row, self.side, self.patience = place, row, side, patience
        self.argv = [program, row.kind, *row.words, *([f"port={port}"] if port else [])]
        self.name = f"server {row.name} on {side}"

    def __enter__(self) -> Server:
        self.errors = open(self.place.scratch / "server-errors", "w+", encoding="utf-8", errors="replace")
        self.process, prefix = self.place.start(
            self.side, self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors
        )
        try:
            found = re.match(r"ready (\d+)$", self._line("start"))
            if not found:
                raise self._fault("did not start")
            self.port = int(found[1])
            loaded.check(loaded.libraries(prefix, self.process.pid), f"server {self.row.name}", self.side.runtime)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        end(self.process)
        self.errors.close()

    def _fault(self, what: str, hint: str | None = None, who: str = "") -> UserError:
        """The UserError that tells what the server did, or who did; or that it has ended."""
        again = by_hand(self.side, self.argv)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
            self.errors.seek(0)
            return UserError(f"{self.name} {ending(self.process.returncode, self.errors.read())}", again)
        return UserError(f"{who}{self.name} {what}", hint or again)

    def stats(self) -> dict[str, Any]:
        """What the server has used so far: cpu_us, voluntary (context switches), rss_kb."""
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        try:
            counts: dict[str, Any] = json.loads(self._line("tell its counts"))
            return counts
        except ValueError:
            raise self._fault("does not report its counts", "is it stopped?") from None

    def _line(self, what: str) -> str:
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], self.patience)
        if not ready:
            raise self._fault(f"did not {what} within {self.patience} s", "is the machine very busy?")
        return self.process.stdout.readline()

    def probe(self) -> None:
        """UserError if the server's answer is wrong, before it is measured."""
        if self.row.kind != "http":
            return
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        try:
            client.request("GET", "/")
            answer = client.getresponse()
            body = json.loads(answer.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self._fault(f"does not answer: {error}") from None
        finally:
            client.close()
        wanted = "request-1" if any(word.startswith(("bindings", "spans")) for word in self.row.words) else ""
        if answer.status != 200 or body.get("id") != wanted:
            raise self._fault(f"answers wrongly: {body}", "the request's ID is a task-local")

    def put_load(self, generator: Path, how: object, seconds: float, warm: float) -> tuple[dict[str, Any], bytes]:
        """({"requests", "counted", "unanswered", "seconds"}, times in ns) of a load: "closed", or requests a second."""
        out = self.place.scratch / "times"
        argv = list(map(str, [generator, self.port, self.row.path, how, CONNECTIONS, seconds, warm, out]))
        try:
            done = captured(argv, timeout=seconds + self.patience)
        except subprocess.TimeoutExpired:
            raise self._fault("did not end", "is the server stopped?", "the load on ") from None
        if done.returncode:
            raise self._fault(ending(done.returncode, done.stderr), " ".join(argv), "the load on ")
        return json.loads(done.stdout), out.read_bytes()

    def use(self, generator: Path, seconds: float) -> tuple[dict[str, Any], float, float]:
        """(what put_load tells of a closed load, the CPU us of a request of it, and its context switches)."""
        before = self.stats()
        done, _ = self.put_load(generator, "closed", seconds, 0)
        after = self.stats()
        cpu, switches = ((after[name] - before[name]) / done["requests"] for name in ("cpu_us", "voluntary"))
        return done, cpu, switches

    def futexes(self, generator: Path, seconds: float) -> float | None:
        """Futex calls a request; None where perf is not installed, or may not count them."""
        with futexes.Watch(self.process.pid, self.place.scratch) as watch:
            done, _ = self.put_load(generator, "closed", seconds, 0)
        return None if watch.calls is None else watch.calls / done["requests"]
