"""Builds the programs, and measures rows in rounds: with and without the pool in turn, each in a new process."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ...base import once, process
from ...base.errors import UserError
from ...base.paths import BENCHMARK, BUILD
from ...base.progress import Step
from ...results import outcome
from ...results.outcome import Outcome
from ...runtimes import program
from ...runtimes.libraries import CONCURRENCY
from ...runtimes.runtime import Runtime, stock
from ...workspace.find import Workspace
from ..harness import futexes, measuring, programs
from ..harness.rounds import interleaved
from . import targets

HOME = BUILD / "executor"
_HERE = BENCHMARK / "executor"
_GO_ROWS = ("spawn", "pair", "channel", "skynet")
_PATIENCE = 120  # seconds of one process
_FUTEX_STARTS = 3  # of a row, to count futex calls: where threads begin is a matter of chance
_PATCH = "executor-pool"


@dataclass(frozen=True)
class Programs:
    """The paths of the programs; goroutines: None where there is no Go."""

    rows: Path
    floor: Path
    goroutines: Optional[Path]


def build(ws: Workspace) -> Programs:
    swift, c = [_HERE / "command-line.swift", _HERE / "rows.swift"], [_HERE / "support.c", program.MACHINE]
    headers, beside = [_HERE / "support.h", program.MACHINE_HEADER], [_HERE / "floor.c", program.MACHINE]
    rows = program.build(ws, "executor-rows", HOME, swift=swift, c=c, headers=headers)
    floor = program.build(ws, "executor-floor", HOME, c=beside, headers=headers, link=["-lpthread"])
    return Programs(rows, floor, _goroutines())


def _goroutines() -> Path | None:
    """The program of the host's Go, or None. It is static, so that it runs inside the workspace, too."""
    go, source = shutil.which("go"), _HERE / "goroutines.go"

    def make(partial: Path) -> None:
        env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        done = process.captured([str(go), "build", "-o", str(partial), str(source)], env=env)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise UserError(f"go cannot build {source.name}: {last}", "without go on PATH its figures are left out")

    return once.file(HOME / "executor-goroutines", [source], make) if go else None


def measure(ws: Workspace, made: Programs, options: Namespace, chosen: list[str]) -> Outcome:
    """The Outcome of a run; options: .runtime, .rounds, .busy and .no_futex."""
    taken, title = targets.Samples(), f"{len(chosen)} rows, {options.rounds} rounds"
    with measuring.alone(HOME), _spinners(options.busy), Step(title) as step:
        done = None
        for number, row, column in interleaved(options.rounds, chosen, _columns, random.Random(1)):
            if number != done:
                done = number
                text = programs.output(ws, stock(), [str(made.floor)], "the floor program")
                taken.add(targets.FLOOR, targets.figures(text))
                for name in _GO_ROWS if made.goroutines else ():
                    argv = [str(made.goroutines), name]
                    found = targets.figures(programs.output(ws, stock(), argv, f"Go's {name}", timeout=_PATIENCE))
                    taken.add(targets.GO, found, f"{name}.")
            step.text = f"round {number + 1} of {options.rounds}: {row}, pool {column}"
            taken.add((row, column), _sample(ws, made, options.runtime, row, column))
        if not options.no_futex and futexes.are_counted():
            for row in (row for row in chosen if row in targets.WATCHED):
                for column in _FUTEX_STARTS * _columns(row):
                    step.text = f"futex calls: {row}, pool {column}"
                    calls = _futexes(ws, made, options.runtime, row, column)
                    if calls is not None:
                        taken.add((row, column), {"futex": calls})
    return _outcome(made, options, taken)


def _columns(row: str) -> list[str]:
    return ["on"] if row in targets.HANGS_WHEN_OFF else list(targets.COLUMNS)


def _variables(column: str) -> dict[str, str]:
    return {"SWIFT_POOL": "1" if column == "on" else "0", "SWIFT_BACKTRACE": "enable=off"}


def _sample(ws: Workspace, made: Programs, runtime: Runtime, row: str, column: str) -> dict[str, float]:
    what = f"{row} with the pool {column}"
    text = programs.output(ws, runtime, [str(made.rows), row], what, env=_variables(column), timeout=_PATIENCE)
    loaded = re.search(r"(?m)^library\t(.*)$", text)
    wanted = runtime.library(CONCURRENCY)
    if not loaded or os.path.realpath(loaded[1]) != os.path.realpath(wanted):
        raise UserError(f"{what} has loaded {loaded[1] if loaded else 'nothing'}, not {wanted}", programs.NO_PART)
    return targets.figures(text)


def _futexes(ws: Workspace, made: Programs, runtime: Runtime, row: str, column: str) -> float | None:
    """Futex calls of an operation; None where they cannot be counted."""
    env = {**runtime.environment(ws), **_variables(column)}
    child = ws.popen([str(made.rows), row, "--signalled"], env=env)
    assert child.stdout
    try:
        ready = child.stdout.readline().split("\t")
        if ready[0] != "ready":
            raise UserError(f"{row} does not say that it is ready", programs.NO_PART)
        with futexes.Watch(int(ready[1]), HOME) as watch:
            child.communicate("\n", timeout=_PATIENCE)
    finally:
        process.end(child)
    return None if watch.calls is None else watch.calls / int(ready[2])


@contextlib.contextmanager
def _spinners(wanted: bool) -> Iterator[None]:
    """A program of the lowest priority on each processor, while the block runs."""
    # They end with this process, also if it is killed.
    spin = "while kill -0 $PPID; do i=0; while [ $i -lt 99999 ]; do i=$((i + 1)); done; done"
    with contextlib.ExitStack() as stack:
        for processor in sorted(os.sched_getaffinity(0)) if wanted else ():
            child = process.start(["nice", "-n", "19", "sh", "-c", spin], stderr=subprocess.DEVNULL)
            stack.callback(process.end, child)
            os.sched_setaffinity(child.pid, {processor})
        yield


def _outcome(made: Programs, options: Namespace, taken: targets.Samples) -> Outcome:
    """The Outcome of the samples: which targets are met, and the times of starts."""
    beside = " beside a niced program on each processor" if options.busy else ""
    result = outcome.begin("executor", f"The global executor with and without a pool{beside}")
    judged = targets.judge(taken, targets.busy_targets(taken) if options.busy else tuple(targets.TARGETS))
    result.table("Targets", *targets.target_lines(judged))
    result.table("Starts", *targets.distribution_lines(taken))
    if _PATCH not in options.runtime.record.get("patches", []):
        result.notes.append(f"{options.runtime} has no pool: both columns are Dispatch's.")
    if not made.goroutines:
        result.notes.append("There is no Go on this machine (package golang-go): its figures are left out.")
    if not options.no_futex and not futexes.are_counted():
        result.notes.append("There is no perf on this machine, or it may not count: futex calls are left out.")
    known = [one for one in judged if one.is_met is not None]
    result.summary.append(f"{sum(bool(one.is_met) for one in known)} of {len(known)} targets are met.")
    return result
