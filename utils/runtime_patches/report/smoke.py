"""The parts of the page that come from run-smoke-bench."""

import re
import shlex
import statistics
from collections.abc import Iterable

from ..base.text import number as short
from ..base.text import plural
from ..results.comparison import Comparison
from ..results.table import noise, number
from ..results.verdicts import COLUMNS, Verdict, quantile
from ..runtimes.runtime import steps as steps_of
from ..series import series
from . import svg
from .groups import Group, together
from .html import Html, choices, code, details, head, join, li, of, p, quiet, span, tag
from .html import table as plain_table
from .read import Result

CHIPS = {
    "faster": "✓ faster",
    "slower": "✗ slower",
    "perhaps": "? perhaps slower",
    "same": "≈ no change",
    "mixed": "± differs by machine",
    "failed": "✗ did not run",
}
# The lists of the summary.
_TITLES = {"faster": "Faster", "slower": "Slower", "perhaps": "Perhaps slower", "mixed": "Differs by machine"}


def _chip(verdict: str) -> Html:
    return span(f"chip {verdict}", CHIPS[verdict])


def _link(group: Group, name: str) -> Html:
    return tag("a", name, href=f"#{group.anchor_of(name)}")


def _lanes(group: Group) -> tuple[str, str, str]:
    return group.old, f"{group.old} again", group.new


def _limit(ratios: Iterable[float]) -> float:
    """The ratio at the ends of the bars, the same for all rows."""
    return max([1.5, *(max(ratio, 1 / ratio) for ratio in ratios)]) * 1.02


def summary(group: Group) -> Html:
    """What got faster, what slower, and how far the noise goes."""
    rows = group.combined()
    count = {verdict: sum(row[2] == verdict for row in rows) for verdict in CHIPS}
    text = f"{count['faster']} faster, {count['slower']} slower, {count['perhaps']} perhaps slower, "
    text += f"{count['same']} without a change"
    text += f", {count['mixed']} differ by machine" * bool(count["mixed"])
    text += f"; {len(rows)} rows, {plural(len(group.runs), 'run')}."
    parts = [tag("h3", group.title), p(text, class_="count")]
    for changed, words in (("faster", "of the time"), ("slower", "times as long")):
        ratios = [ratio for _, ratio, verdict in rows if verdict == changed]
        if len(ratios) > 1:
            extent = f"(geometric mean; {min(ratios):.2f} to {max(ratios):.2f})"
            parts.append(p(f"What got {changed} takes {statistics.geometric_mean(ratios):.2f} {words} {extent}."))
    limit = min(8, _limit([ratio for _, ratio, _ in rows]))
    faster, *others = (_changed(group, rows, verdict, limit) for verdict in _TITLES)
    return join([*parts, tag("div", tag("div", faster), tag("div", *others, *_conditions(group)), class_="sides")])


def _changed(group: Group, rows: list[tuple[str, float, str]], verdict: str, limit: float) -> Html:
    """A list of the rows that have `verdict`, the largest change first. limit: the end of the bars' axis."""
    chosen = sorted((row for row in rows if row[2] == verdict), key=lambda row: row[1], reverse=verdict != "faster")
    title = tag("h4", _TITLES[verdict])
    if not chosen:
        return join([title, p("No row got slower.")]) if verdict == "slower" else Html()
    # Of rows whose names differ in numbers only, the best.
    kinds = {}
    for row in chosen:
        kinds.setdefault(re.sub(r"\d+", "", row[0]), row)
    shown = list(kinds.values())[:12] if verdict == "faster" else chosen
    items = []
    for name, ratio, _ in shown:
        words = f"{short(1 / ratio)} × as fast" if ratio <= 1 else f"{short(ratio)} × as long"
        if verdict == "mixed":
            ratios = [v.ratio for _, v in group.rows()[name]]
            words = f"{min(ratios):.2f} to {max(ratios):.2f}"
        bar = svg.ratio_bar(ratio, 0, limit, verdict)
        items.append(li(_link(group, name), " ", bar, " ", span("fact", f"{ratio:.2f}"), " ", span("quiet", words)))
    more = len(chosen) - len(shown)
    rest = more > 0 and quiet(f"the best of each kind; {more} more below")
    return join([title, tag("ul", items, class_="top"), rest])


