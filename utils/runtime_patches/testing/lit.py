"""Composes lit's command lines, runs them, and counts the results: utils/run-test.

There are two runs of lit. The Swift tests, ours and upstream's, run inside the
workspace. The tests of the command-line tools run on the host, where users run the
tools: with the host's Python and the same copy of lit.
"""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base import files, locks, pins, progress
from ..base.errors import UserError
from ..base.paths import BUILD, REPO
from ..base.paths import TEST as TESTS
from ..base.process import ended, terminable
from ..base.progress import note
from ..runtimes.runtime import Runtime
from ..workspace import herd
from ..workspace.find import Workspace
from . import unittest_modules
from .selection import SUITES, TOOLS, select
from .system import System

_FAILED = ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT")
_PASSED = ("PASS", "FLAKYPASS", "XFAIL")
_LISTING = {"--show-tests", "--show-suites"}
# The parameter that names the folder of the results.
_OUTPUT = "test_output="

# Of LLVM, as in FileCheck-21: the newest first, also those to come.
_VERSIONS = range(30, 14, -1)

# Test formats of ours, which lit must be able to import.
FORMATS = TESTS / "formats"

# A run of lit: what puts its options into its command line, its environment.
_Run = tuple[Callable[[list[str]], list[str]], dict[str, str]]


@dataclass
class Options:
    """How tests are chosen and shown, as lit's options of these names do; the last value counts. lit: other words for
    lit."""

    filter: list[str] = field(default_factory=list)
    filter_out: list[str] = field(default_factory=list)
    param: list[str] = field(default_factory=list)
    timeout: list[int] = field(default_factory=list)
    verbose: bool = False
    show_all: bool = False
    lit: list[str] = field(default_factory=list)

    def words(self) -> list[str]:
        """The options of a run of lit."""
        named = [("--filter", one) for one in self.filter[-1:]]
        named += [("--filter-out", one) for one in self.filter_out[-1:]]
        named += [("--param", one) for one in self.param if not one.startswith(_OUTPUT)]
        named += [("--param", f"timeout={seconds}") for seconds in self.timeout]
        return [word for pair in named for word in pair] + ["-v"] * self.verbose + ["-a"] * self.show_all + self.lit


def run(
    ws: Workspace, runtime: Runtime, paths: Sequence[str], options: Options | None = None, system: System | None = None
) -> int:
    """Runs the tests at `paths` on a Runtime that is built; returns the exit status. system: a System where the
    programs run, if that is not the workspace: then the tests of the tools are left out."""
    options = options or Options()
    swift, tools = select(ws, paths, options.filter, options.filter_out)
    if system:
        tools = []
    own = [value[len(_OUTPUT) :] for value in options.param if value.startswith(_OUTPUT)]
    name = f"{runtime.plain}-{system.name}" if system else runtime.plain
    output = Path(own[-1]).absolute() if own else (BUILD / "test" / name)
    output.mkdir(parents=True, exist_ok=True)
    unittest = unittest_modules.ensure(ws, system.target if system else None) if import_unittest(swift) else ""
    words = options.words()
    with locks.exclusive(output):
        results = _Results()
        status = 0
        if swift:
            status = _lit(_swift_command(ws, runtime, swift, unittest, output, system), words, output, "swift", results)
        if tools:
            status = _lit(_tools_command(ws, runtime, tools, output), words, output, "tools", results) or status
    if _LISTING & set(words):
        return status
    return results.report(ignore="--ignore-fail" in words)


def import_unittest(paths: Iterable[Path]) -> bool:
    """Whether tests at these paths may import StdlibUnittest, whose making takes longer than a test."""
    return any(path.is_dir() or b"StdlibUnittest" in path.read_bytes() for path in paths)


def _parameters(values: Mapping[str, Any]) -> list[str]:
    return [word for name, value in values.items() if value for word in ("--param", f"{name}={value}")]


