#!/usr/bin/env python3
"""make_results.py SCENARIO (utils/ on PYTHONPATH): prints the results.json of known samples."""

from __future__ import annotations

import random
import sys
from typing import Any

from runtime_patches.base import schema
from runtime_patches.results import comparison, environment

chance = random.Random(1)


def processes(center: float, count: int = 20, noise: float = 0.01) -> list[dict[str, Any]]:
    """`count` processes of 5 samples, the first of each a slow one."""
    made = []
    for _ in range(count):
        value = center * chance.lognormvariate(0, noise)
        made.append({"samples": [9 * value] + [value] * 4, "max_rss": 7340032})
    return made


def row(name: str, old: float | None, new: float | None, **options: Any) -> dict[str, Any]:
    columns = {}
    if old:
        columns["old"] = processes(old, **options)
    if old and new:
        columns["control"] = processes(old, **options)
    if new:
        columns["new"] = processes(new, **options)
    return {"name": name, "iterations": 1, "columns": columns}


SCENARIOS = {
    "mixed": [
        row("Slower", 100, 110),
        row("MuchSlower", 5, 10),
        row("Faster", 2000, 1000),
        row("Same", 50, 50),
        row("OnlyNew", None, 7),
        row("OnlyOld", 8, None),
    ],
    "faster": [row("Faster", 10, 8), row("Same", 50, 50)],
    "same": [row(f"Row{i}", 10 * i, 10 * i) for i in range(1, 25)],
    "two rows": [row("Same", 50, 50), row("Other", 60, 60)],
    "failed": [row("Same", 50, 50), row("Crash", 10, 10)],
}


def scenario(name: str) -> comparison.Comparison:
    rows = schema.from_json(list[comparison.Row], SCENARIOS[name])
    failed = [comparison.Failure("Crash", "new", "died of SIGILL")] if name == "failed" else []
    return comparison.Comparison(
        comparison.Sides(comparison.Side("before"), comparison.Side("after")),
        comparison.Method(20, 0.01, 2.0),
        environment.Environment(machine="x86_64", others=0.5 if failed else 0.0),
        rows,
        *comparison.conclude(rows, failed),
        failed,
    )


if __name__ == "__main__":
    print(schema.dump(scenario(sys.argv[1])), end="")
