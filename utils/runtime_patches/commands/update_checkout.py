"""utils/update-checkout: makes the workspace."""

from argparse import Namespace

from ..cli import Parser, ready


def parser() -> Parser:
    return Parser(
        "utils/update-checkout",
        "Sets up the workspace (toolchain and sources), or reports that it is ready.",
        ["utils/update-checkout"],
    )


def main(options: Namespace) -> None:
    ws = ready(options)
    print(f"toolchain {ws.toolchain} in {ws.root}\nsources   {ws.sources}")
