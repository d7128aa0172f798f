"""run-benchmark: builds the program, has the samples taken, and writes the report."""

import json
import os
import subprocess
from pathlib import Path

from harness import cli, inside, outcome as harness_outcome, program
from runtime_patches import locks, progress
from runtime_patches.errors import UserError

from . import HERE, KINDS, REPO, table
from .results import Results

BUILD = REPO / "build" / "scaling"
REPORT = REPO / "build" / "report" / "scaling"
# A row whose workers die, for tests.
_HIDDEN = {"test.dying": "nothing"}


def _parser():
    parser = cli.Parser(prog="run-benchmark", description="Measures how the work of several workers "
                        "scales that are threads, Tasks and processes, on two runtimes.", examples=(
                            "./run-benchmark", "./run-benchmark --filter '^search' --rounds 7",
                            "./run-benchmark upto:immortalize-strong-extra after"))
    parser.add_comparison(REPORT, "row", "samples of each kind")
    parser.add_argument("--workers", metavar="A,B", help="numbers of workers; without it 1, 2, 4 … up to "
                        "the processors")
    parser.add_argument("--milliseconds", metavar="N", default="60", help="for a sample")
    parser.add_argument("--attempts", metavar="N", default="4", help="for a sample, while other programs "
                        "disturb it")
    parser.add_argument("--cache-line-malloc", action="store_true",
                        help="give every object cache lines of its own")
    return parser


def build(workspace=()):
    """The benchmark program."""
    return program.build("scaling-benchmark", BUILD, swift=sorted(HERE.glob("*.swift")),
                         c=[HERE / "support.c", program.NATIVE / "machine.c"],
                         headers=[HERE / "support.h", program.NATIVE / "machine.h"],
                         bridging=HERE / "support.h", workspace=workspace)


def _workers(text, processors):
    """The numbers of workers, 1 among them."""
    if text is None:
        numbers = [1 << power for power in range(10) if 1 << power < processors]
        return sorted({1, *numbers, processors})
    numbers = {cli.integer(word, "--workers", 1) for word in text.split(",")}
    if max(numbers) > processors:
        raise UserError(f"--workers: {max(numbers)} workers, but this process may use {processors} processors",
                        f"give at most {processors}: workers that share a processor say nothing")
    return sorted({1, *numbers})


def _environment(options, workspace):
    """The variables of the measured processes."""
    if not options.cache_line_malloc:
        return {}
    library = program.build("cache-line-malloc.so", BUILD, c=[HERE / "cache-line-malloc.c"],
                            link=["-shared"], workspace=workspace)
    return {"LD_PRELOAD": str(library)}


def _take(plan, workspace, count):
    """Runs the sampler; returns its samples."""
    samples = []
    process = subprocess.Popen(
        [program.WITH_RUNTIME, *workspace, f"--bind={HERE}", "stock", "--", "python3", "-B", "-m",
         "scaling_tools.sampler"], cwd=HERE, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(json.dumps(plan))
    process.stdin.close()
    whole = f"{count} samples of {plan['milliseconds']} ms"
    try:
        with progress.Step(whole) as step:
            for line in process.stdout:
                sample = json.loads(line)
                if "failed" in sample:
                    raise UserError(f"{sample['row']} with {sample['workers']} {sample['kind']} on "
                                    f"{sample['runtime']}: {sample['failed']}",
                                    "there is no table of a part; --filter leaves a row out")
                samples.append(sample)
                step.text = f"{len(samples)} of {whole}"
    finally:
        process.terminate()
        process.wait()
    if len(samples) != count:
        raise UserError(f"the sampler ended after {len(samples)} of {count} samples", "its messages are above")
    return samples


def main():
    options = _parser().parse_args()
    workspace = cli.workspace(options)
    cli.check_two(options.runtimes)
    processors = sorted(os.sched_getaffinity(0))
    workers = _workers(options.workers, len(processors))
    path = build(workspace)
    rows = program.rows(path, options.filter, "row", workspace, _HIDDEN)
    if options.list:
        for name, shares in rows.items():
            print(f"{name:24} shares {shares}")
        return
    plan = {
        "program": str(path), "rows": list(rows), "kinds": KINDS, "workers": workers,
        "processors": processors, "rounds": cli.integer(options.rounds, "--rounds", 1),
        "milliseconds": cli.integer(options.milliseconds, "--milliseconds", 1),
        "attempts": cli.integer(options.attempts, "--attempts", 1), "quiet": 0.02, "patience": 20,
        "environment": _environment(options, workspace),
        "libraries": {name: program.library_path(name, workspace) for name in options.runtimes},
    }
    with locks.exclusive(BUILD):
        count = plan["rounds"] * len(rows) * len(KINDS) * len(workers) * len(plan["libraries"])
        outcome = harness_outcome.Outcome("scaling", "How references scale in one process",
                                          "benchmark/scaling/run-benchmark")
        samples = _take(plan, workspace, count)
        _report(plan, samples, rows, options, outcome)


def _report(plan, samples, rows, options, outcome):
    results = Results(plan, samples)
    runtimes, most = list(plan["libraries"]), max(plan["workers"])
    header, lines = table.lines(results, rows, most, runtimes)
    notes = [table.note(most), *table.seed_lines()]
    print(harness_outcome.text(header, lines, left=2))
    print()
    for note in notes:
        print(note)
    outcome.table("The work of several workers over that of one", header, lines)
    if most > 1:
        # As the table calls them: it marks those that were disturbed.
        speed_ups = {line[0]: [results.speed_up(row, kind, most, runtime) for kind, runtime in _chosen(runtimes)]
                     for row, line in zip(rows, lines)}
        outcome.dots(f"{most} workers", "the work of several workers over that of one",
                     [f"{kind}, {runtime}" for kind, runtime in _chosen(runtimes)], speed_ups, most)
        if len(runtimes) == 2:
            _say(outcome, speed_ups, most)
    # A curve of two points says no more than the dots.
    for row in rows if len(plan["workers"]) > 2 else ():
        outcome.curve(row, "workers", "speed-up", {
            f"{kind}, {runtime}": [(number, results.speed_up(row, kind, number, runtime))
                                   for number in plan["workers"]]
            for runtime in runtimes for kind in KINDS})
    folder = Path(options.output).absolute()
    outcome.write(folder, notes, plan=plan, samples=samples)
    if len(plan["workers"]) > 1:
        inside.draw("scaling_tools.plots", HERE, folder)
    print(folder / "report.md")


def _chosen(runtimes):
    """(kind, runtime) of what stands side by side."""
    if len(runtimes) == 1:
        return [(kind, runtimes[0]) for kind in KINDS]
    return [("threads", runtimes[0]), ("threads", runtimes[1]), ("processes", runtimes[1])]


def _say(outcome, speed_ups, most):
    """The rows whose threads gain most on the second runtime."""
    gains = sorted(((new / old, row, old, new) for row, (old, new, _) in speed_ups.items()
                    if old and new), reverse=True)
    best = ", ".join(f"{row} {old:.2f} → {new:.2f}" for gain, row, old, new in gains[:5] if gain > 1.2)
    if best:
        outcome.say(f"The work of {most} threads over that of one: {best}; {most} is perfect.")
