"""run-benchmark: builds the program, runs each row at each size, and writes the report."""

import statistics
import subprocess
from pathlib import Path

from harness import cli, outcome, program
from runtime_patches import locks, progress
from runtime_patches.errors import UserError

from . import REPO

BUILD = REPO / "build" / "load"
REPORT = REPO / "build" / "report" / "load"
# row: the largest number of operations that it is run with.
ROWS = {"queued-deinits": 10**6, "senders": 10**6, "tasks": 10**5, "threads": 10**5}
_COLUMNS = ["row", "runtime", "operations", "ns each", "start, MB", "waiting, MB", "end, MB", "trimmed, MB"]


def _parser():
    parser = cli.Parser(prog="run-benchmark", description="Puts a load on two runtimes, and prints the time of "
                        "an operation and the resident memory: at the start, while all wait, at the end, and "
                        "when malloc has given back what it keeps.", examples=(
                            "./run-benchmark", "./run-benchmark --filter deinits --rounds 5",
                            "./run-benchmark stock after --most 100000"))
    parser.add_argument("runtimes", metavar="RUNTIME", nargs="*", default=["before", "after"],
                        help="before, after, stock, upto:PATCH (default: before after)")
    parser.add_argument("--most", metavar="N", default="1000000", help="operations of the largest run")
    parser.add_argument("--rounds", metavar="N", default="3", help="processes a figure, which is their median")
    parser.add_argument("--filter", metavar="RE", default=".", help="only rows that match")
    parser.add_harness(REPORT, "row")
    return parser


def _run(path, row, runtime, count, workspace):
    """The five figures of one process; UserError if something was lost or left."""
    done = subprocess.run([program.WITH_RUNTIME, *workspace, runtime, "--", str(path), row, str(count)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        text = (done.stdout + done.stderr).strip().splitlines()
        raise UserError(f"{row} with {count} on {runtime} failed: {text[-1] if text else done.returncode}",
                        "a fault of the runtime; --filter leaves a row out")
    return [int(word) for word in done.stdout.split()[2:]]


def _medians(path, row, runtime, count, rounds, workspace):
    runs = [_run(path, row, runtime, count, workspace) for _ in range(rounds)]
    nanoseconds, *memory = map(statistics.median, zip(*runs))
    return [row, runtime, f"{count:,}", f"{nanoseconds:.0f}", *(f"{kb / 1024:.1f}" for kb in memory)]


def main():
    options = _parser().parse_args()
    workspace = cli.workspace(options)
    most = cli.integer(options.most, "--most", 1000)
    rounds = cli.integer(options.rounds, "--rounds", 1)
    chosen = cli.matching(ROWS, options.filter, "row")
    if options.list:
        print("\n".join(chosen))
        return
    path = program.build("concurrency-load", BUILD, swift=[REPO / "test" / "Runtime" / "concurrency-load.swift"],
                         flags=("-O", "-Xfrontend", "-disable-availability-checking"), workspace=workspace)
    for runtime in options.runtimes:
        program.library_path(runtime, workspace)
    table = []
    with locks.exclusive(BUILD):
        written = outcome.Outcome("load", "The runtime under load", "benchmark/load/run-benchmark")
        for row in chosen:
            for count in (10**n for n in range(3, 7) if 10**n <= min(most, ROWS[row])):
                with progress.Step(f"{row}, {count:,}"):
                    table += [_medians(path, row, runtime, count, rounds, workspace)
                              for runtime in options.runtimes]
        written.table("Load", _COLUMNS, table)
        print(outcome.text(_COLUMNS, table, left=2))
        written.write(Path(options.output).absolute(), [])
