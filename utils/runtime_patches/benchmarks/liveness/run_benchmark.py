"""benchmark/liveness/run-benchmark: what the liveness monitor costs."""

from argparse import Namespace

from ...cli import Parser, choose, ensure, harness, integer, ready


def parser() -> Parser:
    command = harness(
        "liveness",
        "Measures what the liveness monitor costs the threads that it watches, and how fast it finds "
        "one that is stuck.\nThe rows of the suite that run jobs are measured with the monitor off, off again and on.",
        ["./run-benchmark", "./run-benchmark --filter '^BM_'", "./run-benchmark upto:executor-liveness-scopes"],
        rounds=(3, "samples of a row BM_…, in random order"),
    )
    what = "after, upto:PATCH, or any other that has the monitor (default: after)"
    command.add_runtimes("runtime [RUNTIME]", what, default="after")
    command.add("--milliseconds N", "how long a sample of a row BM_… lasts", type=integer(1), default="200")
    return command


def main(options: Namespace) -> None:
    from ...results import outcome
    from ..harness import programs
    from ..harness.jobs import Jobs
    from . import monitor_rounds

    ws = ready(options)
    path = monitor_rounds.build(ws)
    ensure(ws, options.runtime)
    own = monitor_rounds.rows(ws, path, options.runtime)
    jobs = Jobs(ws, options.runtime, "monitor", {"SWIFT_LIVENESS_TIMEOUT": "2000"}, "libswift_Liveness.so")
    chosen = choose(options, dict.fromkeys([*own, *jobs.rows], ""))
    result = outcome.begin("liveness", "What the liveness monitor costs")
    if rows := [row for row in chosen if row in own]:
        monitor_rounds.measure(ws, path, options.runtime, result, rows, options.milliseconds, options.rounds)
    if rows := [row for row in chosen if row in jobs.rows]:
        jobs.measure(result, rows, options.output)
    programs.show(result, options.output)
