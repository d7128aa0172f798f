"""Runs of run-smoke-bench that compare the same two runtimes, on one machine or several."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ..results.comparison import natural
from ..results.verdicts import Verdict
from ..runtimes.runtime import steps
from ..series import series
from .html import place
from .read import Result


@dataclass
class Group:
    """runs: [read.Result] of the comparison old → new."""

    old: str
    new: str
    runs: list[Result]

    @property
    def title(self) -> str:
        return f"{self.old} → {self.new}"

    @property
    def anchor(self) -> str:
        return "smoke-" + place(f"{self.old}-{self.new}")

    def anchor_of(self, name: str) -> str:
        return f"{self.anchor}-{name}".replace(" ", "-")

    @property
    def step(self) -> str | None:
        """The patch that alone makes the difference between the two runtimes, or None."""
        listed = series.load().names
        if len(listed) < 2:
            return None
        for slug, (before, upto) in steps().items():
            if self.old == before and self.new in (upto, *(["after"] if slug == listed[-1] else [])):
                return slug
        return None

    def rows(self) -> dict[str, list[tuple[Result, Verdict]]]:
        """{name: [(run, verdict)]} in natural order."""
        names = {verdict.name for run in self.runs for verdict in run.compared.verdicts}
        found = {name: [] for name in sorted(names, key=natural)}
        for run in self.runs:
            for verdict in run.compared.verdicts:
                found[verdict.name].append((run, verdict))
        return found

    def combined(self) -> list[tuple[str, float, str]]:
        """[(name, ratio after/before, verdict)]: the geometric mean of all runs."""
        found = []
        for name, entries in self.rows().items():
            ratio = statistics.geometric_mean(verdict.ratio for _, verdict in entries)
            found.append((name, ratio, together(verdict.verdict for _, verdict in entries)))
        return found


def together(verdicts: Iterable[str]) -> str:
    """The verdict of several machines: those that see no change do not outvote others."""
    changed = {verdict for verdict in verdicts if verdict != "same"}
    if len(changed) > 1:
        changed.discard("perhaps")
    return "mixed" if len(changed) > 1 else changed.pop() if changed else "same"


def groups(results: Iterable[Result]) -> list[Group]:
    """The groups, before → after first, steps of the series last."""
    table = {}
    for run in results:
        if run.is_comparison:
            table.setdefault(run.compared.names, []).append(run)
    found = [Group(old, new, runs) for (old, new), runs in table.items()]
    order = [None, *series.load().names]
    return sorted(found, key=lambda g: (order.index(g.step), (g.old, g.new) != ("before", "after"), g.title))
