"""Measures what the recorder costs a server, and how many events its files hold."""

import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ...base.errors import UserError
from ...base.paths import BUILD
from ...base.text import number
from ...results.outcome import Outcome
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..executor import pool_rounds
from ..harness import measuring, programs
from ..server import server_rounds
from ..server.programs import Side
from ..server.rows import ROWS

HOME = BUILD / "tracing"
RECORDER = {"SWIFT_TRACE": "1"}
# Rows of benchmark/server, and of benchmark/executor, whose files are read.
SERVERS = ("plain", "all", "loop-stream")
FILES = ("task", "group-child", "actor-calls", "stream")
_HINT = "it needs a runtime with the patch tracing-recorder"
_MEGABYTES = 8  # the default of SWIFT_TRACE_SIZE


def measure_servers(ws: Workspace, options: Namespace, made: Outcome, rows: Sequence[str]) -> None:
    """Adds rows of benchmark/server, with the recorder off, off again and on."""
    on = tuple(RECORDER.items())
    sides = [Side(options.runtime, "off"), Side(options.runtime, "on", on)]
    plan = Namespace(sides=sides, rounds=options.rounds, seconds=1, rates=[], port=0)
    with server_rounds.place(ws) as place:
        taken, failed = server_rounds.take(ws, place, plan, [ROWS[name] for name in rows])
    if failed:
        raise failed[0]
    for title, columns, lines in server_rounds.tables(plan, taken):
        if title.startswith(("Operations", "CPU")):
            made.table(title, columns, lines)
    made.notes.append(f"Servers: {options.rounds} new processes a column, in turn; loads of 1 s")


def measure_files(ws: Workspace, runtime: Runtime, made: Outcome, rows: Sequence[str]) -> None:
    """Adds what the recorder writes of rows of benchmark/executor, and what it takes to read that."""
    program, lines = pool_rounds.build(ws).rows, []
    with measuring.alone(HOME), tempfile.TemporaryDirectory(dir=HOME) as scratch:
        for row in rows:
            file = Path(scratch) / row
            programs.output(ws, runtime, [str(program), row], row, _HINT, env={"SWIFT_TRACE": str(file)})
            if not file.exists():
                raise UserError(f"{row} on {runtime} has written no trace", _HINT)
            found = programs.samples(ws, "benchmarks.tracing.reader", {"file": str(file)}, 1, "file", [HOME])[0]
            each = found["bytes"] / found["events"]
            cells = (found["bytes"] / 2**20, each, _MEGABYTES * 2**20 / each, found["seconds"], found["megabytes"])
            lines.append([row, str(found["events"]), *map(number, cells)])
    made.table(
        "Files", ["row", "events", "MB", "bytes an event", f"events in {_MEGABYTES} MB", "read, s", "with MB"], lines
    )
