"""The rows of the suite that run jobs, while the environment's variables switch a part of the runtime on: off, off
again, and on in turn."""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...base.errors import UserError
from ...base.text import number, plural
from ...results.comparison import Sides
from ...results.outcome import Outcome
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..smoke import compare

_WITHOUT_JOBS = r"(Mutex|RuntimeCaches|Tree(Copy|Delete|Generate))\."


class Jobs:
    """what: is switched on by the variables; library: that a process has loaded then; rows: their names."""

    def __init__(self, ws: Workspace, runtime: Runtime, what: str, variables: dict[str, str], library: str) -> None:
        self.ws, self.what = ws, what
        on = replace(compare.side_of(runtime), name="on", variables=variables, loads=[library])
        self.sides = Sides(replace(compare.side_of(runtime), name="off"), on)
        self.chosen = compare.choose(ws, self.sides)
        self.chosen.rows = [row for row in self.chosen.rows if not re.match(_WITHOUT_JOBS, row.name)]
        self.rows = [row.name for row in self.chosen.rows]

    def measure(self, made: Outcome, rows: Collection[str], output: Path) -> None:
        """Adds the rows to the Outcome `made`. output: a folder for copies of the libraries."""
        if not self.sides.new.libraries.keys() >= set(self.sides.new.loads):
            what = f"this runtime has no {self.sides.new.loads[0]}"
            raise UserError(what, f"it needs a runtime with the {self.what}, such as after")
        output.mkdir(parents=True, exist_ok=True)
        chosen = replace(self.chosen, rows=[row for row in self.chosen.rows if row.name in rows])
        found = compare.measure(self.ws, self.sides, chosen, None, output)
        if not found.verdicts:
            row = found.failed[0]
            raise UserError(f"no row ran; {row.name}, {row.side}: {row.reason}", "utils/run-test shows what works")
        made.environment.others, made.environment.stolen = found.environment.others, found.environment.stolen
        made.table(f"Jobs with the {self.what}", *summary(found.verdicts))
        made.table("Rows with jobs", *table(found.verdicts))
        made.notes.append(
            f"Jobs: {plural(len(found.verdicts), 'row')} of the suite, {found.method.rounds} processes each with the "
            f"{self.what} off, off again and on, in turn"
        )
        made.notes += [f"{row.name}, {row.side}: {row.reason}" for row in found.failed]


def table(verdicts: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    """(columns, rows): microseconds off and on, and what the same differs by."""
    return ["row", "off, us", "on, us", "on / off", "off again / off"], [
        [row.name, number(row.old), number(row.new), f"{row.ratio:.2f}", f"{1 + row.noise:.2f}"] for row in verdicts
    ]


def summary(verdicts: Sequence[Any]) -> tuple[list[str], list[list[int | str]]]:
    """(columns, rows): the median and the worst of all rows."""
    lines = []
    for what, values in (
        ("on / off", [(row.ratio, row.name) for row in verdicts]),
        ("off again / off, either way", [(1 + abs(row.noise), row.name) for row in verdicts]),
    ):
        worst, name = max(values)
        lines.append(
            [what, len(values), f"{statistics.median(value for value, _ in values):.3f}", f"{worst:.2f}", name]
        )
    return ["time", "rows", "median", "worst", "of"], lines
