"""Runs a measuring program of this package inside the workspace: a plan goes in, and events come out."""

import json
import subprocess
import sys

from ...base import process
from ...base.paths import UTILS


def events(ws, module, plan, binds=()):
    """The events (dictionaries) that `python3 -m module` prints, one in a line, for `plan` on its standard
    input. It ends with this generator."""
    child = ws.popen(
        ["python3", "-B", "-m", f"runtime_patches.{module}"],
        binds=binds,
        env={"PYTHONPATH": str(UTILS)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        child.stdin.write(json.dumps(plan))
        child.stdin.close()
        for line in child.stdout:
            yield json.loads(line)
    finally:
        process.end(child)


def serve(measure):
    """The other end: calls measure(plan), which prints the events."""
    try:
        with process.terminable():
            measure(json.load(sys.stdin))
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
