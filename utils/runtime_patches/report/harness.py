"""The parts of the page that come from harnesses: tables, dots and curves as given."""

from __future__ import annotations

from ..base.text import number
from ..results.outcome import Dots, Outcome
from .html import Html, details, join, li, of, p, quiet, span, table, tag
from .svg import Plot, marker
from .svg import dots as dots_chart

_LONG = 24


def section(outcome: Outcome) -> Html:
    """Tables, curves and notes of one Outcome."""
    parts: list[Html | str] = [p(line) for line in (*outcome.summary, *outcome.notes)]
    parts += [_dots(entry) for entry in outcome.dots if entry.rows]
    chapters: dict[str | None, list[Html]] = {}
    for curve in outcome.curves:
        if plot := Plot(curve):
            chapters.setdefault(curve.chapter, []).append(plot.figure())
    if None in chapters:
        parts.append(tag("div", *chapters.pop(None), class_="plots"))
    if chapters:
        parts.append(tag("div", [_chapter(title, plots) for title, plots in chapters.items()], class_="chapters"))
    for entry in outcome.tables:
        rows = [[str(cell) if isinstance(cell, (str, bool)) else number(cell) for cell in row] for row in entry.rows]
        made = table(entry.title, entry.columns, rows)
        parts.append(details(f"{entry.title}: {len(entry.rows)} rows", made) if len(entry.rows) > _LONG else made)
    return join(parts)


def _chapter(title: str | None, plots: list[Html]) -> Html:
    first, *more = plots
    rest = more and details(Html(f"{len(more)} more plots{of(title)}"), tag("div", *more, class_="plots"))
    return tag("div", tag("h4", title), first, rest)


def _dots(entry: Dots) -> Html | str:
    """A line for each row: its name, a mark for each series, and the figures."""
    every = [value for _, values in entry.rows for value in values if value is not None]
    if not every:
        return ""
    reference = entry.reference
    low, high = min(0, *every), max([*every, reference or 0]) * 1.05
    legend = [
        li(tag("svg", marker(place, 9, 8), class_="key", width=18, height=16, aria_hidden="true"), name)
        for place, name in enumerate(entry.series)
    ]
    if reference is not None:
        legend.append(li(f"line: {number(reference)}"))
    rows = []
    for name, values in entry.rows:
        figures = ["–" if value is None else f"{value:.2f}" if abs(value) < 100 else number(value) for value in values]
        words = f"{entry.x}: " + ", ".join(map(" ".join, zip(entry.series, figures)))
        chart = dots_chart(values, low, high, reference, words)
        rows.append(li(tag("span", name), " ", chart, " ", span("fact", " · ".join(figures))))
    lists = tag("ul", legend, class_="legend"), tag("ul", rows, class_="top")
    return join([tag("h4", entry.title), quiet(entry.x), *lists])
