"""The parts of the page that come from run-smoke-bench."""

import dataclasses
import math
import re
import shlex
import statistics
from html import escape

from .. import bench_results, bench_stats, series
from ..bench_table import number
from . import harness, svg

CHIPS = {"faster": "✓ faster", "slower": "✗ slower", "same": "≈ no change",
         "mixed": "± differs by machine", "failed": "✗ did not run"}
_COLUMNS = (("old", 0), ("control", 1), ("new", 2))


@dataclasses.dataclass
class Group:
    """All runs that compare the same two runtimes."""
    old: str
    new: str
    runs: list

    @property
    def title(self):
        return f"{self.old} → {self.new}"

    @property
    def anchor(self):
        """The id of its section."""
        return "smoke-" + "".join(c if c.isalnum() else "-" for c in f"{self.old}-{self.new}")

    def rows(self):
        """{name: [(run, verdict)]} in natural order."""
        names = {v["name"] for run in self.runs for v in run.data["verdicts"]}
        found = {name: [] for name in sorted(names, key=lambda n: bench_results.natural({"name": n}))}
        for run in self.runs:
            for verdict in run.data["verdicts"]:
                found[verdict["name"]].append((run, verdict))
        return found

    def combined(self):
        """[(name, ratio after/before, verdict)]: the geometric mean of all runs."""
        made = []
        for name, entries in self.rows().items():
            ratio = math.exp(statistics.mean(math.log(v["new"] / v["old"]) for _, v in entries))
            made.append((name, ratio, together([v["verdict"] for _, v in entries])))
        return made


def together(verdicts):
    """The verdict of several machines: those that see no change do not outvote others."""
    changed = {verdict for verdict in verdicts if verdict != "same"}
    return "mixed" if len(changed) > 1 else changed.pop() if changed else "same"


def groups(results):
    """The groups, before → after first, steps of the series last."""
    made = {}
    for run in results:
        if run.kind == "smoke":
            key = tuple(run.data["sides"][side]["name"] for side in ("old", "new"))
            made.setdefault(key, []).append(run)
    found = [Group(*key, runs) for key, runs in made.items()]
    order = [None, *series.names()]
    return sorted(found, key=lambda g: (order.index(step_of(g)),
                                        (g.old, g.new) != ("before", "after"), g.title))


def step_of(group):
    """The patch that alone makes the difference between the two runtimes, or None."""
    names = series.names()
    if len(names) < 2:
        return None
    for before, slug in zip(["before", *(f"upto:{name}" for name in names)], names):
        news = [f"upto:{slug}"] + (["after"] if slug == names[-1] else [])
        if group.old == before and group.new in news:
            return slug
    return None


def chip(verdict):
    """A verdict in words, with a sign and a colour."""
    return f'<span class="chip {verdict}">{CHIPS[verdict]}</span>'


def times(ratio):
    """The ratio after/before in words."""
    if ratio <= 1:
        return f"{svg.number(1 / ratio)} × as fast"
    return f"{svg.number(ratio)} × as long"