def _swift_command(
    ws: Workspace, runtime: Runtime, inputs: list[Path], unittest: Path | str, output: Path, system: System | None
) -> _Run:
    """The run of lit on Swift tests. inputs: tests and folders; unittest: the folder of StdlibUnittest, or none;
    output: for results."""
    parameters: dict[str, Any] = {
        "swift_toolchain": ws.toolchain,
        "runtime": runtime,
        "runtime_libdir": runtime.libraries,
        "checkout": ws.sources,
        "unittest_dir": unittest,
        "test_output": output,
        "without": ",".join(runtime.missing),
    }
    fixed: list[tuple[Path | str, Path | str]] = list(system.places) if system else []

    def inside(path: Path | str) -> str:
        """`path` as lit sees it: tests put paths into shell commands unquoted."""
        names = ("/test-output", "/runtime-patches", "/swift-project", "/unittest")
        for place, plain in zip((output, REPO, ws.sources, unittest), names):
            if re.search(r"[^\w/.,+@=:-]", str(place)) and Path(path).is_relative_to(place):
                if (place, plain) not in fixed:
                    fixed.append((place, plain))
                return plain + str(path)[len(str(place)) :]
        return str(path)

    for name in ("runtime_libdir", "checkout", "unittest_dir", "test_output"):
        parameters[name] = inside(parameters[name])
    if system:
        seen = [inside(output), inside(REPO), parameters["unittest_dir"], ws.cache]
        parameters |= system.parameters(filter(None, seen))
    argv, path = (["lit"], "") if ws.from_packages else _host_lit(ws)
    argv = [*argv, *_parameters(parameters)]
    tail = []
    for place in inputs:
        if any(place.is_relative_to(ws.swift / name) for name in SUITES):
            place = TESTS / "upstream" / place.relative_to(ws.swift)
        tail.append(inside(place))

    def wrap(options: list[str]) -> list[str]:
        return ws.command([*argv, *options, *tail], fixed=fixed, binds=[output])

    return wrap, ws.environment({"PYTHONPATH": os.pathsep.join(filter(None, [inside(FORMATS), path]))})


