"""The parts of the READMEs that are generated: utils/update-docs.

A part stands between `<!-- generated: KIND WORD… -->` and `<!-- end -->`. The kinds are the functions in KINDS: each
gets the folder of the page, {path: text} of the plots that the page shows, to which it adds, and the words. What is
made from results that nobody has saved (benchmark/results) stays as it is.
"""

import re
import shlex
from argparse import Action
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Callable

from . import cli
from .base import files
from .base.errors import UserError
from .base.paths import PATCHES, REPO, UTILS, shown
from .base.progress import note
from .base.schema import Cell
from .base.text import plural
from .cli import Parser
from .proofs import suites
from .report import saved, svg
from .results.comparison import natural
from .results.outcome import Table
from .results.table import number
from .series import series

_Plots = dict[Path, str]
_PART = re.compile(r"(<!-- generated: (.*?) -->\n)(.*?)(<!-- end -->)", re.S)
# As results.environment.State is written.
_STATE = re.compile(r"\(state (\w+)\)")
_WORDS = {"faster": "", "slower": "", "perhaps": ", perhaps slower", "same": ", in the noise"}
_FILES = ("README.md", "*/README.md", "*/*/README.md", "docs/*.md")
# Options that utils/README.md describes once.
_COMMON = {"--help", "--quiet", "--checkout", "--toolchain"}


class _NotSaved(Exception):
    """The results of a part are not there."""


def update(check: bool = False) -> None:
    """Updates all parts; with `check` only finds those that are not current. UserError if there are some."""
    stale, noted, old = [], [], set()
    for path in sorted({path for pattern in _FILES for path in REPO.glob(pattern)}):
        if path.relative_to(REPO).parts[0] == "build":
            continue
        text = files.read_text(path, f"git checkout -- {shown(path)}")
        found: _Plots = {}
        new = _PART.sub(lambda part: part[1] + _content(path, part[2], part[3], found, noted) + part[4], text)
        drawn = {at: plot for at, plot in found.items() if not at.exists() or at.read_bytes() != plot.encode()}
        old |= {f"{shown(path)}, state {key}" for key in _STATE.findall(new) if key != series.load().state}
        changed = [path] * (new != text) + list(drawn)
        stale += [str(shown(one)) for one in changed]
        if changed and not check:
            files.write(path, new)
            for place, content in drawn.items():
                place.parent.mkdir(exist_ok=True)
                files.write(place, content)
    for name in stale:
        print(f"{'not current' if check else 'written'}: {name}")
    if check and stale:
        raise UserError(f"{plural(len(stale), 'file')} not current, the first: {stale[0]}", "utils/update-docs")
    if not stale:
        print("all generated parts are current")
    for name in sorted(old):
        print(f"of another state than this series ({series.load().state}): {name}")


def _content(path: Path, words: str, old: str, drawn: _Plots, noted: list[str]) -> str:
    """The new content of a part of the file `path`; drawn: gets {path: text} of the plots that it shows; noted: the
    lines that were said, each once."""
    try:
        kind, *arguments = shlex.split(words)
        return f"{KINDS[kind](path.parent, drawn, *arguments)}\n"
    except _NotSaved as missing:
        line = f"{shown(path)}: no saved result {missing}, its part stays as it is"
        if line not in noted:
            noted.append(line)
            note(line)
        return old
    except (AttributeError, KeyError, TypeError, ValueError):  # other words, or a result of another kind
        hint = f"the kinds are {', '.join(KINDS)}; {shown(Path(__file__))} has their words"
        raise UserError(f"{shown(path)}: '{words}' cannot be generated", hint) from None


def _load(machine: str, name: str) -> Any:
    result = saved.load(machine, name)
    if result is None:
        raise _NotSaved(f"{machine}/{name}")
    return result


def _conditions(result: Any) -> str:
    when = (result.started or "").partition("T")[0]
    return f"Measured {when} on {result.environment}, with {result.state}."


def _series(folder: Path, drawn: _Plots) -> str:
    """The list of patches, as seen by a reader of the list. A row for what follows each other in the series and begins
    with the same word: they are about one subject."""
    prefix = "" if folder == PATCHES else "patches/"
    lines = ["| patch | what it does | upstream |", "|---|---|---|"]
    for _, patches in groupby(series.load(), key=lambda patch: patch.slug.partition("-")[0]):
        cells = []
        for patch in patches:
            link, subject = f"[`{patch.slug}`]({prefix}{patch.slug}.patch)", re.sub(r"^\[\w+\] ", "", patch.subject)
            cells.append((link, subject, patch.upstream[0]))
        lines.append(f"| {' | '.join(map('<br>'.join, zip(*cells)))} |")
    return "\n".join(lines)


def _commands(folder: Path, drawn: _Plots) -> str:
    names = sorted(path.name for path in UTILS.iterdir() if path.is_file() and "." not in path.name)
    return "\n\n".join(f"## {name}\n\n{_reference(name)}" for name in names)


def _reference(command: str) -> str:
    """What `--help` of a command tells, as Markdown. Not argparse's text: that differs between versions of Python."""
    module = cli.module_of(command)
    if hasattr(module, "HELP"):
        return f"```\n{module.HELP.strip()}\n```"
    parser = module.parser()
    lines = [" ".join(parser.description.split()), "", *(f"    {line}" for line in parser.examples), ""]
    rows = [
        f"| `{form}` | {_help(parser, action)} |"
        for action, form in parser.forms.items()
        if not _COMMON & set(action.option_strings)
    ]
    rows += [f"| `{form}` | {text} |" for form, text in parser.tail.items()]
    if rows:
        lines += ["| | |", "|---|---|", *rows, ""]
    return "\n".join([*lines, f"Exit status: {parser.status}."])


