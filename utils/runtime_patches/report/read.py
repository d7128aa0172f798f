"""Finds the results of all benchmarks, reads and checks them: results.json of run-smoke-bench
(results.comparison), and of any harness (results.outcome)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

from ..base import files, schema
from ..base.errors import UserError
from ..base.paths import REPORT
from ..results import comparison, outcome

_HINT = "give results.json of utils/run-smoke-bench or of a harness, or folders that hold them"


@dataclass
class Result:
    """One file of results. data: a Comparison or an Outcome; label: the machine (and run) as the page calls it:
    A, B, or A2 for its second run of one kind."""

    path: Path
    data: Union[comparison.Comparison, outcome.Outcome]
    label: str = ""

    @property
    def compared(self) -> comparison.Comparison:
        """data, where that is of run-smoke-bench."""
        assert isinstance(self.data, comparison.Comparison)
        return self.data

    @property
    def measured(self) -> outcome.Outcome:
        """data, where that is of a harness."""
        assert isinstance(self.data, outcome.Outcome)
        return self.data

    @property
    def is_comparison(self) -> bool:
        return isinstance(self.data, comparison.Comparison)


def given(paths: Sequence[Path]) -> Sequence[Path]:
    """`paths`, or the folder of all results; UserError if there are none."""
    if not paths and not found(REPORT):
        raise UserError("there are no results yet", "utils/run-smoke-bench measures some")
    return paths or [REPORT]


def found(folder: Path) -> list[Path]:
    """The files of results in a folder such as build/report, and below."""
    files = {path for depth in ("", "*/", "*/*/") for path in folder.glob(f"{depth}results.json")}
    return sorted(path for path in files if not (path.parent.name == "quick" and path.parents[1] / path.name in files))


def load_all(paths: Iterable[Path | str]) -> tuple[list[Result], list[str]]:
    """([Result], [notes]) of files, or folders that hold some. UserError for damaged ones."""
    named = list(map(Path, paths))
    chosen = []
    for path in named:
        below = found(path) if path.is_dir() else [path]
        if not below:
            raise UserError(f"no results in {path}", _HINT)
        chosen += [file for file in below if file not in chosen]
    results, notes, seen = [], [], {}
    for file in chosen:
        text = files.read_text(file, _HINT)
        if text in seen:
            notes.append(f"{file} holds the same as {seen[text]}: counted once")
            continue
        seen[text] = file
        if data := load(file, text):
            results.append(Result(file, data))
        elif file in named:
            raise UserError(f"{file} holds no results that are known here", _HINT)
        else:
            notes.append(f"{file} holds no results that are known here: left out")
    if not results:
        raise UserError(f"{chosen[0]} holds no results that are known here", _HINT)
    _name_machines(results)
    return results, notes


def load(path: Path, text: str) -> comparison.Comparison | outcome.Outcome | None:
    """The Comparison or the Outcome in a file; None if it is of no known form."""
    data = files.parse(text, path, schema.HINT)
    if isinstance(data, dict) and "verdicts" in data:
        return comparison.check(path, data, schema.HINT)
    if isinstance(data, dict) and data.get("kind") == "harness":
        if data.get("format") != outcome.FORMAT:
            raise UserError(f"{path} has format {data.get('format')}, this version reads {outcome.FORMAT}", schema.HINT)
        return schema.checked(outcome.Outcome, data, path)
    return None


def _name_machines(results: list[Result]) -> None:
    """Labels: a letter a machine; its later runs of one kind have a number."""
    machines, runs = {}, {}
    for result in sorted(results, key=lambda one: (not one.is_comparison, one.data.started or "", str(one.path))):
        letter = machines.setdefault(result.data.environment.key, chr(ord("A") + len(machines)))
        kind = result.compared.names if result.is_comparison else result.measured.name
        runs[letter, kind] = runs.get((letter, kind), 0) + 1
        result.label = letter + (str(runs[letter, kind]) if runs[letter, kind] > 1 else "")
