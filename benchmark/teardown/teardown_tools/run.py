"""run-benchmark: builds the program, runs each variant, and writes the report."""

import signal
import subprocess
from pathlib import Path

from harness import cli, outcome, program
from runtime_patches import locks, progress
from runtime_patches.errors import UserError

from . import HERE, REPO, results

BUILD = REPO / "build" / "teardown"
REPORT = REPO / "build" / "report" / "teardown"
# The share of a round for which other programs may keep its thread waiting.
_QUIET = 0.03
_LEAST_DEPTH, _LARGEST_DEPTH = 2, 30


def _parser():
    parser = cli.Parser(prog="run-benchmark", description="Makes a full binary tree, copies it and drops "
                        "both, in several designs, on two runtimes.", examples=(
                            "./run-benchmark", "./run-benchmark --depth 26 --filter '^(class|arena)$'",
                            "./run-benchmark stock --filter isolated --isolated-depth 20"))
    parser.add_comparison(REPORT, "variant", "in one process")
    parser.add_argument("--depth", metavar="N", default="22", help="levels of the tree: 2^N - 1 nodes")
    parser.add_argument("--isolated-depth", metavar="N", default="18",
                        help="the same for nodes whose deinit is on an actor, if less")
    parser.add_argument("--attempts", metavar="N", default="3", help="for a process, while other programs "
                        "disturb it")
    parser.add_argument("--without-fastbins", action="store_true",
                        help="have glibc's malloc keep no lists of small free blocks")
    return parser


def build(workspace=()):
    """The benchmark program; the trees are those of the suite's entries."""
    trees = REPO / "benchmark" / "single-source" / "Trees.swift"
    return program.build("teardown-benchmark", BUILD, swift=[*sorted(HERE.glob("*.swift")), trees],
                         c=[HERE / "controls.c", program.NATIVE / "machine.c"],
                         headers=[HERE / "controls.h", program.NATIVE / "machine.h"],
                         bridging=HERE / "controls.h", workspace=workspace)


def _depth(text, option):
    depth = cli.integer(text, option, _LEAST_DEPTH)
    if depth > _LARGEST_DEPTH:
        raise UserError(f"{option}: {depth} is more than {_LARGEST_DEPTH}",
                        "the nodes of one buffer are numbered with 32 bits")
    return depth


def _available():
    """Bytes of memory that programs can get without swapping."""
    with open("/proc/meminfo") as info:
        fields = dict(line.split(":", 1) for line in info)
    return int(fields["MemAvailable"].split()[0]) * 1024


def _check_memory(depths, sizes):
    """Refuses trees that would not fit: a tree and its copy are there at once."""
    available = _available()
    for variant, depth in depths.items():
        needed = 2 * sizes[variant] * 2 ** depth
        if needed > 0.9 * available:
            fits = max(_LEAST_DEPTH, (int(0.9 * available) // (2 * sizes[variant])).bit_length() - 1)
            option = "--isolated-depth" if variant.startswith("isolated") else "--depth"
            raise UserError(f"{variant} with depth {depth} needs about {needed / 1e9:.1f} GB of memory, "
                            f"{available / 1e9:.1f} GB are free",
                            f"{option} {fits} fits; --filter leaves a variant out")


def _run(path, variant, runtime, depth, options, workspace):
    """One process; UserError if it does not do all its rounds."""
    rounds = cli.integer(options.rounds, "--rounds", 1)
    tunables = ["env", "GLIBC_TUNABLES=glibc.malloc.mxfast=0"] if options.without_fastbins else []
    done = subprocess.run(
        [program.WITH_RUNTIME, *workspace, runtime, "--", *tunables, str(path), variant, f"--depth={depth}",
         f"--rounds={rounds}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, check=False)
    found = [results.Round(*map(int, line.split("\t"))) for line in done.stdout.splitlines()]
    if done.returncode or len(found) != rounds:
        why = (f"died of {signal.Signals(-done.returncode).name}" if done.returncode < 0
               else f"ended with status {done.returncode}")
        text = done.stderr.strip().splitlines()
        raise UserError(f"{variant} on {runtime} {why} after {len(found)} of {rounds} rounds"
                        + (f" ({text[0][:150]})" if text else ""),
                        "there is no table of a part; --filter leaves a variant out")
    return results.Run(variant, runtime, depth, found)


def _quietest(attempts, run):
    """The first run that nothing disturbed, or the least disturbed of `attempts`."""
    best = None
    for _ in range(attempts):
        one = run()
        if best is None or one.waited < best.waited:
            best = one
        if best.waited <= _QUIET:
            break
    return best


def main():
    options = _parser().parse_args()
    workspace = cli.workspace(options)
    cli.check_two(options.runtimes)
    depth = _depth(options.depth, "--depth")
    isolated = min(depth, _depth(options.isolated_depth, "--isolated-depth"))
    attempts = cli.integer(options.attempts, "--attempts", 1)
    cli.integer(options.rounds, "--rounds", 1)
    path = build(workspace)
    sizes = {variant: int(size) for variant, size in
             program.rows(path, options.filter, "variant", workspace).items()}
    if options.list:
        for variant, size in sizes.items():
            print(f"{variant:20} {size} bytes a node")
        return
    depths = {variant: isolated if variant.startswith("isolated") else depth for variant in sizes}
    _check_memory(depths, sizes)
    for runtime in options.runtimes:
        program.library_path(runtime, workspace)
    runs = []
    with locks.exclusive(BUILD):
        written = outcome.Outcome("teardown", "What it costs to make, copy and tear down a tree",
                                  "benchmark/teardown/run-benchmark")
        for variant in sizes:
            for runtime in options.runtimes:
                with progress.Step(f"{variant} on {runtime}"):
                    runs.append(_quietest(attempts, lambda: _run(
                        path, variant, runtime, depths[variant], options, workspace)))
        _report(runs, options, written)


def _report(runs, options, written):
    for title, (columns, rows) in (
            ("Every round", results.rounds_table(runs, _QUIET)),
            ("Medians", results.summary_table(runs, options.runtimes))):
        written.table(title, columns, rows)
        print(outcome.text(columns, rows, left=2))
        print()
    if len(options.runtimes) == 2:
        ratios = results.ratios(runs)
        written.dots("Medians", f"time on {options.runtimes[1]} over time on {options.runtimes[0]}",
                     results.PHASES, ratios, 1)
        isolated = {variant: values for variant, values in ratios.items() if variant.startswith("isolated")}
        if isolated:
            place = results.PHASES.index("delete")
            written.say("Dropping a tree of isolated deinits takes " + ", ".join(
                f"{values[place]:.2f} ({variant})" for variant, values in isolated.items()) + " of the time.")
    notes = results.seed_lines()
    if options.without_fastbins:
        notes.insert(0, "glibc.malloc.mxfast=0: malloc keeps no lists of small free blocks")
    for note in notes:
        print(note)
    folder = Path(options.output).absolute()
    written.write(folder, notes)
    print(folder / "report.md")
