"""Where the CPU time of an operation goes: samples of `perf`, by library, and in the runtime by kind of function."""

from __future__ import annotations

import collections
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base import process
from ...base.errors import UserError
from ...base.progress import Step
from ...base.text import number
from ...results import outcome
from ...results.outcome import Outcome
from ...workspace.find import Workspace
from ..harness.rounds import interleaved
from . import programs
from .programs import Place, Server, Side
from .rows import ServerRow

DEFAULT_ROWS = "^(plain|all|loop-.*)$"
_INSTALL = "apt install linux-perf (Debian) or linux-tools-generic (Ubuntu)"
_ALLOW = "sysctl kernel.perf_event_paranoid=1, as root; in a virtual machine or container perf may be off"
# No divisor of what runs at round intervals.
_SAMPLES_A_SECOND = 3989
# The loops of the program take a second or less, so that perf would see little of them.
_LONGER = 5

_OTHER = "other"
# {library: its files}; the first that matches counts.
_LIBRARIES = {
    "kernel": r"^\[(?!unknown)",
    "swiftCore": r"^libswiftCore\.so",
    "Concurrency": r"^libswift_Concurrency\.so",
    "Dispatch": r"^lib(dispatch|BlocksRuntime)\.so",
    "Foundation": r"^lib_?Foundation",
    "libc": r"^(libc|libm|libpthread|ld-linux.*)\.so",
}
_MALLOC = re.compile(
    r"^(__libc_)?(malloc|calloc|realloc|c?free|memalign|posix_memalign|aligned_alloc)(_|\d|@|$)|"
    r"^_int_(malloc|free|realloc|memalign)|^(sysmalloc|systrim|tcache|unlink_chunk|arena_get|_mid_memalign|heap_trim)"
)
LIBRARIES = (*_LIBRARIES, "malloc", "NIO", "program", _OTHER)

# {kind: symbols of the runtime, as they are mangled}; the first that matches counts.
_KINDS = {
    "Swift code": r"^\$[sS]",
    "retain, release": r"[rR]etain|[rR]elease|swift_(weak|unowned|is\w*Unique|setDeallocating)|RefCount|SideTable",
    "allocation": r"swift_(slow|task_)?([aA]lloc|[dD]ealloc)|initSta(ck|tic)Object|projectBox|StackAlloc|_ZdlPv|_Znwm",
    "conformances": r"[cC]onform",
    "casts": r"[cC]ast",
    "task-locals": r"[tT]ask_?[lL]ocal",
    "exclusivity": r"swift_(begin|end)Access|AccessSet",
    "locks": r"[mM]utex|StatusRecord|swift_once",
    "actors": r"[aA]ctor|[dD]einit|isCurrentExecutor",
    "enqueue, resume": r"[eE]nqueue|swift_job_run|task_switch|[cC]ontinuation|waitFuture|future_wait|[eE]xecutor|"
    r"[wW]orker|runInline|flagAs|[rR]esume|dispatch|suspend",
    "tasks": r"[tT]ask_?[gG]roup|[aA]sync_?[lL]et|AsyncTask|swift_task_|completeFuture",
    "metadata": r"[mM]etadata|[wW]itness|AssociatedType|swift_get|[mM]angl|typeByName",
}
KINDS = (*_KINDS, _OTHER)


def library(file: str, symbol: str) -> str:
    """The one of LIBRARIES that a function belongs to. file: the path of what it was loaded from."""
    name = file.rpartition("/")[2]
    for found, pattern in _LIBRARIES.items():
        if re.search(pattern, name):
            return "malloc" if found == "libc" and _MALLOC.search(symbol) else found
    if not re.search(r"\.so\b|\[", name):
        return "NIO" if re.search(r"NIO|c_nio", symbol) else "program"
    return _OTHER


def kind(symbol: str) -> str:
    """The one of KINDS that a function of the runtime belongs to."""
    return next((found for found, pattern in _KINDS.items() if re.search(pattern, symbol)), _OTHER)


