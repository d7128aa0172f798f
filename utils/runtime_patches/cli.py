"""The commands in utils/: their options and what they print."""

import argparse
from pathlib import Path

from . import checkout, lint, locks, own_checkout, pins, progress, runtimes, series, setup
from .errors import UserError


class _Parser(argparse.ArgumentParser):
    """Bad usage is an error like any other: one line, one hint."""

    def error(self, message):
        raise UserError(message, f"{self.prog} --help", 2)


def _parser(name, description, examples, workspace=True,
            status="0 done, 1 an error, 2 bad usage"):
    parser = _Parser(prog=f"utils/{name}", description=description,
                     formatter_class=argparse.RawDescriptionHelpFormatter,
                     epilog="examples:\n" + "\n".join("  " + e for e in examples)
                     + f"\n\nexit status: {status}", allow_abbrev=False)
    if workspace:
        parser.add_argument("--checkout", metavar="DIR",
                            help="the folder that holds your swift/ checkout")
        parser.add_argument("--toolchain", metavar="DIR",
                            help="the usr folder of your Swift toolchain; needs --checkout")
    parser.add_argument("-q", "--quiet", action="store_true",
                        help="no progress, only results and errors")
    return parser


def _parse(parser):
    options = parser.parse_args()
    progress.quiet = options.quiet
    return options


def update_checkout():
    parser = _parser("update-checkout", "Makes the workspace (toolchain and sources), or "
                     "says that it is ready.", ["utils/update-checkout"])
    options = _parse(parser)
    ws = setup.ready(options)
    print(f"toolchain {ws.toolchain} in {ws.root}\nsources   {ws.sources}")


def _target(options):
    """The folder whose swift/ apply-patches and export-patches work on."""
    if options.checkout:
        from .workspace import check_checkout
        return check_checkout(options.checkout, getattr(options, "three_way", False)), None
    return pins.BUILD / "checkout", setup.ready(options)


def apply_patches():
    parser = _parser(
        "apply-patches", "Applies the series to a Swift checkout, a commit a patch, and "
        "lays this repository's\ntests and benchmarks at the same paths there in a last "
        "commit. Without --checkout it\nworks on build/checkout.",
        ["utils/apply-patches --checkout ~/swift-project",
         "utils/apply-patches --checkout ~/swift-project --only tasklocal-copy-dense-set"])
    parser.add_argument("--only", metavar="PATCH", nargs="+", default=[],
                        help="apply these patches only (in the series' order)")
    parser.add_argument("--3way", dest="three_way", action="store_true",
                        help="merge where the context differs (another Swift version)")
    options = _parse(parser)
    folder, ws = _target(options)
    if ws:
        if options.only:
            raise UserError("--only needs --checkout",
                            "build/checkout always holds the whole series; "
                            "utils/build-runtime upto:PATCH builds a part of it")
        with locks.exclusive(pins.BUILD):
            own_checkout.renew(ws, folder)
        print(f"{folder}/swift holds the series: {', '.join(series.names())}")
        return
    applied, state = checkout.apply(folder, options.only, options.three_way)
    if applied:
        patches = "1 patch" if len(applied) == 1 else f"{len(applied)} patches"
        print(f"{folder}/swift: {patches} and the tests applied on {state.head[:12]}: "
              f"{', '.join(applied)}")
    else:
        print(f"{folder}/swift: the series is applied already")


