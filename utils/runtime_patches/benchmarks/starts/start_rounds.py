"""Builds the programs, has the samples taken, and makes the report: what is asked for the first time, and starts."""

import dataclasses
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base.paths import BENCHMARK, BUILD
from ...base.text import number
from ...results import outcome
from ...results.outcome import Outcome
from ...runtimes import program
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import measuring, programs
from ..server import programs as server_programs

HOME = BUILD / "starts"
_HERE = BENCHMARK / "starts"
_FLAGS = ("-O", "-wmo")


@dataclasses.dataclass(frozen=True)
class Row:
    """kind: "program" prints its own figures, "command" is measured until it ends, "server" until it has answered.
    words: a program of this harness, or "server", or a command of the toolchain, and its arguments."""

    name: str
    text: str
    kind: str
    words: tuple[str, ...]


def _casts() -> list[Row]:
    made = []
    for library, what in (("", ""), ("-foundation", " beside Foundation")):
        for kind in ("conforms", "fails", "superclasses"):
            words = (f"first-casts{library}", kind, "300", "1")
            made.append(Row(f"{kind}{library}", f"300 types for the first time{what}, {kind}", "program", words))
        words = (f"first-casts{library}", "conforms", "1", "1")
        made.append(Row(f"one{library}", f"one look-up only{what}", "program", words))
    for threads in (2, 4, 8, 16):
        words = ("first-casts-foundation", "conforms", "300", str(threads))
        made.append(Row(f"threads-{threads}", f"300 types by each of {threads} threads at once", "program", words))
    return made


_ROWS = (
    *_casts(),
    Row("decode", "a program that decodes one struct with Foundation", "command", ("decode",)),
    Row("swift-package", "swift-package --version", "command", ("swift-package", "--version")),
    Row("swift-format", "swift-format of a small file", "command", ("swift-format", "format", "FILE")),
    Row("docc", "docc --help", "command", ("docc", "--help")),
    Row("sourcekit-lsp", "sourcekit-lsp --help", "command", ("sourcekit-lsp", "--help")),
    Row("server", "the server's row plain until its first answer", "server", ("server", "http")),
)
ROWS = {row.name: row for row in _ROWS}
COLUMNS = ("old", "again", "new")


def build(ws: Workspace, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as the sampler wants them; the programs that they need are built."""
    made: dict[str, Path] = {}

    def path(name: str) -> str:
        if name not in made:
            source = [_HERE / f"{name.removesuffix('-foundation')}.swift"]
            if name == "server":
                made[name] = server_programs.server(ws)
            elif name.startswith("first-casts"):
                flags = (*_FLAGS, "-DFOUNDATION") if name.endswith("-foundation") else _FLAGS
                c, headers = [_HERE / "support.c"], [_HERE / "support.h"]
                made[name] = program.build(ws, name, HOME, swift=source, c=c, headers=headers, flags=flags)
            elif source[0].exists():
                made[name] = program.build(ws, name, HOME, swift=source, flags=_FLAGS)
            else:
                made[name] = ws.toolchain / "bin" / name
        return str(made[name])

    file = str(_HERE / "to-format.swift")
    return [
        {
            "name": row.name,
            "kind": row.kind,
            "argv": [path(row.words[0]), *(word.replace("FILE", file) for word in row.words[1:])],
        }
        for row in rows
    ]


def measure(
    ws: Workspace, rows: list[dict[str, Any]], old: Runtime, new: Runtime, rounds: int
) -> dict[str, dict[str, list[dict[str, float]]]]:
    """{row: {column: [sample]}}"""
    found: dict[str, dict[str, list[dict[str, float]]]] = {row["name"]: {one: [] for one in COLUMNS} for row in rows}
    count = len(rows) * len(COLUMNS) * rounds
    with measuring.alone(HOME), tempfile.TemporaryDirectory(dir=HOME) as scratch:
        columns = {"old": old.name, "again": old.name, "new": new.name}
        libraries = {one.name: str(one.libraries) for one in (old, new)}
        plan = {"rows": rows, "rounds": rounds, "scratch": scratch, "columns": columns, "libraries": libraries}
        for sample in programs.samples(ws, "benchmarks.starts.sampler", plan, count, "processes", [ws.cache]):
            found[sample.pop("row")][sample.pop("column")].append(sample)
    return found


def _median(samples: Sequence[Mapping[str, float]], what: str) -> float:
    return statistics.median(sample[what] for sample in samples)


def report(
    found: Mapping[str, Mapping[str, Sequence[Mapping[str, float]]]], old: str, new: str, rounds: int
) -> Outcome:
    """The tables of {row: {column: samples}}: conformance lookups in us, starts of programs in ms."""
    made = outcome.begin("starts", "First times")
    casts: list[list[str]] = []
    starts: list[list[str]] = []
    dots: dict[str, tuple[float, float]] = {}
    for name, columns in found.items():
        one, again, other = (_median(columns[column], "us") for column in COLUMNS)
        both = statistics.median([one, again])
        ratios = [f"{other / both:.3f}", f"{(again / one - 1) * 100:+.1f} %"]
        dots[name] = (other / both, again / one)
        if "kilobytes" in columns["old"][0]:
            memory = [f"{_median(columns[column], 'kilobytes'):.1f}" for column in ("old", "new")]
            casts.append([name, number(both), number(other), *ratios, *memory])
        else:
            cpu = [_median(columns[column], "cpu") / 1000 for column in ("old", "new")]
            starts.append([name, number(both / 1000), number(other / 1000), *ratios, *map(number, cpu)])
    repeated = f"{old} again"
    if casts:
        header = ["us a type", old, new, f"{new}/{old}", repeated, f"heap, KB, {old}", new]
        made.table("Conformances for which nobody has asked", header, casts)
    if starts:
        header = ["ms", old, new, f"{new}/{old}", repeated, f"CPU {old}", new]
        made.table("Starts of programs", header, starts)
    made.add_dots("First times", f"{new}/{old}", [new, repeated], dots, 1.0)
    made.notes = [
        f"Medians of {rounds} new processes a column, {old}, {old} again and {new} in turn; one of each goes before. "
        "Heap: by how much what malloc has given out grows while the types are asked for, with all that is cached."
    ]
    return made
