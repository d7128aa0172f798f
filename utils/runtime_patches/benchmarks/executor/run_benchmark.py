"""benchmark/executor/run-benchmark: the global executor with and without a pool of the runtime's own."""

from argparse import Namespace

from ...cli import Parser, choose, ensure, harness, ready


def parser() -> Parser:
    command = harness(
        "executor",
        "Compares the global executor with the pool on and off (SWIFT_POOL=1 and 0), in one library, over many "
        "starts of\nprocesses: hand-overs, tasks, isolated deinits, timers, blocked jobs, memory, futex calls. Beside "
        "it a floor program,\nand Go's goroutines where Go is installed.",
        ["./run-benchmark", "./run-benchmark --filter '^task' --rounds 5", "./run-benchmark --busy"],
        rounds=(20, "starts of a process for each row and column"),
    )
    command.add_runtimes("runtime [RUNTIME]", "after, upto:PATCH, or any other (default: after)", default="after")
    command.add("--busy", "beside a niced program on each processor")
    command.add("--no-futex", "do not count futex calls with perf")
    return command


def main(options: Namespace) -> None:
    from ..harness import programs
    from . import pool_rounds

    ws = ready(options)
    built = pool_rounds.build(ws)
    chosen = choose(options, programs.rows(ws, built.rows))
    ensure(ws, options.runtime)
    programs.show(pool_rounds.measure(ws, built, options, chosen), options.output, left=3)
