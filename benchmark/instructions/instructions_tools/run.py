"""run-benchmark: counts, compares, and writes the report."""

import os
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import cli, outcome, program
from runtime_patches import bench_build, locks, progress, runtimes
from runtime_patches.errors import UserError

from . import REPO, callgrind

BUILD = REPO / "build" / "instructions"
REPORT = REPO / "build" / "report" / "instructions"
_SUITE = str(REPO / "utils" / "run-smoke-bench")
_ROWS = (r"^(IsolatedDeinit\.(Nonisolated|NoHop|Hop)\.Array\.1000|"
         r"TaskLocalCopy\.Task\.(0|100)|RuntimeCaches\..*)$")
# Iterations of two runs, whose difference leaves out the start and the first iterations.
_FEW, _MANY = 5, 25
# Counts further apart than this are said to vary.
_STEADY = 0.01
_SERIES = ("all", "in the runtime")


def _parser():
    parser = cli.Parser(
        prog="run-benchmark", description="Counts the instructions that an iteration of rows of the benchmark "
        "suite takes on several\nruntimes, with valgrind's callgrind: the noise-free second opinion.",
        examples=("./run-benchmark", "./run-benchmark --filter '^TaskLocalCopy' before upto:async-deinit after"))
    parser.add_argument("runtimes", metavar="RUNTIME", nargs="*", default=["before", "after"],
                        help="stock, before, after, upto:PATCH (default: before after); ratios are to the first one")
    parser.add_argument("--filter", metavar="RE", help="rows of the suite that match (default: a few of each kind)")
    parser.add_argument("--repeat", metavar="N", default="2", help="counts of each; the median is told")
    parser.add_harness(REPORT, "row")
    return parser


