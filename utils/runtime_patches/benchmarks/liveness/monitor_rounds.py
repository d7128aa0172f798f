"""Measures what the liveness monitor costs: by a program of its own, and by the rows of the suite that run jobs."""

import json
import re
from pathlib import Path
from typing import Any

from ...base import progress
from ...base.paths import BENCHMARK, BUILD, LIVENESS
from ...runtimes import build as runtimes
from ...runtimes import program
from ...runtimes.runtime import Runtime, parse
from ...workspace.find import Workspace
from ..harness import measuring, programs
from . import costs

HOME = BUILD / "liveness"
_HINT = "it needs a runtime with the patch executor-liveness-scopes"
# The rows that the README shows as plots.
_PLOTS = {
    "BM_ConcurrentCreateDelete": "A scope begins and ends",
    "BM_Checkpoint": "A checkpoint",
    "BM_GCAndMonitor": "A look at all threads",
}


def build(ws: Workspace) -> Path:
    """The benchmark program. It needs a runtime with the monitor to link, and any such to run."""
    after = parse("after")
    runtimes.ensure(ws, after)
    c, headers = [BENCHMARK / "liveness" / "benchmarks.cpp"], [LIVENESS / "include" / "swift_liveness.h"]
    link = [f"-L{after.libraries}", *"-lswift_Concurrency -lswiftCore -lbenchmark -lpthread -lstdc++".split()]
    return program.build(ws, "liveness-benchmark", HOME, c=c, headers=headers, link=link)


def rows(ws: Workspace, path: Path, runtime: Runtime) -> Any:
    argv = [str(path), "--benchmark_list_tests"]
    return programs.output(ws, runtime, argv, "the benchmark program", _HINT).splitlines()


def measure(
    ws: Workspace, path: Path, runtime: Runtime, made: Any, chosen: Any, milliseconds: Any, rounds: Any
) -> None:
    """Adds the rows `chosen` of the program to the Outcome `made`."""
    with measuring.alone(HOME), progress.Step(f"{len(chosen)} rows, {rounds} samples each"):
        argv = [str(path), f"--benchmark_filter=^({'|'.join(map(re.escape, chosen))})$", "--benchmark_format=json"]
        argv += [f"--benchmark_min_time={milliseconds / 1e3}s", f"--benchmark_repetitions={rounds}"]
        argv += ["--benchmark_enable_random_interleaving"]
        text = programs.output(ws, runtime, argv, "the benchmark program", _HINT)
    found = costs.rows(json.loads(text))
    for title, (columns, lines) in costs.tables(found).items():
        made.table(title, columns, lines)
    for name, title in _PLOTS.items():
        if any(row.name == name for row in found):
            made.curve(title, "threads", "ns", costs.curves(found, name), log_x=True, log_y=True)
    made.summary += filter(None, [costs.summary(found)])
    made.notes.append(costs.NOTE)