def _conditions(group: Group) -> list[Html]:
    """How far noise goes, memory, and what did not run."""
    lines = []
    for run in group.runs:
        lines.append(p(f"{run.label}: {'; '.join(noise(run.compared))}."))
        if run.compared.verdicts:
            lines.append(p(f"Memory on {run.label}: {_memory(group, run)}"))
        for row in run.compared.failed:
            side = getattr(run.compared.sides, row.side).name
            lines.append(p(_chip("failed"), f" {row.name} on {side} ({run.label}): {row.reason}"))
    return lines


def _least_memory(run: Result) -> float:
    """Bytes below which a resident set is not shown: a process begins with the largest one of the process that
    started it, which is about the least of all."""
    columns = [processes for row in run.compared.rows for processes in row.columns.values()]
    return 1.1 * min((process.max_rss for processes in columns for process in processes), default=0)


def _memory(group: Group, run: Result) -> str:
    """The largest resident set of the processes, new against old."""
    least, changes = _least_memory(run), []
    for verdict in run.compared.verdicts:
        columns = run.compared.row_of[verdict.name].columns
        old, new = (
            statistics.median(one.max_rss for c in names for one in columns[c])
            for names in (("old", "control"), ("new",))
        )
        if max(old, new) > least:
            changes.append((new / max(old, 1) - 1, verdict.name))
    if not changes:
        return f"no row needs more than {least / 1e6:.0f} MB on either side."
    (low, lean), (high, fat) = min(changes), max(changes)
    return (
        f"of {plural(len(changes), 'row')} above {least / 1e6:.0f} MB the largest resident set on {group.new} "
        f"differs from that on {group.old} by {low:+.1%} ({lean}) to {high:+.1%} ({fat})."
    )


def table(group: Group) -> Html:
    """The table per benchmark, with a chart of the samples in each row."""
    # Small changes must be seen beside large ones.
    limit = min(2, _limit([v.ratio for entries in group.rows().values() for _, v in entries]))
    columns, body = ["Benchmark"], []
    for name, entries in group.rows().items():
        lines = []
        for run, v in entries:
            cells = _cells(group, run, v, limit)
            columns = ["Benchmark", *(label for label, _, _ in cells)]
            title = span("quiet", name) if lines else name
            row = [tag("td", cell, data_label=label, class_=kind) for label, kind, cell in cells]
            lines.append(tag("tr", tag("th", title, scope="row"), row))
        boxes = tag("div", [_details(group, run, v) for run, v in entries], class_="boxes")
        more = tag("td", details(Html(f"figures{of(name)}"), boxes), colspan=len(columns))
        verdict = together([v.verdict for _, v in entries])
        body.append(tag("tbody", *lines, tag("tr", more, class_="more"), class_=verdict, id=group.anchor_of(name)))
    shown = choices(group.anchor, {"all": "all rows", "changed": "changed", "slower": "slower"})
    lanes = enumerate((group.old, f"{group.old} again (the control)", group.new))
    legend = tag("ul", [li(span(f"key s{place}"), name) for place, name in lanes], class_="legend")
    rows = tag("table", head(columns), *body, class_="cards")
    return join([tag("div", span("choice", "Show ", *shown), legend, rows, class_="rows"), *_one_sided(group)])


def _cells(group: Group, run: Result, v: Verdict, limit: float) -> list[tuple[str, str, object]]:
    """[(column, class, cell)] of a row on one machine."""
    row = run.compared.row_of[v.name]
    lanes = [
        (place, name, [s for one in row.columns[column] for s in (one.samples[1:] or one.samples)], row.values(column))
        for place, (column, name) in enumerate(zip(COLUMNS, _lanes(group)))
    ]
    cells: list[tuple[str, str, object]] = [
        (f"{group.old}, µs", "old", number(v.old)),
        (f"{group.new}, µs", "new", number(v.new)),
        ("after/before", "fact", f"{v.ratio:.2f}"),
        ("faster ← → slower", "bar", svg.ratio_bar(v.ratio, v.floor, limit, v.verdict)),
        ("noise floor", "floor", f"{v.floor * 100:.1f}%"),
        ("verdict", "verdict", _chip(v.verdict)),
        ("raw samples", "chart", svg.samples(lanes, "µs")),
    ]
    return [("machine", "machine", run.label)] * (len(group.runs) > 1) + cells


