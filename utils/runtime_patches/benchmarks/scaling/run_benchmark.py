"""benchmark/scaling/run-benchmark: how references scale over threads, Tasks and processes."""

import os
from argparse import Namespace
from typing import Any

from ...cli import Parser, choose, ensure, harness, integer, ready


def parser() -> Parser:
    command = harness(
        "scaling",
        "Measures how the work of several workers scales that are threads, Tasks and processes, on two runtimes.",
        [
            "./run-benchmark",
            "./run-benchmark --filter '^search' --rounds 7",
            "./run-benchmark upto:immortalize-strong-extra after",
        ],
        rounds=(5, "samples of each kind"),
        runtimes="one or two of before, after, stock, upto:PATCH",
        most=2,
    )
    command.add("--workers A,B", "numbers of workers (if not given: 1, 2, 4 … up to the processors)", type=_workers)
    command.add("--milliseconds N", "how long a sample lasts", type=integer(1), default="60")
    what = "how often a sample is taken while other programs disturb it"
    command.add("--attempts N", what, type=integer(1), default="4")
    command.add("--cache-line-malloc", "give every object cache lines of its own")
    return command


def _workers(text: str) -> list[int]:
    """The numbers of workers, 1 among them. Workers that share a processor say nothing."""
    return sorted({1, *map(integer(1, len(os.sched_getaffinity(0))), text.split(","))})


def main(options: Namespace) -> None:
    from ..harness import programs
    from . import worker_rounds
    from .speed_ups import KINDS

    processors = sorted(os.sched_getaffinity(0))
    powers = [1 << power for power in range(10) if 1 << power < len(processors)]
    workers = options.workers or [*powers, len(processors)]
    ws = ready(options)
    path = worker_rounds.build(ws)
    known = programs.rows(ws, path)
    if options.filter in worker_rounds.HIDDEN:
        known[options.filter] = worker_rounds.HIDDEN[options.filter]
    rows = choose(options, {row: f"shares {shared}" for row, shared in known.items()})
    ensure(ws, *options.runtimes)
    plan: dict[str, Any] = {"program": str(path), "rows": rows, "kinds": KINDS, "quiet": 0.02, "patience": 20}
    plan |= {name: getattr(options, name) for name in ("rounds", "milliseconds", "attempts")}
    plan |= {"workers": workers, "processors": processors}
    plan["environment"] = worker_rounds.cache_line_malloc(ws) if options.cache_line_malloc else {}
    plan["libraries"] = {runtime.name: str(runtime.libraries) for runtime in options.runtimes}
    programs.show(worker_rounds.report(plan, worker_rounds.measure(ws, plan), known), options.output, left=2)