def export_patches():
    parser = _parser(
        "export-patches", "Writes the series back from the commits of a checkout, byte "
        "for byte reproducible.",
        ["utils/export-patches --check", "utils/export-patches --checkout ~/swift-project",
         "utils/export-patches --upstream tasklocal-copy-dense-set > request.md"],
        status="0 done, 1 an error, or a difference with --check, 2 bad usage")
    parser.add_argument("--check", action="store_true",
                        help="change nothing; exit 1 when the files differ from the commits")
    parser.add_argument("--upstream", metavar="PATCH", nargs="*",
                        help="only print the text of a pull request for these patches, or for all "
                        "that are still to be sent: title, reason, tests, figures")
    options = _parse(parser)
    if options.upstream is not None:
        from . import upstream
        print(upstream.text(options.upstream), end="")
        return
    folder, ws = _target(options)
    if ws and not (folder / "swift").exists():
        with locks.exclusive(pins.BUILD):
            own_checkout.renew(ws, folder)
    changes = checkout.export(folder, check=options.check)
    for path, what in changes:
        print(f"{what:8} {path.relative_to(pins.REPO)}")
    if not changes:
        print(f"patches/ is the same as the commits of {folder}/swift")
    elif options.check:
        raise UserError(f"patches/ differs from the commits of {folder}/swift in "
                        f"{len(changes)} files", "utils/export-patches")


def check_patches():
    from . import configurations
    parser = _parser(
        "check-patches", "Checks the law of the series: order file and folder agree, "
        "headers are whole,\nevery patch applies at its exact lines.",
        ["utils/check-patches", "utils/check-patches --headers",
         "utils/check-patches --build", "utils/check-patches --configurations",
         "utils/check-patches --configurations task-to-thread 32-bit"],
        status="0 no fault, 1 a fault or an error, 2 bad usage")
    parser.add_argument("--headers", action="store_true",
                        help="only what needs no sources")
    parser.add_argument("--build", action="store_true",
                        help="also build after each patch and run the tests it names")
    parser.add_argument("--configurations", metavar="NAME", nargs="*",
                        help="also compile (not link, not run) what the series touches in the "
                        "runtime's other configurations, or in these: "
                        + ", ".join(configurations.CONFIGURATIONS))
    options = _parse(parser)
    if options.headers and (options.build or options.configurations is not None):
        raise UserError("--headers needs no sources, --build and --configurations do",
                        "leave --headers out", 2)
    configurations.check_names(options.configurations or [])
    faults = lint.headers()
    if not faults and not options.headers:
        ws = setup.ready(options)
        faults = lint.applies(ws.sources)
    for file, fault in faults:
        print(f"patches/{file}: {fault}")
    if faults:
        raise UserError(f"{len(faults)} faults in the series",
                        "patches/README.md has the law of the series")
    print(f"{len(series.names())} patches, no fault")
    if options.build:
        from . import lit_suite
        for slug in series.names():
            runtimes.ensure(ws, f"upto:{slug}", options.checkout)
            tests = series.load(slug).tests
            if tests and lit_suite.run(ws, f"upto:{slug}", tests, []):
                raise UserError(f"the tests of patch '{slug}' fail on upto:{slug}",
                                f"utils/run-test --runtime upto:{slug} {' '.join(tests)}")
        print("each builds and passes its tests")
    if options.configurations is not None:
        runtimes.ensure(ws, "after", options.checkout)
        show_configurations(configurations.check(
            ws, options.configurations or configurations.CONFIGURATIONS))


def show_configurations(rows):
    """Prints the rows of configurations.check; UserError where the series breaks one."""
    broken = []
    print(f"{'configuration':16} compile  fail as unpatched  fail with the series only")
    for row in rows:
        if row.reason:
            print(f"{row.name:16} not compiled here: {row.reason}", flush=True)
            continue
        print(f"{row.name:16} {row.compiled:7}  {len(row.upstream):17}  {len(row.series):25}")
        for what, failed in (("as unpatched", row.upstream), ("series only", row.series)):
            for error in dict.fromkeys(failed.values()):
                files = [Path(file).name for file in failed if failed[file] == error]
                print(f"    {what}: {error}\n        ({', '.join(files)})", flush=True)
        broken += [row.name] * bool(row.series)
    if broken:
        raise UserError("the series breaks the runtime's configurations " + ", ".join(broken),
                        "utils/check-patches --configurations " + " ".join(broken))