def _suite(arguments, workspace):
    """What utils/run-smoke-bench prints, line by line. It says itself what is wrong."""
    quiet = ["--quiet"] if progress.quiet else []
    done = subprocess.run([_SUITE, *quiet, *workspace, *arguments], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout.splitlines()


def _count(runtime, row, iterations, workspace):
    """Counter {path: instructions} of one process, None where the runtime lacks the row;
    UserError where the process fails."""
    binary = runtimes.folder(runtime) / "bin" / bench_build.BINARY
    with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
        out = Path(scratch) / "counts"
        done = subprocess.run(
            [program.WITH_RUNTIME, *workspace, runtime, "--", "valgrind", "--tool=callgrind",
             f"--callgrind-out-file={out}", str(binary), row, f"--num-iters={iterations}", "--num-samples=1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env={**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"})
        if done.returncode:
            last = (done.stdout.strip().splitlines() or [""])[-1]
            raise UserError(f"{row} on {runtime} ended with status {done.returncode} below valgrind "
                            f"({last[:150]})", "there is no table of a part; --filter leaves a row out")
        # The driver runs nothing, and says nothing, for a name that it does not know.
        if "tests executed: 0" in done.stdout:
            return None
        with open(out) as lines:
            return callgrind.by_object(lines)


def _iteration(runtime, row, workspace):
    """(instructions of one iteration, those in the two libraries that the series changes);
    None where the runtime lacks the row."""
    few, many = (_count(runtime, row, number, workspace) for number in (_FEW, _MANY))
    if many is None:
        return None
    libraries = {path for path in many if os.path.basename(path) in runtimes.LIBRARIES}
    strange = [path for path in libraries if Path(path).parent != runtimes.libdir(runtime)]
    if strange or not libraries:
        raise UserError(f"{row} on {runtime} ran with {', '.join(strange) or 'none of its libraries'}",
                        f"it should have been those in {runtimes.libdir(runtime)}: is LD_PRELOAD set?")
    few.subtract(many)
    taken = _MANY - _FEW
    return (-sum(few.values()) / taken, -sum(few[path] for path in libraries) / taken)


def _measure(rows, names, repeat, workspace):
    """{(row, runtime): [(all, of that the runtime)]}."""
    found = {(row, name): [] for row in rows for name in names}
    jobs = [(row, name) for _ in range(repeat) for row in rows for name in names]
    with progress.Step(f"counting {len(jobs)} times") as step, \
            ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        counts = pool.map(lambda job: _iteration(job[1], job[0], workspace), jobs)
        try:
            for number, job in enumerate(jobs, 1):
                found[job].append(next(counts))
                step.text = f"counting, {number} of {len(jobs)}"
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


class Counts:
    """The medians of what was counted: found is {(row, runtime): [(all, in the runtime)]}."""

    def __init__(self, found, rows, names):
        self.rows, self.names = rows, names
        self.medians, self.unsteady = {}, set()
        for key, counts in found.items():
            if all(counts):
                values = list(zip(*counts))
                self.medians[key] = [statistics.median(one) for one in values]
                if max(values[0]) - min(values[0]) > _STEADY * self.medians[key][0]:
                    self.unsteady.add(key)

    def ratios(self, row, name):
        """[all, in the runtime] over those on the first runtime; None where there are none."""
        old, new = self.medians.get((row, self.names[0])), self.medians.get((row, name))
        return [one / other if other else None for one, other in zip(new, old)] if old and new else [None, None]

    def table(self):
        """(columns, lines of text)."""
        columns, lines = ["row, instructions an iteration"], []
        for index, name in enumerate(self.names):
            columns += [f"{name}: all", "in the runtime"]
            columns += [f"all, {name}/{self.names[0]}", "in the runtime"] if index else []
        for row in self.rows:
            line = [row]
            for index, name in enumerate(self.names):
                counts = self.medians.get((row, name), [None, None])
                line += ["-" if count is None else f"{count:,.0f}" for count in counts]
                line[-2] += " (varies)" * ((row, name) in self.unsteady)
                if index:
                    line += ["-" if ratio is None else f"{ratio:.2f}" for ratio in self.ratios(row, name)]
            lines.append(line)
        return columns, lines

    def curve(self, row):
        """{series: [(number of the runtime, instructions over those on the first)]}."""
        return {what: [(number, self.ratios(row, name)[index]) for number, name in enumerate(self.names, 1)]
                for index, what in enumerate(_SERIES)}


def main():
    options = _parser().parse_args()
    repeat = cli.integer(options.repeat, "--repeat", 1)
    names = list(dict.fromkeys(options.runtimes))
    for name in names:
        runtimes.check_name(name)
    workspace, pattern = cli.workspace(options), options.filter or _ROWS
    sides = [[names[0], name] for name in names[1:] or names]
    rows = _suite(["--list", "--filter", pattern, *sides[0]], workspace)
    if options.list:
        print("\n".join(rows))
        return
    with locks.exclusive(BUILD):
        for pair in sides:
            _suite(["--build-only", "--filter", pattern, *pair], workspace)
        written = outcome.Outcome("instructions", "Instruction counts", "benchmark/instructions/run-benchmark")
        counts = Counts(_measure(rows, names, repeat, workspace), rows, names)
        _report(counts, repeat, options, written)


def _report(counts, repeat, options, written):
    columns, lines = counts.table()
    print(outcome.text(columns, lines))
    first, last = counts.names[0], counts.names[-1]
    if first != last:
        ratios = {row: counts.ratios(row, last) for row in counts.rows}
        written.dots("Instructions of one iteration", f"{last}/{first}", _SERIES,
                     {row: values for row, values in ratios.items() if any(values)}, 1)
        best = sorted((values[1], row) for row, values in ratios.items() if values[1])[:4]
        written.say("Instructions in the runtime: " + ", ".join(f"{ratio:.2f} ({row})" for ratio, row in best)
                    + f" of those on {first}.")
    for row in counts.rows if len(counts.names) > 2 else ():
        written.curve(row, ", ".join(f"{number} {name}" for number, name in enumerate(counts.names, 1)),
                      f"instructions, of {first}", counts.curve(row))
    written.table("Instructions of one iteration", columns, lines)
    notes = [f"Medians of {repeat} counts by callgrind, which runs one thread at a time; what the kernel does is "
             "not counted. In the runtime: in " + " and ".join(runtimes.LIBRARIES) + "."]
    if counts.unsteady:
        notes.append(f"(varies): counts are more than {_STEADY:.0%} apart, where threads meet.")
    for note in notes:
        print(note)
    folder = Path(options.output).absolute()
    written.write(folder, notes)
    print(folder / "report.md")
