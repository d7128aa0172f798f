"""utils/update-checkout: makes the workspace."""

from ..cli import Parser
from ..workspace import provision


def parser():
    return Parser("utils/update-checkout", "Makes the workspace (toolchain and sources), or says that it is ready.",
                  ["utils/update-checkout"])


def main(options):
    ws = provision.ready(options)
    print(f"toolchain {ws.toolchain} in {ws.root}\nsources   {ws.sources}")
