"""The counters of a process that runs, as Prometheus reads them. A signal makes its recorder write them."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from . import header

PATIENCE = 10  # seconds
_GAUGES = {
    "tasks_live": ("tasks_created", "tasks_destroyed"),
    "sleeps_pending": ("sleeps_begun", "sleeps_ended", "sleeps_cancelled"),
}


def of_process(pid: int) -> dict[str, Any]:
    """The newest counters of a process, which a signal has it write; UserError if it writes none."""
    try:
        process = os.open(f"/proc/{pid}", os.O_RDONLY)
        try:
            # One who asks at a time: a signal that comes while another one is handled makes no file.
            fcntl.flock(process, fcntl.LOCK_EX)
            return _ask(pid)
        finally:
            os.close(process)
    except OSError as error:
        raise UserError(f"process {pid}: {error.strerror}", "give the number of a process of yours") from None


def _ask(pid: int) -> dict[str, Any]:
    entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    variables = dict(os.fsdecode(entry).partition("=")[::2] for entry in entries)
    file, name = variables.get("SWIFT_TRACE", "0"), variables.get("SWIFT_TRACE_SIGNAL")
    if file in ("", "0") or name not in ("USR1", "USR2", "QUIT"):
        what = f"process {pid} was not started with SWIFT_TRACE and SWIFT_TRACE_SIGNAL"
        raise UserError(what, "SWIFT_TRACE=1 SWIFT_TRACE_SIGNAL=USR2 PROGRAM")
    ours = file == "1"  # the signal makes a file, which nobody else wants
    folders = _folders(pid, variables.get("SWIFT_TRACE_FOLDER") or ".", variables.get("PWD"))

    def written() -> set[Path]:
        return {path for folder in folders for path in folder.glob(f"swift-{pid}-*.trace")} if ours else _mapped(pid)

    number = signal.Signals[f"SIG{name}"]
    if not _handles(pid, number):
        what = f"process {pid} does not handle {number.name}, which would end it: it has no recorder, or has just begun"
        raise UserError(what, "utils/with-runtime after -- PROGRAM runs it with the recorder")
    before = written() if ours else set()
    asked = time.monotonic_ns()
    os.kill(pid, number)
    while time.monotonic_ns() < asked + PATIENCE * 10**9:
        for path in written() - before:
            try:
                head, found = header.read(str(path)), header.newest_counters(str(path))
            except (UserError, FileNotFoundError):  # it has just been begun, or is gone
                continue
            if found.get("monotonic_ns", 0) >= asked and (head.is_complete or not ours):
                if ours and head.reason == header.BY_SIGNAL:
                    path.unlink()
                return found
        time.sleep(0.01)
    where = " or ".join(map(str, folders)) if ours else file
    hint = "its runtime must have the recorder, and be able to write there; give SWIFT_TRACE_FOLDER an absolute path"
    raise UserError(f"process {pid} has written no counters into {where} in {PATIENCE} s", hint)


def _handles(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> number - 1 & 1)


def _folders(pid: int, folder: str, shell: str | None) -> list[Path]:
    """Where a flight recorder writes. A relative folder is one of that in which the process began: it may be in another
    one by now, but its shell has told it."""
    return list(dict.fromkeys(Path(start, folder) for start in (os.readlink(f"/proc/{pid}/cwd"), shell) if start))


def _mapped(pid: int) -> set[Path]:
    """The files into which a process writes by memory: a trace is one of them, wherever the process is by now."""
    lines = [line.split(None, 5) for line in Path(f"/proc/{pid}/maps").read_bytes().splitlines()]
    paths = {Path(os.fsdecode(line[5])) for line in lines if len(line) == 6 and line[1] == b"rw-s"}
    return {path for path in paths if path.is_file()}


def text(counters: dict[str, Any]) -> str:
    lines = []
    for name, (all_of_them, *ended) in _GAUGES.items():
        lines += _metric(name, "gauge", counters[all_of_them] - sum(counters[one] for one in ended))
    for name in header.SUMS.split():
        lines += _metric(f"{name}_total", "counter", counters[name])
    # Bucket i has the waits of less than 2^i microseconds, and the last one all others.
    lines.append("# TYPE swift_concurrency_queue_wait_seconds histogram")
    total, edges = 0, [f"{2**i / 1e6:g}" for i in range(len(counters["waits"]) - 1)]
    for edge, count in zip([*edges, "+Inf"], counters["waits"]):
        total += count
        lines.append(f'swift_concurrency_queue_wait_seconds_bucket{{le="{edge}"}} {total}')
    if "waits_ns" in counters:
        lines.append(f"swift_concurrency_queue_wait_seconds_sum {counters['waits_ns'] / 1e9:.9f}")
    lines.append(f"swift_concurrency_queue_wait_seconds_count {total}")
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, value: int) -> list[str]:
    return [f"# TYPE swift_concurrency_{name} {kind}", f"swift_concurrency_{name} {value}"]