def build_runtime():
    parser = _parser(
        "build-runtime", "Builds runtimes: stock, before (unpatched), after (the series "
        "and what is edited in\nthe checkout), upto:PATCH, and the series with a sanitizer or "
        "with assertions: asan, tsan,\nubsan, debug (unpatched: before-asan, …). They "
        "are laid in build/runtimes/NAME.",
        ["utils/build-runtime before after",
         "utils/build-runtime upto:tasklocal-copy-dense-set",
         "utils/build-runtime tsan"])
    parser.add_argument("names", metavar="NAME", nargs="+")
    options = _parse(parser)
    for name in options.names:
        runtimes.check_name(name)
    ws = setup.ready(options)
    for name in options.names:
        home = runtimes.ensure(ws, name, options.checkout)
        print(f"{name}: {home}")


def check_abi():
    parser = _parser(
        "check-abi", "Compares what programs and debuggers rely on: exported symbols, the "
        "values of\n_swift_concurrency_debug_*, and the layout of tasks, jobs, actors and "
        "status records.\nWhat differs must be named in the `ABI:` field of a patch; nothing "
        "may go.", ["utils/check-abi", "utils/check-abi before upto:async-deinit"],
        status="0 NEW stands in for OLD, 1 it does not, or an error, 2 bad usage")
    parser.add_argument("old", metavar="OLD", nargs="?", default="stock",
                        help="a runtime (default: stock, whose layouts are before's)")
    parser.add_argument("new", metavar="NEW", nargs="?", default="after",
                        help="a runtime (default: after)")
    options = _parse(parser)
    from . import abi_check
    for name in (options.old, options.new):
        runtimes.check_name(name)
    ws = setup.ready(options)
    for name in ("before", options.old, options.new):
        runtimes.ensure(ws, name, options.checkout)
    faults = 0
    for what, text, reason in abi_check.compare(ws, options.old, options.new):
        faults += reason is None
        print(f"{what:14} {text}" + (f": {reason}" if reason else ""))
    if faults:
        raise UserError(f"{faults} differences between {options.old} and {options.new} are "
                        "in no `ABI:` field of the series", "patches/README.md says what "
                        "may change")
    print(f"{options.new} stands in for {options.old}")


def stress():
    from . import stress as random_programs
    parser = _parser(
        "stress", "Runs random programs on several runtimes; what they print must agree. A "
        "seed that\nfails is made smaller, and the command that replays it is printed.",
        ["utils/stress", "utils/stress --time 3600 before after",
         "utils/stress --seeds 7:7 --operations 200 --workers 2 tsan"],
        status="0 all agree, 1 a seed fails or differs, or an error, 2 bad usage")
    parser.add_argument("names", metavar="NAME", nargs="*",
                        help="runtimes (default: before after)")
    parser.add_argument("--seeds", metavar="FIRST[:LAST]",
                        help="default: 1:20; FIRST alone is one seed, or the first of --time")
    parser.add_argument("--operations", metavar="N", type=int, default=50_000,
                        help="of each program (default: 50000)")
    parser.add_argument("--workers", metavar="N", type=int, default=6,
                        help="tasks at its start (default: 6)")
    parser.add_argument("--time", metavar="SECONDS", type=float,
                        help="go on for this time, with further seeds unless LAST is given")
    options = _parse(parser)
    names = options.names or ["before", "after"]
    seeds = options.seeds or ("1" if options.time else "1:20")
    first, colon, last = seeds.partition(":")
    if not first.isdecimal() or not (last or first).isdecimal() or (
            int(last or first) < int(first)) or min(options.operations, options.workers) < 1 or (
                options.time is not None and not options.time > 0):
        raise UserError("--seeds is FIRST[:LAST]; --operations, --workers and --time are above 0",
                        "utils/stress --help", 2)
    for name in names:
        runtimes.check_name(name)
    ws = setup.ready(options)
    count = 10**12 if options.time and not last else int(last or first) - int(first) + 1
    return random_programs.main(ws, names, int(first), count, options.operations,
                                options.workers, options.time, options.checkout)