def _details(group: Group, run: Result, v: Verdict) -> Html:
    """Samples of one row in one result: quartiles, memory, and the command that measures it again."""
    row, least, lines = run.compared.row_of[v.name], _least_memory(run), []
    for column, name in zip(COLUMNS, _lanes(group)):
        processes, values = row.columns[column], row.values(column)
        rss = statistics.median(one.max_rss for one in processes)
        quartiles = quantile(values, 0.25), statistics.median(values), quantile(values, 0.75)
        figures = map(number, (min(values), *quartiles, max(values)))
        count = f"{sum(len(one.samples) for one in processes):,}"
        memory = f"{rss / 1e6:.1f}" if rss > least else f"≤ {least / 1e6:.0f}"
        lines.append([name, *figures, len(values), count, memory])
    only = ["--filter", "^" + v.name.replace(".", r"\.") + "$", "--samples", str(run.compared.method.rounds)]
    command = ["utils/run-smoke-bench", *only, *_named(group.old, group.new)]
    caption = (
        f"{v.name} on {run.label}: µs of a process (the median of its samples without the first); memory is the "
        "median of the largest resident set"
    )
    made = plain_table(caption, ["", "min", "25 %", "median", "75 %", "max", "processes", "samples", "MB"], lines)
    ranks = f"p = {v.p:.2g}, {v.adjusted:.2g} adjusted for all rows"
    noise = f"{group.old} against itself {v.noise * 100:+.1f}%; change {v.delta * 100:+.1f}%"
    return tag("div", made, p(f"{ranks}; {noise}."), p("Measure it again: ", code(shlex.join(command))))


def _one_sided(group: Group) -> list[Html]:
    parts = []
    for run in group.runs:
        for side in ("new", "old"):
            rows = [
                [row.name, short(statistics.median(row.values))] for row in run.compared.one_sided if row.side == side
            ]
            name = getattr(run.compared.sides, side).name
            if rows:
                title = f"Only on {name}, with nothing to compare ({run.label})"
                parts.append(plain_table(title, ["benchmark", "µs"], rows))
    return parts


def per_patch(found: list[Group]) -> Html:
    """What each patch alone gives: by its header, and as far as runs of `upto:` tell."""
    steps = {group.step: group for group in found if group.step}
    columns = ["patch", "what it does", "what it gives, by its header"] + ["measured here, after/before"] * bool(steps)
    lines = []
    for patch in series.load():
        subject = join([patch.subject, quiet(patch.fields.get("Upstream-Status", ""))])
        cells = [subject, patch.fields.get("Benchmark", "")]
        if steps:
            alone = steps.get(patch.slug)
            cells.append(_step(alone) if alone else quiet("not measured in these results"))
        row = [tag("td", cell, data_label=title) for title, cell in zip(columns[1:], cells)]
        lines.append(tag("tr", tag("th", patch.slug, scope="row"), row))
    example = next(iter(list(steps_of().items())[1:2]), ("NAME", ("before", "after")))
    again = f"utils/run-smoke-bench {' '.join(example[1])} --output build/report/patch-{example[0]}"
    rows = tag("table", head(columns), tag("tbody", lines), class_="cards patches")
    return join([p("Each patch against the one before it. Measure one alone: ", code(again)), rows])


def _step(group: Group) -> Html:
    """What a run of two neighbours in the series found."""
    changed = sorted((row for row in group.combined() if row[2] != "same"), key=lambda row: row[1])
    items = [
        li(_link(group, name), " ", span("fact", f"{ratio:.2f}"), " ", _chip(verdict))
        for name, ratio, verdict in changed
    ]
    rest = len(group.combined()) - len(changed)
    return join([items and tag("ul", items, class_="plain"), quiet(f"{plural(rest, 'row')} without a change")])


def command(comparison: Comparison) -> str:
    return shlex.join(["utils/run-smoke-bench", *_named(*comparison.names)])


def _named(old: str, new: str) -> list[str]:
    """The two runtimes as arguments, if they are not the default."""
    return [old, new] if (old, new) != ("before", "after") else []
