"""The page as one HTML file: no scripts, no network, no files beside it."""

from html import escape
from pathlib import Path

from .. import pins
from ..shapes import is_number
from . import deinit, harness, smoke

_STYLE = Path(__file__).with_name("style.css")
# What belongs on a whole page: harness, title, where it is documented.
_HARNESSES = (("scaling", "Scaling", "benchmark/scaling/README.md"),
              ("teardown", "Teardown", "benchmark/teardown/README.md"),
              ("liveness", "Liveness", "benchmark/liveness/README.md"),
              ("instructions", "Instruction counts", "benchmark/instructions/README.md"))


def render(results, notes, made):
    """The page. results: [read.Result]; notes: lines about the input; made: when."""
    groups = smoke.groups(results)
    deinits = [result for result in results if result.kind == "deinit"]
    sections = [("summary", "Summary", _summary(groups, deinits, results)),
                ("benchmarks", "Benchmarks", _benchmarks(groups)),
                ("patches", "Patch by patch", smoke.per_patch(groups)),
                ("deinit", "Isolated and async deinit", _deinit(deinits))]
    sections += _harnesses(results)
    sections.append(("environment", "Environment, and how to reproduce",
                     _environment(results, notes)))
    short = {"deinit": "Deinit", "environment": "Environment",
             **{name: title for name, title, _ in _HARNESSES}}
    links = "".join(f'<li><a href="#{name}">{escape(short.get(name, title))}</a></li>'
                    for name, title, _ in sections)
    body = "".join(f'<section id="{name}" aria-labelledby="{name}-title">'
                   f'<h2 id="{name}-title">{escape(title)}</h2>{text}</section>'
                   for name, title, text in sections)
    themes = "".join(
        f'<input type="radio" name="theme" id="theme-{name}"{" checked" if name == "auto" else ""}>'
        f'<label for="theme-{name}">{name}</label>' for name in ("auto", "light", "dark"))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>Swift concurrency runtime: before and after the series</title>