def _tools_command(ws: Workspace, runtime: Runtime, inputs: list[Path], output: Path) -> _Run:
    """The run of lit on the tests of the tools, which is on the host."""
    filecheck = _on_path(ws, "FileCheck")
    if ws.from_packages:
        # FileCheck needs the libraries that are inside.
        starter = output / "FileCheck"
        files.write_starter(starter, ws.command([filecheck], binds=[output]))
        filecheck = str(starter)
    argv, path = _host_lit(ws)
    parameters = {
        "test_output": output,
        "checkout": ws.sources,
        "runtime": runtime,
        "without": ",".join(runtime.missing),
        "workspace_options": shlex.join(ws.options),
        "filecheck": shlex.quote(str(filecheck)),
    }
    own = [] if importlib.util.find_spec("psutil") else [str(TOOLS[0] / "lit_shims")]
    path = os.pathsep.join(filter(None, [*own, str(FORMATS), path, os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path}
    models = TESTS / "models"
    if any(models.is_relative_to(place) or place.is_relative_to(models) for place in inputs):
        herd7 = herd.starter(ws, output)
        env |= {"HERD7": str(herd7)} if herd7 else {}
    return lambda more: [*argv, *_parameters(parameters), *more, *map(str, inputs)], env


def _on_path(ws: Workspace, name: str) -> str:
    """The path of one of LLVM's test tools, as seen inside."""
    for folder in ws.path.split(":"):
        for candidate in (name, *(f"{name}-{version}" for version in _VERSIONS)):
            path = os.path.join(folder, candidate)
            if ws.outside(path).exists():
                return path
    raise UserError(f"{name} is not installed", "sudo apt install llvm-21-tools, or put LLVM's build folder on PATH")


def _host_lit(ws: Workspace) -> tuple[list[str], str]:
    """(the command that runs lit with this Python, its PYTHONPATH): it is the workspace's lit, or upstream's."""
    places = [ws.sources / "llvm-project" / "llvm" / "utils" / "lit"]
    if ws.from_packages:
        home = ws.outside(pins.load().distribution.llvm_tools).parent
        places = [home / "utils" / "lit", home / "build" / "utils" / "lit", *places]
    for place in places:
        if (place / "lit" / "main.py").exists():
            start = "import sys; sys.argv[0] = 'lit'; from lit.main import main; main()"
            return [sys.executable, "-c", start], str(place)
    if found := shutil.which("lit"):
        return [found], ""
    raise UserError("lit is not installed", f"pip install lit, or check out llvm-project beside {ws.swift}")


def _lit(run: _Run, words: Sequence[str], output: Path, name: str, results: _Results) -> int:
    """One run of lit; its reports go to `results`. Returns its exit status."""
    command, env = run
    report, total = output / f"{name}.json", output / f"{name}.xml"
    for path in (report, total):
        path.unlink(missing_ok=True)
    given = set(words)
    # Many tests wait most of the time. The last -j counts.
    options = ["-j", str(len(os.sched_getaffinity(0)) + 2)]
    if not given & {"-v", "--verbose", "-a", "--show-all", "-s", "--succinct"}:
        options += ["-q"] if progress.quiet else ["-sv"]
    if "--no-execute" in given:
        options += ["--skip-test-time-recording"]
    if "--num-shards" in given and "--order" not in given:
        # The default order is by the times of the last run, which the other shards
        # have changed by then: some tests would run in no shard.
        options += ["--order", "lexical"]
    options += words
    options += ["--allow-empty-runs", "-o", str(report), "--xunit-xml-output", str(total)]
    sys.stdout.flush()
    # In a session of its own: Ctrl-C comes here alone, and then ends every test.
    quiet = "-q" in options and not given & _LISTING
    with terminable():
        out = subprocess.DEVNULL if quiet else None
        status, _ = ended(subprocess.Popen(command(options), env=env, start_new_session=True, stdout=out))
    if not given & _LISTING:
        results.add(report, total, status, outputs=quiet)
    return status


class _Results:
    """What the runs of lit gave: names by result code."""

    def __init__(self) -> None:
        self.names = collections.defaultdict(list)
        self.not_run = 0
        self.broken = False

    def add(self, report: Path, total: Path, status: int, outputs: bool) -> None:
        """Reads lit's JSON, and from its XML how many tests it found in all.

        outputs: whether to show the output of failed tests, which lit did not.
        """
        try:
            tests = json.loads(report.read_text(encoding="utf-8"))["tests"]
            suites = xml.etree.ElementTree.parse(total).getroot().iter("testsuite")
            self.not_run += sum(int(suite.get("tests") or 0) for suite in suites) - len(tests)
        except (OSError, ValueError, xml.etree.ElementTree.ParseError):
            # An empty shard or run writes none and says so; anything else is a fault.
            self.broken |= status != 0
            return
        for test in tests:
            self.names[test["code"]].append(test["name"])
            if outputs and test["code"] in _FAILED:
                print(f"{test['name']}\n{test['output']}")
        self.broken |= status > 1

    def of(self, codes: Iterable[str]) -> list[str]:
        return sorted(name for code in codes for name in self.names[code])

    def report(self, ignore: bool = False) -> int:
        """Prints the failures, the expected ones, and one line of counts."""
        failed = self.of(_FAILED)
        for code in _FAILED:
            for name in sorted(self.names[code]):
                print(f"{code}: {name}")
        for code, words in (("XFAIL", "failed as expected"), ("FLAKYPASS", "passed after a failure")):
            if names := [name.split(" :: ")[-1] for name in self.of([code])]:
                note(f"{words} (counted as passed): {', '.join(names)}")
        skipped = len(self.names["UNSUPPORTED"]) + self.not_run
        print(f"{len(self.of(_PASSED))} passed, {len(failed)} failed, {skipped} skipped")
        if self.broken:
            raise UserError("lit could not run all tests", "its message is above")
        return 1 if failed and not ignore else 0
