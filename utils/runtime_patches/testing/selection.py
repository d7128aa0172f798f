"""Which tests utils/run-test runs: those at the given paths, ours or upstream's, that pass the filters."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..base.errors import BadUsage
from ..base.paths import BUILD, REPO
from ..base.paths import TEST as TESTS
from ..workspace.find import Workspace

# The suites of the tools, of the harnesses, and of the models: they run on the host.
TOOLS = (TESTS / "utils", TESTS / "benchmark", TESTS / "models")
DEFAULT = "test/Concurrency/Runtime"
# Upstream's suites.
SUITES = ("test", "validation-test")
_LIST = "utils/run-test -- --show-tests lists the tests"


def select(
    ws: Workspace, paths: Iterable[str], wanted: Sequence[str] = (), unwanted: Sequence[str] = ()
) -> tuple[list[Path], list[Path]]:
    """(inputs of the Swift run, inputs of the tools' run); BadUsage without any test. wanted, unwanted: patterns as of
    lit's --filter and --filter-out, the last of which counts."""

    def passes(name: str) -> bool:
        is_out = any(re.search(one, name, re.I) for one in unwanted[-1:])
        return not is_out and all(re.search(one, name, re.I) for one in wanted[-1:])

    swift, tools = ([place for place in places if any(map(passes, _names(ws, place)))] for places in _split(ws, paths))
    if not swift and not tools:
        raise BadUsage("no test matches", _LIST)
    return swift, tools


def _split(ws: Workspace, paths: Iterable[str]) -> tuple[list[Path], list[Path]]:
    found = [place for path in paths or ["test"] for place in _find(ws, path)]
    swift, tools = [], []
    for place in found:
        if any(map(place.is_relative_to, TOOLS)):
            tools.append(place)
        else:
            swift.append(place)
            tools += [suite for suite in TOOLS if place in suite.parents and suite.is_dir()]
    return _outermost(swift), _outermost(tools)


def _outermost(places: Iterable[Path]) -> list[Path]:
    """`places` without those below another one: lit would run such a test twice, at the same time."""
    places = list(dict.fromkeys(places))
    return [p for p in places if not any(q in p.parents for q in places)]


def _find(ws: Workspace, path: str) -> list[Path]:
    """The files and folders that PATH names: ours, or else upstream's.

    A relative folder of ours brings along what upstream's DEFAULT has there.
    """
    swift = ws.swift
    ours = [Path.cwd() / path, REPO / path]
    upstream = [] if os.path.isabs(path) else [swift / path, ws.sources / path]
    # A test in the checkout that holds the series is the same as here.
    laid = BUILD / "checkout" / "swift"
    for place in map(_plain, ours):
        if laid in place.parents:
            ours = [REPO / place.relative_to(laid)]
            upstream = [swift / place.relative_to(laid)]
    existing = [place for place in map(_plain, ours + upstream) if place.exists()]
    for place in existing:
        if place == REPO:
            place = TESTS
        if place.is_relative_to(TESTS):
            default, theirs = swift / place.relative_to(REPO), swift / DEFAULT
            comes_along = place.is_dir() and not os.path.isabs(path) and theirs.is_relative_to(default)
            return [place, theirs] if comes_along and theirs.is_dir() else [place]
        if any(place.is_relative_to(swift / suite) for suite in SUITES):
            return [place]
    if existing:
        raise BadUsage(f"'{path}' is not a folder of tests", f"tests are in {TESTS} and in {swift}/test")
    raise BadUsage(f"no test '{path}' in this repository or in {swift}", _LIST)


def _plain(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _names(ws: Workspace, place: Path) -> Iterator[str]:
    """Names that lit may give to the tests at `place`, to see whether a filter fits any."""
    root, suite = TESTS, "runtime-patches"
    for tools, name in zip(TOOLS, ("tools", "benchmark", "models")):
        if place.is_relative_to(tools):
            root, suite = tools, name
    for name in SUITES:
        if place.is_relative_to(ws.swift / name):
            root, suite = ws.swift / name, f"Swift {name}"
    if place.is_file():
        yield f"{suite} :: {place.relative_to(root)}"
    for folder, folders, files in os.walk(place):
        if place == TESTS and Path(folder) == TESTS:
            folders[:] = [f for f in folders if f not in ("upstream", "utils", "benchmark", "models", "formats")]
        folders[:] = [f for f in folders if f != "Inputs"]
        for file in files:
            if not file.startswith("lit.") and not file.endswith((".md", ".py")):
                yield f"{suite} :: {os.path.relpath(os.path.join(folder, file), root)}"
