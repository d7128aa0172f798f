"""Random programs on several runtimes, for as long as one likes: utils/stress.

A program is made from a seed; what it prints does not depend on the runtime. A seed that fails or differs is
run again with less to do, and the smallest command that still fails is printed.

Or random trees of tasks that are cancelled, counted over runs: the program is the test task_cancel_stress. A run goes
on with the seeds at which the last one ended, so that many short runs make a long one. What is counted is of one build
of the library: another one begins anew.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NoReturn

from ..base import files, locks
from ..base.errors import UserError
from ..base.paths import BUILD, TEST
from ..base.progress import note
from ..runtimes import build, program
from ..runtimes.libraries import CONCURRENCY
from ..runtimes.runtime import Runtime
from ..workspace.find import Workspace

_RANDOM = TEST / "programs" / "Inputs" / "SplitMix64.swift"
_TESTS = TEST / "Concurrency" / "Runtime"
_MODES = _TESTS / "Inputs"
_TIMEOUT = 300
_CANCELLATIONS = tuple(product(("queues", "inline", "serial", "concurrent", "global", "mixed"), (2, 3, 5)))
_COUNTS = BUILD / "stress" / "cancellation.json"
_SLICE, _LANES = 10_000, 4


@dataclass(frozen=True)
class Case:
    """Programs: the seeds from first to last, with so many operations and workers each."""

    first: int
    last: int
    operations: int
    workers: int

    @property
    def options(self) -> list[str]:
        """The options of the program, and of utils/stress."""
        return f"--seeds {self.first}:{self.last} --operations {self.operations} --workers {self.workers}".split()


class Stress:
    """The program, compiled for each runtime of a run."""

    def __init__(self, ws: Workspace, runtimes: list[Runtime]) -> None:
        self.ws, self.runtimes, self.programs = ws, runtimes, {}
        for runtime in runtimes:
            self.programs[runtime] = _compile(ws, runtime)

    def output(self, runtime: Runtime, case: Case) -> tuple[int | None, str]:
        """(status, output) of the programs of a case. The status is None if they take too long."""
        # On `chaos` the delays are those of the first seed, so that a replay has them, too.
        delays = os.environ.get("SWIFT_CHAOS_SEED", str(case.first))
        return _output(self.ws, runtime, [str(self.programs[runtime]), *case.options], SWIFT_CHAOS_SEED=delays)

    def fault(self, case: Case) -> tuple[Runtime, str] | None:
        """What is wrong with a case: (runtime, text), or None."""
        first = None
        for runtime in self.runtimes:
            status, text = self.output(runtime, case)
            if status != 0:
                return runtime, f"status {status}\n{text[-2000:]}"
            if first is not None and text != first:
                return runtime, f"not what {self.runtimes[0]} prints:\n{first}{text}"
            first = text
        return None

    def failures(self, case: Case, most: int) -> int:
        """How often a case fails in five tries, which end when that is often enough."""
        count = 0
        for _ in range(5):
            count += self.fault(case) is not None
            if count == most:
                break
        return count

    def shrink(self, case: Case) -> Case | None:
        """The smallest case found that still fails, as often as this one does; None if it does not fail again."""
        often = self.failures(case, 3)

        def fails(**smaller: int) -> bool:
            return self.failures(replace(case, **smaller), often) == often

        if not often:
            return None
        while case.workers > 1 and fails(workers=case.workers - 1):
            case = replace(case, workers=case.workers - 1)
        step = case.operations // 2
        while step >= 1 and case.operations > case.workers:
            if case.operations - step >= case.workers and fails(operations=case.operations - step):
                case = replace(case, operations=case.operations - step)
            else:
                step //= 2
        return case

    def failed(self, found: tuple[Runtime, str], case: Case) -> NoReturn:
        """Prints the fault of one seed, and raises the UserError with the smallest case."""
        print(f"seed {case.first} on {found[0]}: {found[1]}")
        smaller = self.shrink(case)
        seldom = "" if smaller else ", but not each time"
        raise UserError(f"seed {case.first} fails on {found[0]}{seldom}", self.replay(smaller or case))

    def replay(self, case: Case) -> str:
        """The hint that tells how to run a case again, with the delays that the caller has chosen."""
        delays = os.environ.get("SWIFT_CHAOS_SEED")
        chosen = f"SWIFT_CHAOS_SEED={delays} " if delays else ""
        return f"replay: {chosen}utils/stress {' '.join([*case.options, *map(str, self.runtimes)])}"


def _compile(ws: Workspace, runtime: Runtime) -> Path:
    swift = [TEST / "programs" / "concurrency-random.swift", _RANDOM, _MODES / "DeinitModes.swift"]
    c, headers = [_MODES / "deinit-modes.c"], [_MODES / "deinit-modes.h"]
    flags = ("-O", "-Xfrontend", "-disable-availability-checking")
    return _build(ws, runtime, "concurrency-random", swift=swift, c=c, headers=headers, flags=flags)


def _build(ws: Workspace, runtime: Runtime, name: str, **sources: Any) -> Path:
    """The path of a program for a runtime, which is built, too; sources: as of program.build."""
    build.ensure(ws, runtime)
    # One at a time: two in a clone would write the same object file.
    with locks.exclusive(BUILD):
        return program.build(ws, name, BUILD / "stress" / runtime.plain, runtime=runtime, **sources)


def _output(ws: Workspace, runtime: Runtime, argv: list[str], **env: str) -> tuple[int | None, str]:
    """(status, output) of a program. The status is None if it takes too long."""
    options = {"check": False, "text": True, "capture_output": True, "timeout": _TIMEOUT}
    try:
        done = runtime.run(ws, argv, env={"SWIFT_BACKTRACE": "enable=off", **env}, **options)
    except subprocess.TimeoutExpired:
        return None, f"no end after {_TIMEOUT} s"
    return done.returncode, done.stdout + done.stderr


def run(
    ws: Workspace,
    runtimes: list[Runtime],
    first: int,
    count: float,
    operations: int,
    workers: int,
    seconds: float | None,
) -> None:
    """Runs seeds until `count` are done or `seconds` are over."""
    stress = Stress(ws, runtimes)
    end = time.monotonic() + seconds if seconds else None
    seed, done = first, 0
    while done < count and (not end or time.monotonic() < end):
        block = Case(seed, seed + int(min(20, count - done)) - 1, operations, workers)
        if once := stress.fault(block):
            for one in range(block.first, block.last + 1):
                case = replace(block, first=one, last=one)
                if found := stress.fault(case):
                    stress.failed(found, case)
            print(f"seeds {block.first}:{block.last} on {once[0]}, and not one by one: {once[1]}")
            raise UserError(f"seeds {block.first}:{block.last} fail now and then", stress.replay(block))
        seed, done = block.last + 1, done + block.last - block.first + 1
        note(f"    {done} seeds, {done * operations:,} operations")
    print(f"seeds {first} to {seed - 1}, {done * operations} operations: {' and '.join(map(str, runtimes))} agree")


def cancel(ws: Workspace, runtimes: list[Runtime], rounds: int, seconds: float | None) -> None:
    """Cancels trees until each runtime has had so many rounds, with those of earlier runs, or `seconds` are over."""
    sources = [_TESTS / "task_cancel_stress.swift", _RANDOM]
    end = time.monotonic() + seconds if seconds else None
    for runtime in runtimes:
        stress = _build(ws, runtime, "task-cancel-stress", flags=("-O",), swift=sources)
        state = f"{runtime} {files.sha256(runtime.library(CONCURRENCY))[:12]}"
        while True:
            had = (files.read_record(_COUNTS) or {}).get(state, [0] * len(_CANCELLATIONS))
            left = rounds - sum(had)
            if left <= 0 or (end and time.monotonic() >= end):
                break
            kind = had.index(min(had))
            count = min(left, _SLICE if runtime.variant is None else _SLICE // 20)
            _cancel(ws, runtime, stress, kind, 1 + had[kind], count)
            with locks.exclusive(_COUNTS.parent):  # runs on several runtimes may end at the same time
                counts = files.read_record(_COUNTS) or {}
                counts.setdefault(state, [0] * len(_CANCELLATIONS))[kind] += count
                files.write_record(_COUNTS, counts)
            note(f"    {sum(had) + count:,} rounds on {runtime}")
        print(f"{state}: {sum(had):,} rounds, no hang and no fault")


def _cancel(ws: Workspace, runtime: Runtime, stress: Path, kind: int, first: int, rounds: int) -> None:
    """Runs one kind of the cancellation test from round `first` on; UserError if it fails or hangs."""
    mode, cancellers = _CANCELLATIONS[kind]
    argv = [str(stress), str(rounds), mode, str(first), str(cancellers), str(_LANES)]
    status, text = _output(ws, runtime, argv)
    if status != 0:
        fault = text if status is None else f"status {status}\n{text[-2000:]}"
        raise UserError(f"{mode}, {cancellers} cancellers, on {runtime}: {fault}", f"again: {' '.join(argv)}")