<style>
{_STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<a class="skip" href="#summary">To the results</a>
<header>
<h1>Swift concurrency runtime: before and after the series</h1>
<p class="quiet">Made {escape(made)} from {len(results)} result{"s" * (len(results) != 1)} for \
{escape(pins.load()["swift"]["tag"])}.</p>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<span class="choice theme">Theme {themes}</span>
</header>
<main>{body}</main>
</body>
</html>
"""


def _absent(what, command):
    return (f'<p class="absent">{escape(what)} not measured in these results: '
            f"<code>{escape(command)}</code> measures it.</p>")


def _summary(groups, deinits, results):
    parts = [smoke.summary(group) for group in groups if not smoke.step_of(group)]
    if deinits:
        parts.append("<h3>Isolated and async deinit</h3>")
        parts += [f"<p>{deinit.goals(result)[0]} (<a href=\"#deinit\">{result.label}</a>).</p>"
                  for result in deinits]
    for result in results:
        said = result.data.get("summary", []) if result.kind == "harness" else []
        if said:
            parts.append(f'<h3>{escape(_short(result))}</h3>' + "".join(
                f"<p>{escape(line)} (<a href=\"#{_identifier(result)}\">{result.label}</a>)</p>"
                for line in said))
    steps = [group for group in groups if smoke.step_of(group)]
    if steps:
        parts.append(f'<p><a href="#patches">{len(steps)} of the patches</a> were measured alone.</p>')
    return "".join(parts) or _absent("The summary needs a comparison,", "utils/run-smoke-bench")


def _benchmarks(groups):
    if not groups:
        return _absent("The suite was", "utils/run-smoke-bench")
    parts = ['<p>after/before below 1 is faster. A row counts as changed beyond twice its noise '
             "floor (the grey band) and by a rank test; every other difference is noise. Small "
             "charts: all samples as bars, each process's value as a dot, their median as a "
             "line; what lies beyond the axis is drawn at its end.</p>"]
    for group in groups:
        machines = ", ".join(f"{run.label}: {_machine(run)}" for run in group.runs)
        text = (f'<p class="quiet">{escape(machines)}</p>{smoke.table(group)}')
        if smoke.step_of(group):
            text = (f'<details><summary>All rows of {escape(group.title)}</summary>{text}'
                    "</details>")
        parts.append(f'<h3 id="{group.anchor}">{escape(group.title)}</h3>{text}')
    return "".join(parts)


def _deinit(results):
    if not results:
        return _absent("The deinit experiments were", "benchmark/deinit/reproduce --quick")
    return "".join((f"<h3>{result.label}: {escape(_machine(result))}</h3>"
                    if len(results) > 1 else "") + deinit.section(result) for result in results)


def _harnesses(results):
    """The sections of other harnesses, and a sentence for each that is not there."""
    found = {}
    for result in results:
        if result.kind == "harness":
            found.setdefault(result.data["name"], []).append(result)
    sections = []
    for name, title, place in _HARNESSES:
        if name not in found:
            sections.append((name, title, '<p class="absent">Not measured in these results'
                             + (f": <code>{place}</code> says how." if
                                (pins.REPO / place).exists() else ".") + "</p>"))
    for name, group in found.items():
        text = "".join((f"<h3>{one.label}: {escape(_machine(one))}</h3>" if len(group) > 1 else "")
                       + harness.section(one) for one in group)
        sections.append((_identifier(group[0]), group[0].data["title"], text))
    return sorted(sections, key=lambda section: "absent" in section[2])


def _identifier(result):
    """The id of a harness's section."""
    return "".join(c if c.isalnum() else "-" for c in result.data["name"])


def _short(result):
    """The name of a harness in one or two words."""
    names = {name: title for name, title, _ in _HARNESSES}
    return names.get(result.data["name"], result.data["title"])


def _machine(result):
    e = result.environment
    parts = [str(e.get("cpu") or "unknown processor")]
    if e.get("cores"):
        parts.append(f'{e["cores"]} cores')
    return ", ".join(parts)


def _environment(results, notes):
    parts = []
    for result in results:
        rows = [["file", f"{result.path.parent.name}/{result.path.name}"], *_facts(result)]
        parts.append(harness.table(f"{result.label}: {_title(result)}", ["", ""],
                                   [row for row in rows if row[1] not in (None, "")]))
        command = _command(result)
        if command:
            parts.append(f"<p>Measure it again: <code>{escape(str(command))}</code></p>")
    parts += [f"<p>{escape(note)}</p>" for note in notes]
    parts.append("<p>This page again: <code>utils/report</code>; of several machines: "
                 "<code>utils/report A/results.json B/results.json</code>. One row: its command "
                 "is below the row's figures.</p>")
    return "".join(parts)


def _title(result):
    if result.kind == "smoke":
        return " → ".join(result.data["sides"][side]["name"] for side in ("old", "new"))
    return "deinit experiments" if result.kind == "deinit" else result.data["title"]


def _command(result):
    if result.kind == "smoke":
        return smoke.commands(result)
    if result.kind == "deinit":
        quick = " --quick" if result.data.get("scale") == "quick" else ""
        return f"benchmark/deinit/reproduce{quick} --runtimes {','.join(result.data['runtimes'])}"
    return result.data.get("command")


def _facts(result):
    data, e = result.data, result.environment
    def percent(name):
        return f"{e[name] * 100:.1f}%" if is_number(e.get(name)) else None
    def load(name):
        value = e.get(name)
        return (", ".join(f"{one:.1f}" for one in value if is_number(one))
                if isinstance(value, list) else None)
    memory = e.get("memory")
    rows = [["started", data.get("started")],
            ["took", f'{data["seconds"]:.0f} s' if is_number(data.get("seconds")) else None],
            ["processor", _machine(result)],
            ["usable cores", e.get("usable_cores")],
            ["memory", f"{memory / 2**30:.1f} GiB" if is_number(memory) else None],
            ["kernel", e.get("kernel")],
            ["load before; after", "; ".join(filter(None, (load("load_before"), load("load_after"))))],
            ["processors used by others", percent("others")], ["stolen by the host", percent("stolen")]]
    if isinstance(e.get("variables"), dict):
        rows.append(["variables", " ".join(f"{k}={v}" for k, v in e["variables"].items())])
    if result.kind == "smoke":
        rows += _versions(data)
    return rows


def _versions(data):
    rows = [["processes a row", f'{data["method"]["rounds"]} on each of three columns']]
    repository, made = data.get("repository"), data.get("pins")
    if isinstance(repository, dict):
        changed = repository.get("changed")
        changed = changed if isinstance(changed, list) else []
        rows.append(["this repository", f'{str(repository.get("commit"))[:12]}'
                     + (f", {len(changed)} files changed" if changed else "")])
    if isinstance(made, dict) and isinstance(made.get("swift"), dict):
        rows.append(["Swift", str(made["swift"].get("tag"))])
    for side in ("old", "new"):
        libraries = data["sides"][side].get("libraries")
        for library, entry in (libraries.items() if isinstance(libraries, dict) else ()):
            if isinstance(entry, dict):
                rows.append([f'{library} of {data["sides"][side]["name"]}',
                             f'sha256 {str(entry.get("sha256"))[:16]}…, seen loaded in '
                             f'{entry.get("processes", 0)} processes'])
    return rows
