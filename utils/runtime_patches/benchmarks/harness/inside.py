"""Runs a measuring program of this package inside the workspace: a plan goes in, and events come out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...base import process
from ...base.paths import UTILS
from ...workspace.find import Workspace


class Failed(Exception):
    """A measured process did not do its part."""


def events(
    ws: Workspace, module: str, plan: Mapping[str, Any], binds: Iterable[Path | str] = ()
) -> Generator[dict[str, Any], None, None]:
    """The events (dictionaries) that `python3 -m module` prints, one in a line, for `plan` on its standard
    input. It ends with this generator."""
    argv = ["python3", "-B", "-m", f"runtime_patches.{module}"]
    child = ws.popen(argv, binds=binds, env={"PYTHONPATH": str(UTILS)})
    assert child.stdin and child.stdout
    try:
        child.stdin.write(json.dumps(plan))
        child.stdin.close()
        for line in child.stdout:
            yield json.loads(line)
    finally:
        process.end(child)


def serve(measure: Callable[[dict[str, Any]], Iterable[Mapping[str, Any]]]) -> None:
    """The other end: prints the events of measure(plan). A Failed ends it, and is the last event, {"failed": why}."""
    try:
        with process.terminable():
            try:
                for event in measure(json.load(sys.stdin)):
                    print(json.dumps(event), flush=True)
            except Failed as failure:
                print(json.dumps({"failed": str(failure)}), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
