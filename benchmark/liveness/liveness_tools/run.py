"""run-benchmark: builds the program, runs it, and writes the report."""

import json
import subprocess
from pathlib import Path

from harness import cli, inside, outcome, program
from runtime_patches import locks, progress
from runtime_patches.errors import UserError

from . import HERE, REPO, results

BUILD = REPO / "build" / "liveness"
REPORT = REPO / "build" / "report" / "liveness"
# The header of the monitor, as programs copy it.
_HEADER = REPO / "test" / "Concurrency" / "Runtime" / "Inputs" / "Liveness" / "Liveness.h"


def _parser():
    parser = cli.Parser(prog="run-benchmark", description="Measures what the liveness monitor costs the "
                        "threads that it watches, and how fast it finds one that is stuck.", examples=(
                            "./run-benchmark", "./run-benchmark --filter Checkpoint",
                            "./run-benchmark upto:executor-liveness"))
    parser.add_argument("runtime", metavar="RUNTIME", nargs="?", default="after",
                        help="after, upto:PATCH, or any other that has the monitor")
    parser.add_argument("--filter", metavar="RE", default=".", help="only rows that match")
    parser.add_argument("--milliseconds", metavar="N", default="200", help="for a sample of a row")
    parser.add_argument("--rounds", metavar="N", default="3", help="samples of a row, in random order")
    parser.add_harness(REPORT, "row")
    return parser


def build(workspace=()):
    """The benchmark program. It needs a runtime with the monitor to link, and any such to run."""
    libraries = program.library_path("after", workspace)
    return program.build("liveness-benchmark", BUILD, c=[HERE / "benchmarks.cpp"], headers=[_HEADER],
                         link=[f"-L{libraries}", "-lswift_Concurrency", "-lswiftCore", "-lbenchmark",
                               "-lpthread", "-lstdc++"], workspace=workspace)


def _run(path, runtime, workspace, *arguments):
    """The output of the program. Its progress and its errors are seen."""
    done = subprocess.run([program.WITH_RUNTIME, *workspace, runtime, "--", str(path), *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise UserError(f"the benchmark program ended with status {done.returncode} on {runtime}",
                        "its messages are above; it needs a runtime with the patch executor-liveness")
    return done.stdout


def main():
    options = _parser().parse_args()
    workspace = cli.workspace(options)
    milliseconds = cli.integer(options.milliseconds, "--milliseconds", 1)
    rounds = cli.integer(options.rounds, "--rounds", 1)
    path = build(workspace)
    names = _run(path, options.runtime, workspace, "--benchmark_list_tests").splitlines()
    chosen = cli.matching(names, options.filter, "row")
    if options.list:
        print("\n".join(chosen))
        return
    with locks.exclusive(BUILD):
        written = outcome.Outcome("liveness", "What the liveness monitor costs",
                                  "benchmark/liveness/run-benchmark")
        with progress.Step(f"{len(chosen)} rows, {rounds} samples each"):
            output = _run(path, options.runtime, workspace, f"--benchmark_filter={options.filter}",
                          f"--benchmark_min_time={milliseconds / 1e3}s", f"--benchmark_repetitions={rounds}",
                          "--benchmark_enable_random_interleaving", "--benchmark_format=json")
        _report(json.loads(output), options, written)


def _report(output, options, written):
    found = results.rows(output)
    for title, (columns, rows) in (("Threads at once", results.by_threads(found)),
                                   ("A look at all threads", results.looking(found)),
                                   ("A stuck thread", results.detection(found))):
        if rows:
            written.table(title, columns, rows)
            print(outcome.text(columns, rows), end="\n\n")
    for name in results.SEED:
        if any(row.name == name for row in found):
            written.curve(name, "threads", "ns", results.curves(found, name), log_x=True, log_y=True)
    summary = results.summary(found)
    if summary:
        written.say(summary)
    print(results.NOTE)
    folder = Path(options.output).absolute()
    written.write(folder, [results.NOTE], output=output, runtime=options.runtime)
    inside.draw("liveness_tools.plots", HERE, folder)
    print(folder / "report.md")
