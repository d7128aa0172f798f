"""The page as one HTML file: no scripts, no network, no files beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base import pins
from ..base.text import plural
from ..results.comparison import Comparison
from ..results.harnesses import HARNESSES
from . import harness, smoke
from .groups import Group
from .groups import groups as grouped
from .html import Html, choices, code, details, join, li, p, place, quiet, span, table, tag
from .read import Result

_STYLE = Path(__file__).with_name("style.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(results: list[Result], notes: Iterable[str], made: str) -> str:
    """The page. results: [read.Result]; notes: lines about the input; made: when."""
    groups = grouped(results)
    sections = [
        ("summary", "Summary", _summary(groups, results)),
        ("benchmarks", "Benchmarks", _benchmarks(groups)),
        ("patches", "Patch by patch", smoke.per_patch(groups)),
        *_harnesses(results),
        ("environment", "Environment, and how to reproduce", _environment(results, notes)),
    ]
    short = {"environment": "Environment", **HARNESSES}
    links = [li(tag("a", short.get(name, title), href=f"#{name}")) for name, title, _ in sections]
    body = [
        tag("section", tag("h2", title, id=f"{name}-title"), text, id=name, aria_labelledby=f"{name}-title")
        for name, title, text in sections
    ]
    title = "Swift concurrency runtime: before and after the series"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(_STYLE.read_text(encoding="utf-8"))),
    )
    said = f"Made {made} from {plural(len(results), 'result')} for {pins.load().swift.tag}."
    skip = tag("a", "To the results", class_="skip", href="#summary")
    themes = span("choice theme", "Theme ", *choices("theme", {name: name for name in ("auto", "light", "dark")}))
    top = tag("header", tag("h1", title), quiet(said), tag("nav", tag("ul", links), aria_label="Sections"), themes)
    page = tag("body", skip, top, tag("main", *body))
    return "<!DOCTYPE html>\n" + tag("html", head, "\n", page, lang="en") + "\n"


def _absent(what: str, command: str) -> Html:
    return p(f"{what} not measured in these results: ", code(command), " measures it.", class_="absent")


def _summary(groups: list[Group], results: list[Result]) -> Html:
    parts = [smoke.summary(group) for group in groups if not group.step]
    for result in results:
        if not result.is_comparison and result.measured.summary:
            parts.append(tag("h3", HARNESSES.get(result.measured.name, result.measured.title)))
            link = tag("a", result.label, href=f"#{place(result.measured.name)}")
            parts += [p(f"{line} (", link, ")") for line in result.measured.summary]
    steps = [group for group in groups if group.step]
    if steps:
        parts.append(p(tag("a", f"{len(steps)} of the patches", href="#patches"), " were measured alone."))
    return join(parts) or _absent("The summary needs a comparison,", "utils/run-smoke-bench")


def _benchmarks(groups: list[Group]) -> Html:
    """The part of the page on the suite, a table for each group."""
    if not groups:
        return _absent("The suite was", "utils/run-smoke-bench")
    explanation = (
        "after/before below 1 is faster. A row counts as changed beyond twice its noise floor (the grey band) and by "
        "a rank test; every other difference is noise. Small charts: all samples as bars, each process's value as a "
        "dot, their median as a line; what lies beyond the axis is drawn at its end."
    )
    parts = [p(explanation)]
    for group in groups:
        machines = ", ".join(f"{run.label}: {run.data.environment}" for run in group.runs)
        text = join([quiet(machines), smoke.table(group)])
        text = details(f"All rows of {group.title}", text) if group.step else text
        parts += [tag("h3", group.title, id=group.anchor), text]
    return join(parts)


def _harnesses(results: list[Result]) -> list[tuple[str, str, Html]]:
    """The sections of the harnesses, and a sentence for each that is not there."""
    found: dict[str, list[Result]] = {}
    for result in results:
        if not result.is_comparison:
            found.setdefault(result.measured.name, []).append(result)
    there, absent = [], []
    for some in found.values():
        parts = []
        for one in some:
            head = len(some) > 1 and tag("h3", f"{one.label}: {one.data.environment}")
            parts += [head, harness.section(one.measured)]
        there.append((place(some[0].measured.name), some[0].measured.title, join(parts)))
    for name, title in HARNESSES.items():
        if name not in found:
            how = code(f"benchmark/{name}/README.md")
            absent.append((name, title, p("Not measured in these results: ", how, " says how.", class_="absent")))
    return there + absent


def _environment(results: list[Result], notes: Iterable[str]) -> Html:
    parts = []
    for result in results:
        title = " → ".join(result.compared.names) if result.is_comparison else result.measured.title
        rows = [["file", f"{result.path.parent.name}/{result.path.name}"], *_facts(result)]
        parts.append(table(f"{result.label}: {title}", ["", ""], [row for row in rows if row[1] not in (None, "")]))
        command = smoke.command(result.compared) if result.is_comparison else result.measured.command
        if command:
            parts.append(p("Measure it again: ", code(command)))
    parts += [p(note) for note in notes]
    several = code("utils/report A/results.json B/results.json")
    row = ". One row: its command is below the row's figures."
    return join([*parts, p("This page again: ", code("utils/report"), "; of several machines: ", several, row)])


def _facts(result: Result) -> list[list[Any]]:
    """Rows of what a result was measured on; a value that is not known is None."""
    data, e = result.data, result.data.environment

    def percent(value: float | None) -> str | None:
        return None if value is None else f"{value * 100:.1f}%"

    def load(values: list[float] | None) -> str | None:
        return ", ".join(f"{one:.1f}" for one in values) if values else None

    rows: list[list[Any]] = [
        ["started", data.started],
        ["series", data.state and str(data.state)],
        ["processor", str(e)],
        ["usable cores", e.usable_cores],
        ["memory", f"{e.memory / 2**30:.1f} GiB" if e.memory is not None else None],
        ["kernel", e.kernel],
        ["load before; after", "; ".join(filter(None, (load(e.load_before), load(e.load_after))))],
        ["processors used by others", percent(e.others)],
        ["stolen by the host", percent(e.stolen)],
        ["variables", " ".join(f"{k}={v}" for k, v in e.variables.items())],
    ]
    return rows + (_versions(result.compared) if result.is_comparison else [])


def _versions(data: Comparison) -> list[list[Any]]:
    rows: list[list[Any]] = [
        ["took", f"{data.seconds:.0f} s" if data.seconds else None],
        ["processes a row", f"{data.method.rounds} on each of three columns"],
    ]
    if data.repository:
        changed = data.repository.get("changed")
        more = f", {len(changed)} files changed" if isinstance(changed, list) and changed else ""
        rows.append(["this repository", str(data.repository.get("commit"))[:12] + more])
    for side in (data.sides.old, data.sides.new):
        for library, entry in side.libraries.items():
            seen = f"seen loaded in {entry.get('processes', 0)} processes"
            rows.append([f"{library} of {side.name}", f"sha256 {str(entry.get('sha256'))[:16]}…, {seen}"])
    return rows
