"""The comparison as a table, in the form of upstream's compare_perf_tests.py."""

from __future__ import annotations

import statistics

from .verdicts import PERHAPS_LEVEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .comparison import Comparison, OneSided
    from .verdicts import Verdict

_HEADER = ("TEST", "OLD", "NEW", "DELTA", "RATIO")
_ONE_SIDED = ("TEST", "MIN", "MAX", "MEAN", "MAX_RSS")
_SECTIONS = (("Regression", "slower"), ("Perhaps Slower", "perhaps"), ("Improvement", "faster"), ("No Changes", "same"))
# (title, header, rows as tuples of strings)
Section = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
_COLOURS = {"Regression": "31", "Perhaps Slower": "33", "Improvement": "32", "Failed": "31"}


def number(value: float) -> str:
    """Microseconds with four significant digits."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.{3 if value < 10 else 2 if value < 100 else 1}f}"


def _compared(row: Verdict) -> tuple[str, ...]:
    ratio = f"{row.speedup:.2f}x" + " ~" * (row.verdict == "same")
    return row.name, number(row.old), number(row.new), f"{row.delta * 100:+.1f}%", ratio


def _one_sided(row: OneSided) -> tuple[str, ...]:
    found = (min(row.values), max(row.values), statistics.mean(row.values))
    return row.name, *map(number, found), str(row.max_rss)


def sections(results: Comparison) -> list[Section]:
    """[(title, header, rows as tuples of strings)], none of them empty."""
    found: list[Section] = []
    for title, verdict in _SECTIONS:
        rows = [row for row in results.verdicts if row.verdict == verdict]
        if verdict != "same":
            rows.sort(key=lambda row: row.speedup, reverse=verdict == "faster")
        found.append((title, _HEADER, [_compared(row) for row in rows]))
    for title, side in (("Added", "new"), ("Removed", "old")):
        found.append((title, _ONE_SIDED, [_one_sided(row) for row in results.one_sided if row.side == side]))
    failed: list[tuple[str, ...]] = [
        (row.name, getattr(results.sides, row.side).name, row.reason) for row in results.failed
    ]
    found.append(("Failed", ("TEST", "ON", "REASON"), failed))
    return [section for section in found if section[2]]


def text(results: Comparison, colour: bool = False) -> str:
    """The tables as text in columns; colour: with a terminal's codes."""
    found = sections(results)
    widths = [0] * 5
    for _, header, rows in found:
        for row in [header, *rows]:
            # The last column is free to be long.
            for i, cell in enumerate(row[:-1]):
                widths[i] = max(widths[i], len(cell))
    lines = []
    for title, header, rows in found:
        shown = f"{title} ({len(rows)}):"
        code = _COLOURS.get(title)
        lines += ["", f"\033[{code}m{shown}\033[0m" if colour and code else shown]
        for row in [header, *rows]:
            cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths)]
            lines.append("   ".join([*cells, row[-1]]).rstrip())
    return "\n".join([title_line(results), *lines, "", *notes(results)]) + "\n"


def markdown(results: Comparison) -> str:
    """The table as markdown, as upstream's pull requests show it."""
    parts = [f"### {title_line(results)}\n"]
    for title, header, rows in sections(results):
        strong = title in ("Regression", "Improvement")
        opened = " open" if title in ("Regression", "Perhaps Slower", "Added", "Removed", "Failed") else ""
        lines = [" | ".join(header), " | ".join([":---"] + ["---:"] * (len(header) - 1))]
        for row in rows:
            last = f"**{row[-1]}**" if strong else row[-1].replace("|", "\\|")
            lines.append(" | ".join([*row[:-1], last]))
        table = "\n".join(lines)
        parts.append(f"<details{opened}>\n  <summary>{title} ({len(rows)})</summary>\n\n{table}\n\n</details>\n")
    floors = [
        " | ".join((row.name, f"{row.noise * 100:+.1f}%", f"{row.floor * 100:.1f}%", f"{row.p:.2g}"))
        for row in results.verdicts
    ]
    parts.append(
        "<details>\n  <summary>Noise: OLD against OLD</summary>\n\n"
        "TEST | OLD again | FLOOR | P\n:--- | ---: | ---: | ---:\n" + "\n".join(floors) + "\n\n</details>\n"
    )
    return "\n".join([*parts, *(f"- {line}" for line in notes(results))]) + "\n"


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