def _help(parser: Parser, action: Action) -> str:
    text = " ".join(parser._get_formatter()._expand_help(action).split()) if action.help else ""
    return text.replace("|", "\\|")


def _known(known: Collection[str], names: Iterable[str], what: str) -> None:
    """UserError if one of `names` is not `known`."""
    for name in names:
        if name not in known:
            raise UserError(f"benchmark/results has no {what} '{name}'", f"it has {', '.join(known)}")


def _told(result: Any, where: str = "") -> str:
    """A sentence on how many rows of a Comparison changed."""
    count = {kind: sum(row.verdict == kind for row in result.verdicts) for kind in _WORDS}
    return (
        f"Of {len(result.verdicts)} rows {count['faster']} are faster{where}, {count['slower']} slower, "
        f"{count['perhaps']} perhaps slower and {count['same']} without a change beyond the noise."
    )


def _ratios(rows: Iterable[Any]) -> str:
    """The names of rows of a Comparison with their ratios."""
    return ", ".join(f"`{row.name}` {row.ratio:.2f}" for row in rows)


def _counts(folder: Path, drawn: _Plots, machine: str, name: str) -> str:
    """A sentence on how many rows of a saved comparison changed."""
    result = _load(machine, name)
    old, new = result.names
    told = _told(result, f" on `{new}` than on `{old}`")
    changed = _ratios(row for row in result.verdicts if row.verdict != "same")
    return f"{told}{f' These changed: {changed}.' if changed else ''} {_conditions(result)}"


def _proven(folder: Path, drawn: _Plots, machine: str) -> str:
    """A sentence on the suites that have passed at the present state."""
    state, found = series.load().state, suites.load(machine).proofs
    passed = [one.name for one in found if not one.status and one.state.key == state]
    if not passed:
        return "No suite has passed on the series as it is yet. The proofs name the state of each suite's last run."
    return f"{len(passed)} of {len(suites.SUITES)} suites passed with the series as it is: {', '.join(passed)}."


def _smoke(folder: Path, drawn: _Plots, machine: str, *names: str) -> str:
    """names: of rows, or NAME=MEANING for rows that are shown with their meaning."""
    result = _load(machine, "smoke")
    rows = {verdict.name: verdict for verdict in result.verdicts}
    meanings = dict(name.partition("=")[::2] for name in names) or dict.fromkeys(sorted(rows, key=natural), "")
    _known(rows, list(meanings), f"row in {machine}/smoke.json")
    lines: list[list[Cell]] = []
    for row in (rows[name] for name in meanings):
        ratio, meaning = f"{row.ratio:.2f}{_WORDS[row.verdict]}", meanings[row.name]
        shown = f"{meaning} (`{row.name}`)" if meaning else f"`{row.name}`"
        lines.append([shown, number(row.old), number(row.new), ratio])
    table = Table("", ["us", *result.names, "after/before"], lines)
    lost = _ratios(row for row in result.verdicts if row.verdict in ("slower", "perhaps"))
    named = f" Slower, or perhaps: {lost}." if lost else ""
    return f"{table.markdown()}\n\n{_told(result)}{named} {_conditions(result)}"


def _found(machine: str, name: str, title: str) -> tuple[Any, Table]:
    result = _load(machine, name)
    tables: dict[str, Table] = {table.title: table for table in result.tables}
    _known(tables, [title], f"table in {machine}/{name}.json")
    return result, tables[title]


def _table(folder: Path, drawn: _Plots, machine: str, name: str, title: str, *rows: str) -> str:
    result, table = _found(machine, name, title)
    if rows:
        known = {str(row[0]): row for row in table.rows}
        _known(known, rows, f"row of {title}")
        table = replace(table, rows=[known[row] for row in rows])
    return f"{table.markdown()}\n\n{_conditions(result)}"


def _plots(folder: Path, drawn: _Plots, machine: str, name: str, file: str, *titles: str) -> str:
    result = _load(machine, name)
    _known([curve.title for curve in result.curves], titles, f"plot in {machine}/{name}.json")
    curves = [curve for curve in result.curves if not titles or curve.title in titles]
    drawn[folder / "img" / f"{file}.svg"] = svg.file(curves)
    return f"![{', '.join(curve.title for curve in curves)}](img/{file}.svg)\n\n{_conditions(result)}"


def _bars(folder: Path, drawn: _Plots, machine: str, name: str, file: str, title: str) -> str:
    """A picture of a table whose rows have a name, a sum and its parts."""
    _, table = _found(machine, name, title)
    rows = [(str(row[0]), [float(str(cell)) for cell in row[2:]]) for row in table.rows]
    drawn[folder / "img" / f"{file}.svg"] = svg.bars(title, table.columns[2:], rows)
    return f"![{title}](img/{file}.svg)"


KINDS: dict[str, Callable[..., str]] = {
    "series": _series,
    "commands": _commands,
    "smoke": _smoke,
    "counts": _counts,
    "proofs": lambda folder, drawn, machine: suites.table(machine).markdown(left=5),
    "proven": _proven,
    "table": _table,
    "plots": _plots,
    "bars": _bars,
}
