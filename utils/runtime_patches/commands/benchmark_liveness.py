"""benchmark/liveness/run-benchmark: what the liveness monitor costs."""

from ..cli import Parser, choose, integer


def parser():
    made = Parser(
        "run-benchmark",
        "Measures what the liveness monitor costs the threads that it watches, and how fast it finds "
        "one that is stuck.",
        ["./run-benchmark", "./run-benchmark --filter Checkpoint", "./run-benchmark upto:executor-liveness-scopes"],
    )
    what = "after, upto:PATCH, or any other that has the monitor (default: after)"
    made.add_runtimes("runtime [RUNTIME]", what, default="after")
    made.add_harness("liveness", "row", rounds=(3, "samples of a row, in random order (default: 3)"))
    made.add("--milliseconds N", "for a sample of a row", type=integer(1), default="200")
    return made


def main(options):
    from ..benchmarks.harness import programs
    from ..benchmarks.liveness import run
    from ..runtimes import build
    from ..workspace import provision

    ws = provision.ready(options)
    path = run.build(ws)
    build.ensure(ws, options.runtime)
    chosen = choose(options, dict.fromkeys(run.rows(ws, path, options.runtime), ""))
    if chosen is None:
        return
    outcome = run.measure(ws, path, options.runtime, chosen, options.filter, options.milliseconds, options.rounds)
    programs.show(outcome, options.output)
