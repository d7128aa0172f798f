"""benchmark/tracing/run-benchmark: what the recorder of tasks costs."""

from argparse import Namespace

from ...cli import Parser, choose, ensure, harness, ready


def parser() -> Parser:
    command = harness(
        "tracing",
        "Measures what the recorder (SWIFT_TRACE=1) costs: the rows of the suite that run jobs and a server, with the "
        "recorder\noff, off again and on; the size of its files, and the time to read them.",
        ["./run-benchmark", "./run-benchmark --filter '^server'", "./run-benchmark --filter 'Task.0$'"],
        rounds=(7, "new processes a column of the server"),
    )
    what = "after, or any other that has the recorder (default: after)"
    command.add_runtimes("runtime [RUNTIME]", what, default="after")
    return command


def main(options: Namespace) -> None:
    from ...results import outcome
    from ..harness import programs
    from ..harness.jobs import Jobs
    from . import recorder_rounds as recorder

    ws = ready(options)
    ensure(ws, options.runtime)
    jobs = Jobs(ws, options.runtime, "recorder", recorder.RECORDER, "libswift_Trace.so")
    servers = {f"server-{row}": row for row in recorder.SERVERS}
    files = {f"file-{row}": row for row in recorder.FILES}
    chosen = choose(options, dict.fromkeys([*jobs.rows, *servers, *files], ""))
    result = outcome.begin("tracing", "What the recorder of tasks costs")
    if rows := [row for row in chosen if row in jobs.rows]:
        jobs.measure(result, rows, options.output)
    if rows := [servers[row] for row in chosen if row in servers]:
        recorder.measure_servers(ws, options, result, rows)
    if rows := [files[row] for row in chosen if row in files]:
        recorder.measure_files(ws, options.runtime, result, rows)
    programs.show(result, options.output)
