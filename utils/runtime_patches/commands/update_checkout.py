"""utils/update-checkout: makes the workspace."""

from ..cli import Parser, ready


def parser():
    return Parser(
        "utils/update-checkout",
        "Makes the workspace (toolchain and sources), or says that it is ready.",
        ["utils/update-checkout"],
    )


def main(options):
    ws = ready(options)
    print(f"toolchain {ws.toolchain} in {ws.root}\nsources   {ws.sources}")
