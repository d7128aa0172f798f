"""The workspace that the options of a test name."""

from types import SimpleNamespace

from runtime_patches.workspace import provision
from runtime_patches.workspace.find import Workspace


def workspace(words: list[str]) -> Workspace:
    """words: --checkout DIR --toolchain DIR, or none."""
    given = dict(zip(words[::2], words[1::2]))
    return provision.ready(SimpleNamespace(checkout=given.get("--checkout"), toolchain=given.get("--toolchain")))
