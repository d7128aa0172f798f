"""utils/report: one page of all results; and what the READMEs show of them."""

from __future__ import annotations

from pathlib import Path

from .. import report as pages
from ..base.errors import UserError
from ..base.text import plural
from ..cli import Parser, folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def parser() -> Parser:
    made = Parser(
        "utils/report",
        "Makes one page of all results: summary, tables, plots, environment. It needs no network\n"
        "and no scripts. Without arguments: of everything below build/report.",
        [
            "utils/report",
            "utils/report ~/laptop/results.json ~/server/results.json",
            "utils/report ~/farm --output /tmp/page.html",
            "utils/report --save vm-2-cores",
            "utils/report --update-docs",
        ],
        workspace=False,
    )
    what = (
        "results.json of run-smoke-bench or of a harness, or "
        "folders that hold some; those of several machines are merged"
    )
    made.add("results [FILE…]", what, type=Path)
    made.add("--output FILE", "where the page goes (default: build/report/index.html)", type=folder, default=pages.PAGE)
    made.add("--save MACHINE", "only copy the results, made compact, to benchmark/results/MACHINE")
    made.add(
        "--update-docs",
        "only write the parts of the READMEs that are generated: "
        "tables and plots from benchmark/results, the series, the commands",
    )
    made.add("--check", "with --update-docs: change nothing; exit 1 if something is not current")
    return made


def main(options: Namespace) -> int | None:
    from ..base import progress
    from ..base.paths import REPORT
    from ..report import read

    if options.update_docs or options.check:
        from .. import documentation

        documentation.update(options.check)
        return None
    if not options.results and not read.found(REPORT):
        raise UserError("there are no results yet", "utils/run-smoke-bench measures some")
    results = options.results or [REPORT]
    if options.save:
        from ..report import saved

        for path in saved.save(results, options.save):
            print(path)
        return 0
    count, notes = pages.write(results, options.output)
    for line in notes:
        progress.note(line)
    print(f"{options.output}: {plural(count, 'result')}")
    return 0
