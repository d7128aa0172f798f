#!/usr/bin/env python3
"""make_inputs.py DIR (utils/ of a repository and make_results.py on PYTHONPATH): results of known content in DIR.

a/results.json       mixed verdicts on machine A; b/: on machine B, Slower is faster there
same/results.json    the same bytes as a/
steps/N/results.json each patch against the series before it
scaling/results.json a harness with one table, two curves (8 and 0 points) and dots
deinit/results.json  a harness with curves in chapters
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from make_results import scenario
from runtime_patches.base import schema
from runtime_patches.results import comparison
from runtime_patches.results.environment import Environment
from runtime_patches.results.outcome import Curve, Dots, Outcome, Points, Table
from runtime_patches.series import series

target = Path(sys.argv[1])


def write(place: str, data: Any) -> None:
    path = target / place / "results.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(schema.dump(data))


def named(
    data: comparison.Comparison, cpu: str, started: str, old: str = "before", new: str = "after"
) -> comparison.Comparison:
    data.environment.cpu, data.environment.cores, data.started = cpu, 8, started
    data.sides = comparison.Sides(comparison.Side(old), comparison.Side(new))
    return data


write("a", named(scenario("mixed"), "<b>Left & Right</b>", "2026-01-01"))
(target / "same").mkdir(exist_ok=True)
shutil.copy(target / "a/results.json", target / "same/results.json")
other = scenario("mixed")
columns = other.row_of["Slower"].columns
columns["old"], columns["new"] = columns["new"], columns["old"]
columns["control"] = columns["old"]
other.verdicts, other.one_sided = comparison.conclude(other.rows, [])
write("b", named(other, "Another", "2026-01-02"))
before = "before"
for number, slug in enumerate(series.load().names):
    compared = scenario("two rows" if number else "faster")
    write(f"steps/{number}", named(compared, "Another", f"2026-02-{number + 1:02}", before, f"upto:{slug}"))
    before = f"upto:{slug}"
write(
    "scaling",
    Outcome(
        "scaling",
        "Scaling <of> references",
        "benchmark/scaling/run",
        notes=["A note & more."],
        summary=["Casts <scale>."],
        dots=[
            Dots(
                "2 workers", "speed-up", ["before", "after"], [("cast <any>", [0.58, 1.97]), ("none", [None, None])], 2
            ),
            Dots("nothing", "speed-up", ["before"], []),
        ],
        tables=[Table("Rates", ["row", "before"], [["cast", 0.58], ["none", None]])],
        curves=[
            Curve("cast", "workers", "rate", [Points("before", [(2**i, 1 + i / 5) for i in range(8)])], log_x=True),
            Curve("empty", "workers", "rate", [Points("before", [])]),
        ],
    ),
)
both = [
    Points(name, [(o, o * f) for o in range(1, 60)], [(0, 0), (60, 60 * f)])
    for name, f in (("before", 2), ("after", 1))
]
write(
    "deinit",
    Outcome(
        "deinit",
        "Isolated and async deinit",
        "benchmark/deinit/reproduce --quick",
        summary=["1 of 2 goals are reached."],
        environment=Environment(cpu="Another", cores=8),
        curves=[Curve(f"plot {n}", "objects", "ms", both, chapter="1. Both", clip=0.98) for n in range(3)],
    ),
)
