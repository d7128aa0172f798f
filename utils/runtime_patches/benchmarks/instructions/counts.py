"""What was counted, as medians, ratios and tables."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

# Counts further apart than this are said to vary.
STEADY = 0.01
SERIES = ("all", "in the runtime")


class Counts:
    """The medians of what was counted: found is {(row, runtime): [(all, in the runtime)]}."""

    def __init__(self, found: Mapping[tuple[str, str], Any], rows: list[str], names: list[str]) -> None:
        self.rows, self.names = rows, names
        self.medians, self.unsteady = {}, set()
        for key, counts in found.items():
            if all(counts):
                values = list(zip(*counts))
                self.medians[key] = [statistics.median(one) for one in values]
                if max(values[0]) - min(values[0]) > STEADY * self.medians[key][0]:
                    self.unsteady.add(key)

    def ratios(self, row: str, name: str) -> list[float | None]:
        """[all, in the runtime] over those on the first runtime; None if there are none."""
        old, new = self.medians.get((row, self.names[0])), self.medians.get((row, name))
        return [one / other if other else None for one, other in zip(new, old)] if old and new else [None, None]

    def table(self) -> tuple[list[str], list[list[str]]]:
        columns, lines = ["row, instructions an iteration"], []
        for index, name in enumerate(self.names):
            columns += [f"{name}: all", "in the runtime"]
            columns += [f"all, {name}/{self.names[0]}", "in the runtime"] if index else []
        for row in self.rows:
            line = [row]
            for index, name in enumerate(self.names):
                counts = self.medians.get((row, name), [None, None])
                line += ["-" if count is None else f"{count:,.0f}" for count in counts]
                line[-2] += " (varies)" * ((row, name) in self.unsteady)
                if index:
                    line += ["-" if ratio is None else f"{ratio:.2f}" for ratio in self.ratios(row, name)]
            lines.append(line)
        return columns, lines
