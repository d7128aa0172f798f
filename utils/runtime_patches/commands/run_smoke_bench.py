"""utils/run-smoke-bench: compares two runtimes with upstream's benchmark suite."""

import os
from argparse import Namespace
from pathlib import Path

from ..base.errors import BadUsage, UserError
from ..base.paths import REPORT
from ..base.text import plural
from ..benchmarks.smoke.plan import PLAN
from ..cli import Parser, ensure, folder, integer, pattern, ready, runtime_names
from ..results.comparison import Comparison
from ..runtimes.runtime import Runtime


def parser() -> Parser:
    command = Parser(
        "utils/run-smoke-bench",
        "Compares two runtimes with upstream's benchmark suite and this repository's entries.",
        [
            "utils/run-smoke-bench",
            "utils/run-smoke-bench --filter 'TaskLocalCopy.*'",
            "utils/run-smoke-bench upto:NAME after",
        ],
        status="0 nothing is slower, 2 something is, 1 it could not run",
        bad_usage=1,
    )
    what = (
        "two runtimes: names (stock, before, after, upto:PATCH) or folders that hold lib/swift/linux "
        "(default: before after)"
    )
    command.add("runtimes OLD NEW", what, complete=runtime_names, nargs="*")
    what = "only benchmarks whose name matches. If no default row does, upstream's whole suite is searched"
    command.add("--filter RE", what, type=pattern)
    command.add("--all", "upstream's whole suite (about 15 minutes)")
    what = (
        "processes measured for each row and column (default: as many "
        f"as fit into {PLAN['budget']} s, at most {PLAN['most_rounds']})"
    )
    command.add("--samples N", what, type=integer())
    command.add("--list", "only list the benchmarks")
    what = "only put the benchmark binary into both runtimes' bin/, for upstream's own run_smoke_bench"
    command.add("--build-only", what)
    what = "where the report goes (default: build/report/smoke)"
    command.add("--output DIR", what, type=folder, default=REPORT / "smoke")
    what = "only show the table of an earlier results.json"
    command.add("--show [FILE]", what, type=Path, const=REPORT / "smoke" / "results.json")
    return command


def main(options: Namespace) -> int:
    from .. import report
    from ..base.progress import note
    from ..benchmarks.smoke import binary as suite
    from ..benchmarks.smoke import compare
    from ..results import comparison, verdicts
    from ..results.comparison import Sides

    if options.show:
        return _show(comparison.load(options.show))
    if len(options.runtimes) not in (0, 2):
        what = f"{plural(len(options.runtimes), 'runtime')} given"
        raise BadUsage(what, "give two runtimes, OLD NEW, or none for before and after")
    if options.samples is not None and options.samples < verdicts.FEWEST:
        few = f"--samples {options.samples} cannot show any change"
        raise BadUsage(few, f"the rank test needs {verdicts.FEWEST} or more")
    runtimes = [_runtime(name) for name in options.runtimes or ("before", "after")]
    ws = ready(options)
    compare.check_filter(ws, options.filter)  # before a long build
    ours = [runtime for runtime in runtimes if not runtime.is_given]
    ensure(ws, *ours)
    sides = Sides(*map(compare.side_of, runtimes))
    chosen = compare.choose(ws, sides, options.filter, options.all)
    if options.list:
        print("\n".join(row.name for row in chosen.rows))
        return 0
    for runtime in ours:
        suite.lay(chosen.binary, runtime.folder)
    if options.build_only:
        for runtime in runtimes:
            print(f"{runtime}: {runtime.folder}")
        return 0
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"--output {options.output}: {error.strerror}"
        raise UserError(what, "give a folder that can be written to") from None
    results = compare.measure(ws, sides, chosen, options.samples, options.output)
    results.write(options.output)
    note(f"written to {options.output}: results.json, report.md, report.txt")
    report.renew(options.output)
    return _show(results)


def _show(results: Comparison) -> int:
    from ..base.progress import coloured
    from ..results import table

    print(table.text(results, coloured()), end="", flush=True)
    if results.failed:
        row, count = results.failed[0], plural(len(results.failed), "benchmark")
        what = f"{count} did not run; {row.name} on {getattr(results.sides, row.side).name}: {row.reason}"
        raise UserError(what, "the other rows of the table are valid")
    return results.status


def _runtime(name: str) -> Runtime:
    """The Runtime that an argument names; or of a folder."""
    from ..runtimes.libraries import NAMES
    from ..runtimes.runtime import in_folder, parse
    from ..workspace.find import require_one_path

    path = Path(os.path.abspath(name))
    if "/" not in name:
        try:
            return parse(name)
        except UserError as error:
            if not path.is_dir():
                raise BadUsage(error.message, f"{error.hint}, or a folder") from None
    if not path.is_dir():
        raise UserError(f"no folder {path}", "give a runtime's name or folder")
    runtime = in_folder(path, name)
    for library in NAMES[:2]:
        if not runtime.library(library).is_file():
            what = f"{path} is not a runtime: it has no lib/swift/linux/{library}"
            raise UserError(what, "utils/build-runtime makes such folders in build/runtimes")
    require_one_path(path)
    return runtime
