"""Compares two runtimes with upstream's benchmark suite and this repository's entries, in interleaved rounds."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import re
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ...base import files, pins
from ...base.errors import UserError
from ...base.files import remove
from ...base.git import Git
from ...base.paths import REPO
from ...base.process import terminable
from ...base.progress import Step, note
from ...base.text import plural
from ...results import comparison, environment, verdicts
from ...results.comparison import Comparison, Failure, Method, Process, Row, Side, Sides
from ...runtimes.libraries import LIBRARIES, NAMES
from ...runtimes.runtime import Runtime
from ...workspace.find import Workspace
from ..harness import inside, measuring
from ..harness.programs import VARIABLES
from . import binary
from .loop import Planned
from .plan import PLAN


@dataclass
class Chosen:
    """The benchmark binary, the names of its modules, and the rows to measure: what the loop reads of them."""

    binary: Path
    modules: list[str]
    rows: list[Planned] = field(default_factory=list)


def side_of(runtime: Runtime) -> Side:
    found = {key: value for key, value in runtime.record.items() if key != "files"}
    there = [name for name in NAMES if runtime.library(name).is_file()]
    libraries: dict[str, dict[str, Any]] = {
        name: {"path": str(runtime.library(name)), "sha256": files.sha256(runtime.library(name))} for name in there
    }
    return Side(runtime.name, str(runtime.folder), str(runtime.libraries), found, libraries)


def check_filter(ws: Workspace, pattern: str | None) -> None:
    """UserError if no benchmark of the suite can have a name that `pattern` finds."""
    if pattern and not any(binary.may_match(module, pattern) for module in binary.suite(ws).values()):
        _none(pattern)


def _none(pattern: str | None) -> NoReturn:
    raise UserError(f"no benchmark matches '{pattern}'", "utils/run-smoke-bench --list, or --list --all, names them")


def choose(ws: Workspace, sides: Sides, pattern: str | None = None, everything: bool = False) -> Chosen:
    """The Chosen of the whole suite, or of our entries and upstream's concurrency entries; what else matches
    `pattern` is looked for in the whole suite."""
    suite = binary.suite(ws)
    attempts = [suite] if everything else [binary.default(suite)]
    if pattern:
        attempts.append({name: module for name, module in suite.items() if binary.may_match(module, pattern)})
    for number, modules in enumerate(attempts):
        if not modules:
            continue
        if number:
            note(f"no default row matches '{pattern}': looking in the whole suite")
        found = Chosen(binary.build(ws, modules), list(modules))
        found.rows = _rows(ws, sides, found.binary, pattern)
        if found.rows:
            return found
    return _none(pattern)


def _rows(ws: Workspace, sides: Sides, binary: Path, pattern: str | None) -> list[Planned]:
    listed = {"old": _listing(ws, sides.old, binary), "new": _listing(ws, sides.new, binary)}
    rows = []
    for name, tags in sorted({**listed["old"], **listed["new"]}.items()):
        if re.search(pattern, name) if pattern else not {"skip", "unstable"} & set(tags):
            there = [side for side in ("old", "new") if name in listed[side]]
            rows.append(Planned(name, list(verdicts.COLUMNS) if len(there) == 2 else there))
    return rows


def _listing(ws: Workspace, side: Side, binary: Path) -> dict[str, list[str]]:
    """{name: tags} of the benchmarks that run on a side."""
    options: dict[str, Any] = {"binds": [side.folder], "env": {"LD_LIBRARY_PATH": side.library_path}, "text": True}
    argv = [binary, "--list", "--json", "--skip-tags="]
    done = ws.run(argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    with contextlib.suppress(ValueError, KeyError, TypeError):
        found = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode == 0:
            return {row["name"]: row["tags"] for row in found}
    if twice := re.search(r"Duplicate values for key: '(.+?)'", done.stdout):
        raise UserError(f"two benchmarks are named {twice[1]}", "change the name in one of the files")
    lines = done.stdout.strip().splitlines() or [f"exit status {done.returncode}"]
    what = f"the benchmark binary does not start on {side.name}: {lines[-1]}"
    raise UserError(what, f"are all of the toolchain's libraries in {side.library_path}?")


def measure(ws: Workspace, sides: Sides, chosen: Chosen, rounds: int | None, output: Path) -> Comparison:
    """Measures, and returns the Comparison. output: a folder that exists, for copies of the libraries."""
    with terminable(), measuring.alone():
        return _measure(ws, sides, chosen, rounds, output / "libraries")


def _measure(ws: Workspace, sides: Sides, chosen: Chosen, rounds: int | None, scratch: Path) -> Comparison:
    """The Comparison of the chosen rows. rounds: of each row, or None for as many as fit; scratch: a folder for
    copies of libraries, which is removed."""
    begin, started, machine = time.time(), environment.now(), environment.here()
    load, cores = machine.load_before, machine.usable_cores
    if load and cores and load[0] > cores / 2:
        note(f"this machine is busy (load {load[0]:.1f} on {cores} cores): figures will be less sharp")
    old, new = dataclasses.asdict(sides.old), dataclasses.asdict(sides.new)
    plan: dict[str, Any] = {
        **PLAN,
        "binary": str(chosen.binary),
        "rows": [vars(row) for row in chosen.rows],
        "rounds": rounds,
        "seed": int(begin),
        "libraries": [library.name for library in LIBRARIES if library.always],
        "scratch": str(scratch),
        "sides": {"old": old, "control": old, "new": new},
        "variables": VARIABLES,
    }
    remove(scratch)
    try:
        events = _run(ws, plan, [scratch.parent, sides.old.folder, sides.new.folder])
    finally:
        remove(scratch)
    planned = [Planned(**event) for event in events["calibrated"]]
    taken = {row.name: Row(row.name, {column: [] for column in row.columns}, row.iterations) for row in planned}
    for event in events["process"]:
        _prove(event, sides, scratch)
        taken[event["name"]].columns[event["column"]].append(Process(event["samples"], event["max_rss"]))
    for side in (sides.old, sides.new):
        for library in [*plan["libraries"], *side.loads]:
            if not side.libraries[library].get("processes"):
                what = f"no process on {side.name} was seen with {library}"
                raise UserError(what, "is the process table (/proc) hidden on this system?")
    failed = [Failure(**event) for event in events["failed"]]
    rows = list(taken.values())
    judged, one_sided = comparison.conclude(rows, failed)
    machine.load_after = list(os.getloadavg())
    machine.others, machine.stolen = events["end"][0]["others"], events["end"][0]["stolen"]
    git = Git(REPO)
    method = Method(events["plan"][0]["rounds"], verdicts.LEVEL, verdicts.FACTOR, plan["seed"], VARIABLES)
    result = Comparison(sides, method, machine, rows, judged, one_sided, failed, started=started)
    result.seconds, result.state = round(time.time() - begin, 1), environment.state()
    result.binary = {"path": str(chosen.binary), "sha256": files.sha256(chosen.binary)}
    result.toolchain, result.pins, result.modules = str(ws.toolchain), pins.as_json(), sorted(chosen.modules)
    changed = git.call("status", "--porcelain").stdout.splitlines()
    result.repository = {"commit": git.call("rev-parse", "HEAD").stdout.strip(), "changed": changed}
    return result


def _prove(event: dict[str, Any], sides: Sides, scratch: Path) -> None:
    """UserError if a measured process did not run on copies of its side's libraries."""
    side = sides.new if event["column"] == "new" else sides.old
    for library, path in event.pop("loaded").items():
        folder = Path(path).parent
        if folder.parent != scratch or not folder.name.strip("-").startswith(event["column"]):
            what = f"{event['name']} on {side.name} ran with {path}"
            raise UserError(what, f"it should have been {side.library_path}/{library}: is LD_PRELOAD set?")
        entry = side.libraries[library]
        entry["processes"] = entry.get("processes", 0) + 1


def _run(ws: Workspace, plan: Mapping[str, Any], binds: Iterable[Path | str]) -> dict[str, list[dict[str, Any]]]:
    """Runs the measuring loop inside; returns {kind: [event]} of what it tells."""
    found, rows = collections.defaultdict(list), plural(len(plan["rows"]), "benchmark")
    events = inside.events(ws, "benchmarks.smoke.loop", plan, binds)
    try:
        with Step(f"calibrating {rows}") as step:
            for event in events:
                found[event.pop("event")].append(event)
                if found["plan"]:
                    break
                step.text = f"calibrating {event['name']}"
        for known in found["plan"]:
            with Step(f"measuring {rows}, {known['rounds']} rounds (about {known['seconds']:.0f} s)") as step:
                for event in events:
                    found[event.pop("event")].append(event)
                    if "round" in event:
                        step.text = f"measuring {rows}, round {event['round'] + 1} of {known['rounds']}"
    finally:
        events.close()
    if not found["end"]:
        raise UserError("the measuring loop ended early", "its message is above; the earlier report is as it was")
    if not found["process"]:
        row = found["failed"][0]
        what = f"no benchmark ran; {row['name']}: {row['reason']}"
        raise UserError(what, "utils/run-test shows whether this runtime works at all")
    return found
