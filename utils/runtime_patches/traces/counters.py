"""The counters of a process that runs, as Prometheus reads them. A signal makes its recorder write them."""

from __future__ import annotations

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
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        folder = Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError as error:
        raise UserError(f"process {pid}: {error.strerror}", "give the number of a process of yours") from None
    variables = dict(entry.decode(errors="surrogateescape").partition("=")[::2] for entry in entries)
    file, name = variables.get("SWIFT_TRACE", "0"), variables.get("SWIFT_TRACE_SIGNAL")
    if file in ("", "0") or name not in ("USR1", "USR2", "QUIT"):
        what = f"process {pid} was not started with SWIFT_TRACE and SWIFT_TRACE_SIGNAL"
        raise UserError(what, "SWIFT_TRACE=1 SWIFT_TRACE_SIGNAL=USR2 PROGRAM")
    ours = file == "1"  # the signal makes a file, which nobody else wants
    if ours:
        folder, pattern = folder / (variables.get("SWIFT_TRACE_FOLDER") or "."), f"swift-{pid}-*.trace"
    else:
        folder, pattern = (folder / file.replace("%p", str(pid))).parent, os.path.basename(file.replace("%p", str(pid)))
    before = set(folder.glob(pattern)) if ours else set()
    asked = time.monotonic_ns()
    os.kill(pid, signal.Signals[f"SIG{name}"])
    while time.monotonic_ns() < asked + PATIENCE * 10**9:
        for path in set(folder.glob(pattern)) - before:
            try:
                head, found = header.read(str(path)), header.newest_counters(str(path))
            except UserError:  # it has just been begun
                continue
            if found.get("monotonic_ns", 0) >= asked and (head.is_complete or not ours):
                if ours and head.reason == header.BY_SIGNAL:
                    path.unlink()
                return found
        time.sleep(0.01)
    what = f"process {pid} has written no counters into {folder} in {PATIENCE} s"
    raise UserError(what, "is its runtime one with the recorder, and can it write there?")


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
