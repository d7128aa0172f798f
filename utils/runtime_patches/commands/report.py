"""utils/report: one page of all results."""

from argparse import Namespace
from pathlib import Path

from .. import report as pages
from ..base.text import plural
from ..cli import Parser, folder


def parser() -> Parser:
    command = Parser(
        "utils/report",
        "Writes one page with all results: summary, tables, plots, environment. The page needs no\n"
        "network and no scripts. Without FILE, it shows everything below build/report.",
        [
            "utils/report",
            "utils/report ~/laptop/results.json ~/server/results.json",
            "utils/report ~/farm --output ~/page.html",
        ],
        workspace=False,
    )
    what = (
        "results.json of run-smoke-bench or of a harness, or "
        "folders that hold some; those of several machines are merged"
    )
    command.add("results [FILE…]", what, type=Path)
    what = "where the page goes (default: build/report/index.html)"
    command.add("--output FILE", what, type=folder, default=pages.PAGE)
    return command


def main(options: Namespace) -> None:
    from ..base import progress
    from ..report import read

    count, notes = pages.write(read.given(options.results), options.output)
    for line in notes:
        progress.note(line)
    print(f"{options.output}: {plural(count, 'result')}")