def samples(text: str) -> collections.Counter[tuple[str, str]]:
    """{(file, symbol): samples} of what `perf script` prints."""
    found = (re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line) for line in text.splitlines())
    return collections.Counter((one[2], one[1].partition("+0x")[0]) for one in found if one)


class Watch:
    """Samples process `pid` while the block runs. The process is a child of this one."""

    def __init__(self, ws: Workspace, pid: int, folder: Path) -> None:
        self.ws, self.pid, self.file, self.cache = ws, pid, folder / "perf.data", folder / "perf-cache"

    def __enter__(self) -> Watch:
        if not shutil.which("perf"):
            raise UserError("perf is not installed", _INSTALL)
        self.file.unlink(missing_ok=True)
        # The build IDs: the files of the workspace are at other paths here.
        argv = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(_SAMPLES_A_SECOND), "--buildid-mmap"]
        argv += ["-o", str(self.file), "-p", str(self.pid)]
        # perf follows the threads that it finds, and those that these make later. While it looks, none may be made.
        try:
            os.kill(self.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            self.perf = process.start(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            # It writes which files the process has mapped when it begins; ended before, it leaves no data.
            for _ in range(500):
                if self.perf.poll() is not None or (self.file.exists() and self.file.stat().st_size > 2048):
                    break
                time.sleep(0.02)
        finally:
            os.kill(self.pid, signal.SIGCONT)
        return self

    def __exit__(self, *_: object) -> None:
        process.end(self.perf)
        assert self.perf.stderr
        self.said = self.perf.stderr.read()

    def samples(self) -> collections.Counter[tuple[str, str]]:
        """What was seen; UserError if nothing was."""
        for name, path in set(re.findall(r"<([0-9a-f]{40})>\]: \S+ (/.*)", self._script("--show-mmap-events"))):
            debug = self.ws.outside(f"/usr/lib/debug/.build-id/{name[:2]}/{name[2:]}.debug")
            if debug.exists():
                # The library for its addresses, the other file for its symbols.
                self._perf("buildid-cache", "--add", str(self.ws.outside(path)))
                shutil.copy(debug, self.cache / ".build-id" / name[:2] / name[2:] / "debug")
        if not (counted := samples(self._script("-F", "ip,sym,dso"))):
            lines = self.said.splitlines() or ["it took no sample"]
            raise UserError(f"perf cannot look at a process: {lines[-1].strip()}", _ALLOW)
        return counted

    def _script(self, *words: str) -> str:
        return self._perf("script", "-i", str(self.file), "--no-demangle", *words)

    def _perf(self, *words: str) -> str:
        return process.captured(["perf", "--buildid-dir", str(self.cache), *words]).stdout


def _served(options: Namespace, server: Server, generator: Path) -> tuple[float, Watch]:
    """(CPU us of a request, what was seen meanwhile)"""
    server.put_load(generator, "closed", options.seconds / 5, 0)
    with Watch(server.place.ws, server.process.pid, server.place.scratch) as watch:
        _, used, _ = server.use(generator, options.seconds)
    return used, watch


def _looped(place: Place, side: Side, program: Path, row: ServerRow) -> tuple[float, Watch]:
    """The same of a loop in the program."""
    count, watches = row.count * _LONGER, list[Watch]()

    def started(pid: int) -> Watch:
        # What starts the program is in its process before it.
        while os.path.exists(f"/proc/{pid}/exe") and os.path.basename(os.readlink(f"/proc/{pid}/exe")) != program.name:
            time.sleep(0.002)
        watches.append(Watch(place.ws, pid, place.scratch))
        return watches[0]

    found = json.loads(place.run(side, [program, "row", *row.words, count], row.name, during=started))
    return (found["after"]["cpu_us"] - found["before"]["cpu_us"]) / count, watches[0]


def take(
    options: Namespace, place: Place, rows: Sequence[ServerRow], columns: Mapping[str, Side]
) -> dict[str, dict[str, tuple[float, collections.Counter[tuple[str, str]]]]]:
    """{row: {column: (CPU us of an operation, {(file, symbol): samples})}}"""
    program, generator = programs.server(place.ws), programs.load(place.ws)
    times: dict[tuple[str, str], list[float]] = collections.defaultdict(list)
    seen: dict[tuple[str, str], collections.Counter[tuple[str, str]]] = collections.defaultdict(collections.Counter)
    names = {row.name: row for row in rows}
    with Step(f"profile: {options.rounds} rounds") as step:
        for turn, name, column in interleaved(options.rounds, names, lambda _: columns, random.Random()):
            step.text = f"{name}: round {turn + 1} of {options.rounds}, {column}"
            side, row = columns[column], names[name]
            if row.kind == "inside":
                used, watch = _looped(place, side, program, row)
            else:
                with programs.Server(place, program, row, side, options.port) as server:
                    server.probe()
                    used, watch = _served(options, server, generator)
            times[name, column].append(used)
            seen[name, column] += watch.samples()
    return {
        name: {column: (statistics.median(times[name, column]), seen[name, column]) for column in columns}
        for name in names
    }


def by_library(us: float, seen: Mapping[tuple[str, str], int]) -> dict[str, float]:
    """{library: us of an operation}"""
    return _parts(us, ((library(*one), count) for one, count in seen.items()), LIBRARIES)


def by_kind(us: float, seen: Mapping[tuple[str, str], int]) -> dict[str, float]:
    """{kind: us of an operation}, of the runtime's two libraries; the rest is left out."""
    found = (
        (kind(one[1]) if library(*one) in ("swiftCore", "Concurrency") else "", count) for one, count in seen.items()
    )
    return _parts(us, found, KINDS)


def _parts(us: float, counts: Iterable[tuple[str, int]], names: Sequence[str]) -> dict[str, float]:
    total: collections.Counter[str] = collections.Counter()
    for name, count in counts:
        total[name] += count
    return {name: us * total[name] / (sum(total.values()) or 1) for name in names}


def report(options: Namespace, found: Mapping[str, Any], columns: Mapping[str, Side]) -> Outcome:
    """The tables of {row: {column: (CPU time of an operation in us, its samples)}}, by library and by kind; columns:
    {how one is called: its Side}, of which the second one is the first again."""
    made = outcome.begin(
        "server-cpu", "Where the CPU time of a server goes", "benchmark/server/run-benchmark --profile"
    )
    old, again, *_ = columns
    titles = ("CPU time of an operation by library, us", "CPU time of an operation in the runtime by kind, us")
    apart = []
    for title, parts, names in zip(titles, (by_library, by_kind), (LIBRARIES, KINDS)):
        lines = []
        for name, sides in found.items():
            split = {column: parts(*sides[column]) for column in columns}
            apart += [abs(split[again][part] - split[old][part]) / sides[old][0] for part in names]
            for column in (one for one in columns if one != again):
                cells = [number(sum(split[column].values())), *(f"{split[column][part]:.2f}" for part in names)]
                lines.append([f"{name}, {column}", *cells])
        made.table(title, ["CPU, us", "all", *names], lines)
    counted = min(sum(seen.values()) for sides in found.values() for _, seen in sides.values())
    made.notes = [
        f"{options.rounds} new processes a column in turn, {_SAMPLES_A_SECOND} samples a second of the CPU's clock by "
        f"perf, at least {counted:,} of each row and column; {programs.CONNECTIONS} connections, loads of "
        f"{options.seconds:g} s. The time is that of getrusage, with perf's own share.",
        f"Between two columns of {old} a part differs by {statistics.median(apart) * 100:.1f} % of the operation at "
        f"the median and by {max(apart) * 100:.1f} % at most.",
    ]
    return made