def _range(group, name):
    ratios = [v["new"] / v["old"] for _, v in group.rows()[name]]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def summary(group):
    """What got faster, what slower, and how far the noise goes."""
    rows = group.combined()
    count = {verdict: sum(1 for row in rows if row[2] == verdict)
             for verdict in ("faster", "slower", "same", "mixed")}
    lines = [f'<p class="count">{count["faster"]} faster, {count["slower"]} slower, '
             f'{count["same"]} without a change'
             + (f', {count["mixed"]} differ by machine' if count["mixed"] else "")
             + f'; {len(rows)} rows, {_plural(len(group.runs), "run")}.</p>']
    for changed, words in (("faster", "of the time"), ("slower", "times as long")):
        ratios = [ratio for _, ratio, verdict in rows if verdict == changed]
        if len(ratios) > 1:
            lines.append(f"<p>What got {changed} takes {statistics.geometric_mean(ratios):.2f} {words} "
                         f"(geometric mean; {min(ratios):.2f} to {max(ratios):.2f}).</p>")
    limit = min(8, _limit(rows))
    sides = []
    for verdict, title in (("faster", "Faster"), ("slower", "Slower"), ("mixed", "Differs by machine")):
        chosen = sorted((row for row in rows if row[2] == verdict),
                        key=lambda row: row[1], reverse=verdict == "slower")
        if not chosen:
            if verdict == "slower":
                sides.append("<h4>Slower</h4><p>No row got slower.</p>")
            continue
        shown = _best_of_each_kind(chosen)[:12] if verdict == "faster" else chosen
        items = "".join(
            f'<li><a href="#{_anchor(group, name)}">{escape(name)}</a> '
            f'{svg.ratio_bar(ratio, 0, limit, verdict)} <span class="fact">{ratio:.2f}</span> '
            f'<span class="quiet">{_range(group, name) if verdict == "mixed" else times(ratio)}'
            "</span></li>" for name, ratio, _ in shown)
        more = len(chosen) - len(shown)
        sides.append(f'<h4>{title}</h4><ul class="top">{items}</ul>'
                     + (f'<p class="quiet">the best of each kind; {more} more below</p>' if more else ""))
    lines.append(f'<div class="sides"><div>{sides[0]}</div><div>{"".join(sides[1:])}'
                 f'{_conditions(group)}</div></div>')
    return f'<h3>{escape(group.title)}</h3>' + "".join(lines)


def _best_of_each_kind(rows):
    """The first of the rows whose names differ in numbers only."""
    kinds = {}
    for row in rows:
        kinds.setdefault(re.sub(r"\d+", "", row[0]), row)
    return list(kinds.values())


def _conditions(group):
    """How far noise goes, memory, and what did not run."""
    lines = []
    for run in group.runs:
        noise = sorted(run.data["verdicts"], key=lambda v: abs(v["noise"]))
        if noise:
            usual = statistics.median(abs(v["noise"]) for v in noise)
            others = run.data["environment"]["others"]
            busy = (f" Other programs used {others * 100:.0f}% of the processors meanwhile."
                    if others > 0.1 else "")
            lines.append(
                f'<p>Noise floor on {run.label} ({escape(group.old)} against itself): median '
                f'{usual * 100:.1f}%, worst {abs(noise[-1]["noise"]) * 100:.1f}% '
                f'({escape(noise[-1]["name"])}).{busy}</p>')
            lines.append(_memory(group, run))
        for row in run.data["failed"]:
            side = run.data["sides"][row["side"]]["name"]
            lines.append(f'<p>{chip("failed")} {escape(row["name"])} on {escape(side)} '
                         f'({run.label}): {escape(row["reason"])}</p>')
    return "".join(lines)


def _least_memory(run):
    """Bytes below which a resident set is not told: a process begins with the largest one
    of the process that started it, which is about the least of all."""
    return 1.1 * min((p["max_rss"] for row in run.data["rows"] for processes in
                      row["columns"].values() for p in processes), default=0)


def _memory(group, run):
    """The largest resident set of the processes, new against old."""
    least, changes = _least_memory(run), []
    for v in run.data["verdicts"]:
        columns = _columns_of(run, v["name"])
        old, new = (statistics.median(p["max_rss"] for c in names for p in columns[c])
                    for names in (("old", "control"), ("new",)))
        if max(old, new) > least:
            changes.append((new / max(old, 1) - 1, v["name"]))
    text = f"<p>Memory on {run.label}: "
    if not changes:
        return text + f"no row needs more than {least / 1e6:.0f} MB on either side.</p>"
    changes.sort()
    (low, lean), (high, fat) = changes[0], changes[-1]
    return text + (f"of {_plural(len(changes), 'row')} above {least / 1e6:.0f} MB the largest resident set "
                   f"on {escape(group.new)} differs from that on {escape(group.old)} by {low:+.1%} "
                   f"({escape(lean)}) to {high:+.1%} ({escape(fat)}).</p>")


def _plural(count, word):
    return f"{count} {word}{'s' * (count != 1)}"


def _anchor(group, name):
    return f"{group.anchor}-{name}".replace(" ", "-")


def _limit(rows):
    """The ratio at the ends of the bars, the same for all rows."""
    return max([1.5, *(max(ratio, 1 / ratio) for _, ratio, _ in rows)]) * 1.02


