"""utils/update-docs: writes the parts of the documentation that are generated."""

from argparse import Namespace

from ..cli import Parser


def parser() -> Parser:
    command = Parser(
        "utils/update-docs",
        "Writes the parts of the documentation that are generated: tables and plots from\n"
        "benchmark/results, the list of patches, the commands.",
        ["utils/update-docs", "utils/update-docs --check"],
        workspace=False,
        status="0 done, 1 an error, or something is not current with --check, 2 bad usage",
    )
    command.add("--check", "change nothing; exit 1 if something is not current")
    return command


def main(options: Namespace) -> None:
    from .. import documentation

    documentation.update(options.check)
