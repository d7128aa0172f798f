"""Runs inside the workspace: python3 -m runtime_patches.traces.inside PLAN, of commands/trace.py."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from ..base import errors
from ..base.errors import UserError
from . import header

if TYPE_CHECKING:
    from .events import Trace


def _write(path: str, write: Callable[[BinaryIO], None]) -> None:
    """Writes a file beside its place, and then renames it. The caller removes what is left of one that did not end."""
    partial = f"{path}.partial"
    try:
        with open(partial, "wb") as file:
            write(file)
        os.replace(partial, path)
    except OSError as error:
        what = f"{path} cannot be written: {error.strerror}"
        raise UserError(what, "give a path in a folder of yours") from None


def show(plan: dict[str, Any]) -> Trace:
    """Prints the tables of the trace in plan["file"], and writes the files that the plan names. Returns the trace."""
    from . import lives, recording, summary, symbols, table

    trace = recording.read(plan["file"])
    paired = lives.pair(trace)
    functions = symbols.resolve(set(paired.function.tolist()) - {0, lives.JOBS}, trace.modules)
    functions = {0: "(began before the trace)", lives.JOBS: "(jobs that are no tasks)", **functions}
    lives.look_through(paired, functions)
    summed = summary.summarize(trace, paired)
    drawn = plan["perfetto"] or plan["json"]
    metadata = trace.more.tolist() if drawn else [one.type for one in summed.actors]
    types = symbols.resolve(set(metadata) - {0}, trace.modules, "DATA")
    print(table.text(trace, summed, functions, types, plan["rows"]))
    if not drawn:
        return trace
    from . import chrome, perfetto, timeline

    del summed
    made = timeline.draw(trace, paired, functions, types)
    for path, writer in ((plan["perfetto"], perfetto.write), (plan["json"], chrome.write)):
        if path:
            _write(path, lambda file: writer(made, trace.process, file))
    return trace


def main() -> None:
    try:
        show(json.loads(sys.argv[1]))
    except MemoryError:
        raise UserError("there is not enough memory for this trace", header.SMALLER) from None
    except ModuleNotFoundError as error:
        hint = f"sudo apt install python3-{error.name} if --toolchain is given; else utils/doctor checks the workspace"
        raise UserError(f"python3 has no module {error.name}", hint) from None


if __name__ == "__main__":
    errors.run_main(main)