def table(group):
    """The table per benchmark, with a chart of the samples in each row."""
    several = len(group.runs) > 1
    # Small changes must be seen beside large ones.
    limit = min(2, _limit([(None, v["new"] / v["old"], None)
                           for entries in group.rows().values() for _, v in entries]))
    key = group.anchor
    columns = ["Benchmark", *(["machine"] if several else []), f"{group.old}, µs",
               f"{group.new}, µs", "after/before", "faster ← → slower", "noise floor", "verdict",
               "raw samples"]
    body = []
    for name, entries in group.rows().items():
        verdict = together([v["verdict"] for _, v in entries])
        lines = "".join(_row(group, run, v, limit, several, index == 0)
                        for index, (run, v) in enumerate(entries))
        details = "".join(_details(group, run, v) for run, v in entries)
        body.append(f'<tbody class="{verdict}" id="{escape(_anchor(group, name))}">{lines}<tr class="more">'
                    f'<td colspan="{len(columns)}"><details><summary>figures<span class="hidden"> of '
                    f'{escape(name)}</span></summary><div class="boxes">{details}</div></details></td></tr></tbody>')
    choices = "".join(
        f'<input type="radio" name="{key}" id="{key}-{value}" class="show-{value}"'
        f'{" checked" if value == "all" else ""}><label for="{key}-{value}">{text}</label>'
        for value, text in (("all", "all rows"), ("changed", "changed"), ("slower", "slower")))
    legend = ('<ul class="legend">'
              f'<li><span class="key s0"></span>{escape(group.old)}</li>'
              f'<li><span class="key s1"></span>{escape(group.old)} again (the control)</li>'
              f'<li><span class="key s2"></span>{escape(group.new)}</li></ul>')
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in columns)
    return (f'<div class="rows"><span class="choice">Show {choices}</span>{legend}'
            f'<table class="cards"><thead><tr>{head}</tr></thead>{"".join(body)}</table></div>'
            + _one_sided(group))


def _row(group, run, v, limit, several, first):
    ratio = v["new"] / v["old"]
    columns = _columns_of(run, v["name"])
    lanes = []
    for column, index in _COLUMNS:
        values = [bench_stats.process_value(p["samples"]) for p in columns[column]]
        raw = [s for p in columns[column] for s in (p["samples"][1:] or p["samples"])]
        lanes.append((index, (group.old, f"{group.old} again", group.new)[index], raw, values))
    cells = [(f"{group.old}, µs", "old", number(v["old"])),
             (f"{group.new}, µs", "new", number(v["new"])),
             ("after/before", "fact", f"{ratio:.2f}"),
             ("faster ← → slower", "bar", svg.ratio_bar(ratio, v["floor"], limit, v["verdict"])),
             ("noise floor", "floor", f'{v["floor"] * 100:.1f}%'),
             ("verdict", "verdict", chip(v["verdict"])),
             ("raw samples", "chart", svg.samples(lanes, "µs"))]
    if several:
        cells.insert(0, ("machine", "machine", run.label))
    name = escape(v["name"]) if first else f'<span class="quiet">{escape(v["name"])}</span>'
    return (f'<tr><th scope="row">{name}</th>'
            + "".join(f'<td data-label="{escape(label)}" class="{kind}">{cell}</td>'
                      for label, kind, cell in cells)
            + "</tr>")


def _columns_of(run, name):
    return next(row for row in run.data["rows"] if row["name"] == name)["columns"]