def run_test():
    from . import lit_suite
    parser = _parser(
        "run-test", "Runs this repository's tests and upstream's concurrency runtime "
        "tests with lit.",
        ["utils/run-test", "utils/run-test --runtime before --filter task_local",
         "utils/run-test -v test/Concurrency/Runtime"],
        status="0 nothing failed, 1 a test failed, or an error, 2 bad usage")
    parser.add_argument("--runtime", metavar="NAME", default="after",
                        help="the runtime to test (default: after)")
    lit_suite.add_options(parser)
    options = _parse(parser)
    runtimes.check_name(options.runtime)
    ws = setup.ready(options)
    lit_suite.select(ws, options.paths, options.lit)  # before a long build
    runtimes.ensure(ws, options.runtime, options.checkout)
    return lit_suite.run(ws, options.runtime, options.paths, options.lit)


def run_smoke_bench():
    from . import smoke_bench
    parser = _parser(
        "run-smoke-bench", "Compares two runtimes with upstream's benchmark suite and "
        "this repository's entries.",
        ["utils/run-smoke-bench", "utils/run-smoke-bench --filter 'TaskLocalCopy.*'",
         "utils/run-smoke-bench upto:tasklocal-copy-dense-set after"],
        status="0 nothing is slower, 2 something is, 1 it could not run")
    smoke_bench.add_options(parser)
    options = _parse(parser)
    return smoke_bench.main(options)


def report():
    from . import report as pages
    parser = _parser(
        "report", "Makes one page of all results: summary, tables, plots, environment. It "
        "needs no network\nand no scripts. Without arguments: of everything below "
        "build/report.",
        ["utils/report", "utils/report ~/laptop/results.json ~/server/results.json",
         "utils/report ~/farm --output /tmp/page.html"], workspace=False)
    parser.add_argument("results", metavar="FILE", nargs="*", type=Path,
                        help="results.json of run-smoke-bench or of another harness, report.json "
                        "of benchmark/deinit/reproduce, or folders that hold some; those of "
                        "several machines are merged")
    parser.add_argument("--output", metavar="FILE", type=Path, default=pages.PAGE,
                        help="where the page goes (default: build/report/index.html)")
    options = _parse(parser)
    if not options.results and not pages.found():
        raise UserError("there are no results yet", "utils/run-smoke-bench measures some")
    results = options.results or [pages.FOLDER]
    count, notes = pages.write(results, options.output)
    for line in notes:
        progress.note(line)
    print(f"{options.output}: {count} result{'s' * (count != 1)}")


def doctor():
    from . import doctor as found
    parser = _parser(
        "doctor", "Says what is ready, missing or stale, what has to be mended, and how much "
        "room\neverything takes; cleans what is named. It makes nothing.",
        ["utils/doctor", "utils/doctor --clean old", "utils/doctor --clean test work --dry-run"],
        status="0 nothing to mend, 1 something is, or an error, 2 bad usage")
    parser.add_argument("--clean", metavar="PART", nargs="+",
                        help="remove: old (of other pins and configurations, and what was left by "
                        "interruptions), ccache, cache (toolchain, sources and builds of all clones), "
                        "build (folders of build/ but checkout and report), or a folder of build/ by its "
                        "name; never a checkout")
    parser.add_argument("--dry-run", action="store_true", help="with --clean: only tell")
    options = _parse(parser)
    if options.dry_run and not options.clean:
        raise UserError("--dry-run needs --clean", "utils/doctor --clean old --dry-run", 2)
    return found.clean(options) if options.clean else found.show(options)


COMMANDS = {
    "update-checkout": update_checkout, "apply-patches": apply_patches,
    "export-patches": export_patches, "check-patches": check_patches,
    "build-runtime": build_runtime, "check-abi": check_abi, "stress": stress,
    "run-test": run_test,
    "run-smoke-bench": run_smoke_bench, "report": report, "doctor": doctor,
}
