"""utils/save-results: keeps results for the documentation."""

from argparse import Namespace
from pathlib import Path

from ..cli import Parser, machine


def parser() -> Parser:
    command = Parser(
        "utils/save-results",
        "Copies results, made compact, to benchmark/results/MACHINE, from which the tables of the\n"
        "documentation are made.",
        ["utils/save-results vm-2-cores", "utils/save-results vm-2-cores ~/farm/results.json"],
        workspace=False,
    )
    command.add("machine MACHINE", "the name under which the results are kept", type=machine)
    command.add("results [FILE…]", "as of utils/report (default: all below build/report)", type=Path)
    return command


def main(options: Namespace) -> None:
    from ..report import read, saved

    for path in saved.save(read.given(options.results), options.machine):
        print(path)