def _details(group, run, v):
    names = (group.old, f"{group.old} again", group.new)
    lines, least = [], _least_memory(run)
    for column, index in _COLUMNS:
        processes = _columns_of(run, v["name"])[column]
        values = sorted(bench_stats.process_value(p["samples"]) for p in processes)
        rss = statistics.median(p["max_rss"] for p in processes)
        memory = f"{rss / 1e6:.1f}" if rss > least else f"≤ {least / 1e6:.0f}"
        count = sum(len(p["samples"]) for p in processes)
        lines.append(
            f'<tr><th scope="row">{escape(names[index])}</th>'
            + "".join(f"<td>{text}</td>" for text in (
                number(values[0]), number(svg.quantile(values, 0.25)),
                number(svg.quantile(values, 0.5)), number(svg.quantile(values, 0.75)),
                number(values[-1]), len(values), f"{count:,}", memory)) + "</tr>")
    command = ["utils/run-smoke-bench", "--filter", "^" + v["name"].replace(".", r"\.") + "$",
               "--samples", str(run.data["method"]["rounds"])]
    if (group.old, group.new) != ("before", "after"):
        command += [group.old, group.new]
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="Figures of '
            f'{escape(v["name"])} on {run.label}"><table><caption>{run.label}: µs of a process '
            "(the median of its samples without the first); memory is the median of the "
            "largest resident set</caption><thead><tr>"
            + "".join(f'<th scope="col">{c}</th>' for c in (
                "", "min", "25 %", "median", "75 %", "max", "processes", "samples", "MB"))
            + f'</tr></thead><tbody>{"".join(lines)}</tbody></table>'
            f'<p>p = {v["p"]:.2g}, {v["adjusted"]:.2g} adjusted for all rows; '
            f'{escape(group.old)} against itself {v["noise"] * 100:+.1f}%; change '
            f'{v["delta"] * 100:+.1f}%.</p>'
            f"<p>Measure it again: <code>{escape(shlex.join(command))}</code></p></div>")


def _one_sided(group):
    parts = []
    for run in group.runs:
        for side in ("new", "old"):
            rows = [[row["name"], statistics.median(row["values"])]
                    for row in run.data["one_sided"] if row["side"] == side]
            if rows:
                name = run.data["sides"][side]["name"]
                parts.append(harness.table(f"Only on {name}, with nothing to compare ({run.label})",
                                           ["benchmark", "µs"], rows))
    return "".join(parts)


def per_patch(found):
    """What each patch alone gives: by its header, and as far as runs of `upto:` tell."""
    steps = {step_of(group): group for group in found if step_of(group)}
    columns = ["patch", "what it does", "what it gives, by its header"]
    columns += ["measured here, after/before"] * bool(steps)
    lines = []
    for slug in series.names():
        patch = series.load(slug)
        cells = [f'{escape(patch.subject)}<p class="quiet">'
                 f'{escape(patch.fields.get("Upstream-Status", ""))}</p>',
                 escape(patch.fields.get("Benchmark", ""))]
        if steps:
            cells.append(_step(steps[slug]) if slug in steps else
                         '<p class="quiet">not measured in these results</p>')
        lines.append(f'<tr><th scope="row">{escape(slug)}</th>' + "".join(
            f'<td data-label="{title}">{cell}</td>' for title, cell in zip(columns[1:], cells)) + "</tr>")
    head = "".join(f'<th scope="col">{title}</th>' for title in columns)
    first, second = series.names()[:1], series.names()[1:2]
    example = [f"upto:{slug}" for slug in first + second] if second else ["before", "after"]
    command = f"utils/run-smoke-bench {' '.join(example)} --output build/report/patch-{example[-1][5:]}"
    return ('<p>Each patch against the series up to the one before it. Measure one alone: '
            f"<code>{escape(command)}</code></p>"
            f'<table class="cards patches"><thead><tr>{head}</tr></thead>'
            f'<tbody>{"".join(lines)}</tbody></table>')


def _step(group):
    """What a run of two neighbours in the series found."""
    changed = [row for row in group.combined() if row[2] != "same"]
    measured = "".join(
        f'<li><a href="#{_anchor(group, name)}">{escape(name)}</a> '
        f'<span class="fact">{ratio:.2f}</span> {chip(verdict)}</li>'
        for name, ratio, verdict in sorted(changed, key=lambda row: row[1]))
    rest = len(group.combined()) - len(changed)
    return (f'<ul class="plain">{measured}</ul>' if measured else "") \
        + f'<p class="quiet">{_plural(rest, "row")} without a change</p>'


def commands(run):
    """The command line that measures a run again."""
    sides = [run.data["sides"][side]["name"] for side in ("old", "new")]
    words = ["utils/run-smoke-bench"] + (sides if sides != ["before", "after"] else [])
    return shlex.join(words)
