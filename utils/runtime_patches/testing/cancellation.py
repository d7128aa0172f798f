"""Random trees of tasks that are cancelled, counted over runs: utils/stress --cancellation.

The program is the test task_cancel_stress. A run goes on with the seeds at which the last one ended, so that many short
runs make a long one. What is counted is of one build of the library: another one begins anew.
"""

from __future__ import annotations

import subprocess
import time
from itertools import product
from pathlib import Path

from ..base import files, locks
from ..base.errors import UserError
from ..base.paths import BUILD, TEST
from ..base.progress import note
from ..runtimes import build, program
from ..runtimes.libraries import CONCURRENCY
from ..runtimes.runtime import Runtime
from ..workspace.find import Workspace

_SOURCES = (
    TEST / "Concurrency" / "Runtime" / "task_cancel_stress.swift",
    TEST / "programs" / "Inputs" / "SplitMix64.swift",
)
_KINDS = tuple(product(("queues", "inline", "serial", "concurrent", "global", "mixed"), (2, 3, 5)))
_COUNTS = BUILD / "stress" / "cancellation.json"
_SLICE, _LANES, _TIMEOUT = 10_000, 4, 300


def _add(state: str, kind: int, rounds: int) -> None:
    # Runs on several runtimes may end at the same time.
    with locks.exclusive(_COUNTS.parent):
        counts = files.read_record(_COUNTS) or {}
        counts.setdefault(state, [0] * len(_KINDS))[kind] += rounds
        files.write_record(_COUNTS, counts)


def _run(ws: Workspace, runtime: Runtime, stress: Path, kind: int, first: int, rounds: int) -> None:
    """Runs one kind of the cancellation test from round `first` on; UserError if it fails or hangs."""
    mode, cancellers = _KINDS[kind]
    argv = [str(stress), str(rounds), mode, str(first), str(cancellers), str(_LANES)]
    try:
        options = {"check": False, "text": True, "capture_output": True, "timeout": _TIMEOUT}
        done = runtime.run(ws, argv, env={"SWIFT_BACKTRACE": "enable=off"}, **options)
        fault = f"status {done.returncode}\n{done.stderr[-2000:]}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        fault = f"no end after {_TIMEOUT} s"
    if fault:
        raise UserError(f"{mode}, {cancellers} cancellers, on {runtime}: {fault}", f"again: {' '.join(argv)}")


def run(ws: Workspace, runtimes: list[Runtime], rounds: int, seconds: float | None) -> None:
    """Runs until each runtime has had so many rounds, with those of earlier runs, or `seconds` are over."""
    end = time.monotonic() + seconds if seconds else None
    for runtime in runtimes:
        build.ensure(ws, runtime)
        home = BUILD / "stress" / runtime.plain
        with locks.exclusive(BUILD):
            stress = program.build(ws, "task-cancel-stress", home, runtime=runtime, flags=("-O",), swift=_SOURCES)
        state = f"{runtime} {files.sha256(runtime.library(CONCURRENCY))[:12]}"
        while True:
            had = (files.read_record(_COUNTS) or {}).get(state, [0] * len(_KINDS))
            left = rounds - sum(had)
            if left <= 0 or (end and time.monotonic() >= end):
                break
            kind = had.index(min(had))
            count = min(left, _SLICE if runtime.variant is None else _SLICE // 20)
            _run(ws, runtime, stress, kind, 1 + had[kind], count)
            _add(state, kind, count)
            note(f"    {sum(had) + count:,} rounds on {runtime}")
        print(f"{state}: {sum(had):,} rounds, no hang and no fault")
