"""The comparison as a table, in the form of upstream's compare_perf_tests.py."""

from __future__ import annotations

import statistics

from .outcome import Table
from .verdicts import PERHAPS_LEVEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base.schema import Cell
    from .comparison import Comparison, OneSided
    from .verdicts import Verdict

_HEADER = ["TEST", "OLD", "NEW", "DELTA", "RATIO"]
_ONE_SIDED = ["TEST", "MIN", "MAX", "MEAN", "MAX_RSS"]
_SECTIONS = (("Regression", "slower"), ("Perhaps Slower", "perhaps"), ("Improvement", "faster"), ("No Changes", "same"))
_COLOURS = {"Regression": "31", "Perhaps Slower": "33", "Improvement": "32", "Failed": "31"}


def number(value: float) -> str:
    """Microseconds with four significant digits."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.{3 if value < 10 else 2 if value < 100 else 1}f}"


def _compared(row: Verdict) -> list[Cell]:
    ratio = f"{row.speedup:.2f}x" + " ~" * (row.verdict == "same")
    return [row.name, number(row.old), number(row.new), f"{row.delta * 100:+.1f}%", ratio]


def _one_sided(row: OneSided) -> list[Cell]:
    found = (min(row.values), max(row.values), statistics.mean(row.values))
    return [row.name, *map(number, found), row.max_rss]


def _tables(results: Comparison) -> list[Table]:
    """None of them is empty."""
    found = []
    for title, verdict in _SECTIONS:
        rows = [row for row in results.verdicts if row.verdict == verdict]
        if verdict != "same":
            rows.sort(key=lambda row: row.speedup, reverse=verdict == "faster")
        found.append(Table(title, _HEADER, [_compared(row) for row in rows]))
    for title, side in (("Added", "new"), ("Removed", "old")):
        found.append(Table(title, _ONE_SIDED, [_one_sided(row) for row in results.one_sided if row.side == side]))
    failed: list[list[Cell]] = [[row.name, getattr(results.sides, row.side).name, row.reason] for row in results.failed]
    found.append(Table("Failed", ["TEST", "ON", "REASON"], failed))
    return [table for table in found if table.rows]


def text(results: Comparison, colour: bool = False) -> str:
    """The tables as text in columns; colour: with a terminal's codes."""
    lines = []
    for table in _tables(results):
        shown = f"{table.title} ({len(table.rows)}):"
        code = _COLOURS.get(table.title)
        lines += ["", f"\033[{code}m{shown}\033[0m" if colour and code else shown, table.text(len(table.columns))]
    return "\n".join([title_line(results), *lines, "", *notes(results)]) + "\n"


def markdown(results: Comparison) -> str:
    """The table as markdown, as upstream's pull requests show it."""
    parts = [f"### {title_line(results)}\n"]
    for table in _tables(results):
        opened = " open" if table.title in ("Regression", "Perhaps Slower", "Added", "Removed", "Failed") else ""
        shown = f"{table.title} ({len(table.rows)})"
        if table.title in ("Regression", "Improvement"):
            table.rows = [[*row[:-1], f"**{row[-1]}**"] for row in table.rows]
        parts.append(_details(shown, table, opened))
    floors: list[list[Cell]] = [
        [row.name, f"{row.noise * 100:+.1f}%", f"{row.floor * 100:.1f}%", f"{row.p:.2g}"] for row in results.verdicts
    ]
    parts.append(_details("Noise: OLD against OLD", Table("", ["TEST", "OLD again", "FLOOR", "P"], floors)))
    return "\n".join([*parts, *(f"- {line}" for line in notes(results))]) + "\n"


def _details(summary: str, table: Table, opened: str = "") -> str:
    return f"<details{opened}>\n  <summary>{summary}</summary>\n\n{table.markdown()}\n\n</details>\n"


def title_line(results: Comparison) -> str:
    return f"Performance ({results.environment.machine}): -O, {' -> '.join(results.names)}"


def notes(results: Comparison) -> list[str]:
    """Lines that say how to read the table, and how noisy the machine was."""
    method = results.method
    return [
        f"OLD and NEW are microseconds, medians of {2 * method.rounds} and {method.rounds} processes, "
        "interleaved; RATIO is OLD/NEW.",
        f"~: not a change: the rank test (p < {method.level}) or {method.factor:g} times the noise floor says so.",
        f"Perhaps slower: p < {PERHAPS_LEVEL}, and more than the noise floor.",
        *noise(results),
    ]


def noise(results: Comparison) -> list[str]:
    lines, others = [], results.environment.others or 0
    if rows := sorted(results.verdicts, key=lambda row: abs(row.noise)):
        usual = statistics.median(abs(row.noise) for row in rows)
        lines.append(
            f"noise floor (OLD against OLD): median {usual * 100:.1f}%, worst {abs(rows[-1].noise) * 100:.1f}% "
            f"({rows[-1].name})"
        )
    if others > 0.1:
        lines.append(
            f"other programs used {others * 100:.0f}% of the processors meanwhile: a quiet one gives sharper figures"
        )
    return lines
