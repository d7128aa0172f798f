"""Builds and runs the program that measures what the liveness monitor costs."""

import json

from ...base import locks, progress
from ...base.paths import BENCHMARK, BUILD, LIVENESS
from ...results import outcome
from ...runtimes import build as runtimes
from ...runtimes import program
from ...runtimes.runtime import parse
from ..harness import programs
from . import results

HOME = BUILD / "liveness"
_HINT = "it needs a runtime with the patch executor-liveness-scopes"
# The rows that the README shows as plots.
_PLOTS = {
    "BM_ConcurrentCreateDelete": "A scope begins and ends",
    "BM_Checkpoint": "A checkpoint",
    "BM_GCAndMonitor": "A look at all threads",
}


def build(ws):
    """The benchmark program. It needs a runtime with the monitor to link, and any such to run."""
    after = parse("after")
    runtimes.ensure(ws, after)
    return program.build(
        ws,
        "liveness-benchmark",
        HOME,
        c=[BENCHMARK / "liveness" / "benchmarks.cpp"],
        headers=[LIVENESS / "include" / "swift_liveness.h"],
        link=[f"-L{after.libraries}", "-lswift_Concurrency", "-lswiftCore", "-lbenchmark", "-lpthread", "-lstdc++"],
    )


def rows(ws, path, runtime):
    """The names of the rows."""
    return programs.output(
        ws, runtime, [str(path), "--benchmark_list_tests"], "the benchmark program", _HINT
    ).splitlines()


def measure(ws, path, runtime, chosen, wanted, milliseconds, rounds):
    """The Outcome of the rows that the regular expression `wanted` finds, which are `chosen`."""
    made = outcome.begin("liveness", "What the liveness monitor costs", "benchmark/liveness/run-benchmark")
    with locks.exclusive(HOME), progress.Step(f"{len(chosen)} rows, {rounds} samples each"):
        text = programs.output(
            ws,
            runtime,
            [
                str(path),
                f"--benchmark_filter={wanted}",
                f"--benchmark_min_time={milliseconds / 1e3}s",
                f"--benchmark_repetitions={rounds}",
                "--benchmark_enable_random_interleaving",
                "--benchmark_format=json",
            ],
            "the benchmark program",
            _HINT,
        )
    found = results.rows(json.loads(text))
    for title, (columns, lines) in (
        ("Threads at once", results.by_threads(found)),
        ("A look at all threads", results.looking(found)),
        ("A stuck thread", results.detection(found)),
    ):
        if lines:
            made.table(title, columns, lines)
    for name, title in _PLOTS.items():
        if any(row.name == name for row in found):
            made.curve(title, "threads", "ns", results.curves(found, name), log_x=True, log_y=True)
    made.summary += filter(None, [results.summary(found)])
    made.notes.append(results.NOTE)
    return made
