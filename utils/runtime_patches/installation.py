"""All parts of the installation: what is ready, missing or stale, and how much room it takes; and cleaning.

It looks, and makes nothing. What the other commands make by themselves when they need it is no fault. A fault is what
somebody has to repair.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .base import files, locks, pins, schema
from .base.errors import BadUsage, UserError
from .base.git import Git
from .base.paths import BUILD, REPORT
from .base.process import captured
from .base.progress import coloured
from .base.text import plural, size
from .report import PAGE, read
from .results.comparison import Comparison
from .runtimes import build
from .runtimes.runtime import FOLDER as RUNTIMES
from .runtimes.runtime import in_folder, plain, stock
from .series import checkout, checks, own_checkout, series
from .workspace import cached, find, provision, sandbox
from .workspace.find import Workspace

READY, MISSING, STALE, FAULT = "ready", "missing", "stale", "fault"
_COLOURS = {READY: "32", STALE: "33", FAULT: "31"}
# These may hold work that nothing else has.
_CHECKOUTS = ("checkout", "dispatch")
_KEPT = (*_CHECKOUTS, "report")


@dataclass
class Line:
    """One finding. hint: the command or the words that help; path: the files that it is about."""

    state: str
    name: str
    text: str = ""
    hint: str | None = ""
    path: Path | None = None


def examine(ws: Workspace | None, fault: Line | None, toolchain: object) -> dict[str, list[Line]]:
    """{title: [Line]} of this machine, the cache and this clone."""
    machine = [] if toolchain else [_tools(ws), _disk(ws)]
    machine += [Line(READY, "lock", f"{holder} works in {folder}") for holder, folder in _busy()]
    parts = [fault] if fault else _workspace(ws)
    if not fault and not (ws and not ws.from_packages):
        parts += ([_before(ws)] if ws else []) + _caches()
        parts += [_old_line(path) for path in _old(ws)]
    headers = Line(READY, "patches", f"{len(series.load())} patches, headers without a fault")
    for file, what in checks.headers()[:1]:
        headers = Line(FAULT, "patches", f"{file}: {what}", "utils/check-patches")
    clone: list[Line | None] = [headers, _checkout(), *(_runtime(ws, folder) for folder in _folders(RUNTIMES))]
    others = [path for path in _folders(BUILD) if path.name not in ("checkout", "runtimes", "report")]
    clone += [Line(READY, f"build/{path.name}", path=path) for path in others]
    if BUILD.exists() and not BUILD.is_dir():
        clone.append(Line(FAULT, "build", "is no folder", "move it away", BUILD))
    found: dict[str, list[Line | None]] = {
        "this machine": [*machine],
        "toolchain and sources": [*parts],
        "this clone": clone,
        "results": [*_results()],
    }
    return {title: [line for line in lines if line] for title, lines in found.items() if any(lines)}


def _folders(place: Path) -> list[Path]:
    return [path for path in sorted(place.glob("*")) if path.is_dir() and not path.name.endswith(".partial")]


def _busy() -> list[tuple[str, Path]]:
    """[(who, folder)] of the locks that somebody holds."""
    folders = [pins.cache_root(), pins.cache()]
    folders += [path.parent for depth in ("", "*/", "*/*/") for path in BUILD.glob(f"{depth}.lock")]
    return [(holder, folder) for folder in folders if (holder := locks.holder(folder))]


def _old(ws: Workspace | None) -> list[Path]:
    """What nothing reads any more: caches of other pins and configurations, and what interrupted steps
    have left. Empty while somebody works there."""
    if _busy():
        return []
    cache = pins.cache()
    paths = [path for path in pins.cache_root().glob("*") if path.is_dir() and path != cache]
    paths.append(cache / "temporary")
    paths += [path for path in cache.glob("*.partial") if not path.name.startswith("before-")]
    paths += cache.glob("clients/checkouts/*.partial")
    paths += cached.kept(cache)[1]
    if ws and ws.from_packages:
        # An unfinished build of the current configuration goes on where it stopped.
        current = build.home(ws, stock()).name
        paths += [path for path in cache.glob("before-*") if path.name not in (current, f"{current}.partial")]
    paths += [*BUILD.glob("*.partial"), *BUILD.glob("*/*.partial")]
    return sorted(path for path in paths if path.is_dir() or path.is_symlink())


def _tools(ws: Workspace | None) -> Line:
    try:
        if ws:
            sandbox.bwrap()
        else:
            provision.check_tools()
        done = captured([sandbox.bwrap(), "--ro-bind", "/", "/", "true"], timeout=30)
    except UserError as error:
        return Line(FAULT, "tools", error.message, error.hint)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        hint = "unprivileged user name spaces may be off on this system"
        return Line(FAULT, "tools", f"bubblewrap does not run: {lines[-1]}", hint)
    return Line(READY, "tools", "bubblewrap runs" if ws else "all packages are installed")


def _disk(ws: Workspace | None) -> Line:
    free, wanted = files.free_gb(pins.cache_root()), 2 if ws else pins.load().needs.disk_gb
    text = f"{free:.1f} GB are free in {pins.cache_root()}"
    if free >= wanted:
        return Line(READY, "disk", text)
    hint = "utils/doctor --clean old, or set XDG_CACHE_HOME to a larger disk"
    return Line(FAULT, "disk", f"{text}, {wanted:.1f} are needed", hint)


def _workspace(ws: Workspace | None) -> list[Line]:
    """[Line] of the toolchain and the sources."""
    if ws and not ws.from_packages:
        return [Line(READY, "toolchain", str(ws.toolchain)), Line(READY, "sources", str(ws.swift))]
    lines = []
    for name, what in (("root", "the toolchain"), ("source", "Swift's sources")):
        path = pins.cache() / name
        if not path.is_dir():
            lines.append(Line(MISSING, name, "made when it is needed", "utils/update-checkout"))
        elif damage := _damage(path):
            lines.append(Line(FAULT, name, f"is not intact: {damage}", find.renewal(path), path))
        else:
            lines.append(Line(READY, name, what, path=path))
    return lines


def _caches() -> list[Line]:
    """[Line] of what else the cache holds for all clones."""
    found = [("ccache", "compiled files"), ("clients", "packages that others wrote, and their tests")]
    paths = [(path, what) for pattern, what in found for path in sorted(pins.cache().glob(pattern)) if path.is_dir()]
    return [Line(READY, path.name, what, path=path) for path, what in [*cached.kept(pins.cache())[0], *paths]]


def _damage(part: Path) -> str | None:
    """What is wrong with the files of a part of the cache, or None. The content of git's objects is
    not read."""
    if changed := files.changed(part / files.MADE):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"{changed[0]}{more} changed since it was made"
    if (part / "swift").is_dir():
        done = Git(part / "swift").call("fsck", "--connectivity-only", "--no-progress")
        if done.returncode:
            return "git: " + (done.stderr.strip().splitlines() or ["fsck fails"])[0]
    return None


def _old_line(path: Path) -> Line:
    if path.suffix == ".partial":
        what = "left by an interrupted set-up"
    elif path.name == "temporary":
        what = f"left by an interrupted set-up in {path.resolve()}"
    elif path.parent == pins.cache():
        what = "of another configuration"
    else:
        what = "of other pins: another version of this repository may use it"
    return Line(STALE, path.name, what, "utils/doctor --clean old", path.resolve())


def _before(ws: Workspace) -> Line:
    place, again = build.home(ws, stock()), "utils/build-runtime before"
    if not place.is_dir():
        return Line(MISSING, "before", "made when it is needed (5-7 min)", again)
    if not files.is_intact(place / files.MADE):
        damage = "its libraries are not as they were built: linked again when needed"
        return Line(STALE, place.name, damage, again, place)
    return Line(READY, place.name, "the unpatched build", path=place)


def _runtime(ws: Workspace | None, folder: Path) -> Line:
    """What doctor tells of the runtime in a folder."""
    runtime = in_folder(folder)
    record = runtime.record
    name = str(record.get("name") or folder.name)

    def line(state: str, text: str = "") -> Line:
        return Line(state, f"runtime {name}", text, f"utils/build-runtime {name}" if text else "", folder)

    if not record:
        return line(FAULT, "is not intact")
    if not runtime.is_laid:
        return line(FAULT, "is not intact: files changed since it was installed")
    if record.get("series", series.load().key) != series.load().key:
        return line(STALE, "patches/ has changed since")
    if ws and record.get("configuration", build.configuration_key(ws)) != build.configuration_key(ws):
        return line(STALE, "the build's configuration has changed since")
    return line(READY)


def _checkout() -> Line | None:
    """What doctor tells of build/checkout; None if there is none."""
    folder, name = own_checkout.FOLDER, "build/checkout"
    if not folder.is_dir():
        return None
    git, made = checkout.git_of(folder), files.read_record(folder / "series.json")
    try:
        if not made or not (folder / "swift" / ".git").exists():
            raise FileNotFoundError
        work, changed = own_checkout.has_work(git, made), checkout.edited(git)
    except (OSError, UserError):
        hint = f"save that, then rm -r '{folder}'"
        return Line(FAULT, name, "is not intact; does it hold your work?", hint, folder)
    if work:
        what = f"holds {plural(len(changed), 'changed file') if changed else 'commits'}, not in patches/"
        return Line(READY, name, what, "utils/export-patches, after a commit", folder)
    if made.get("series") != series.load().key:
        return Line(STALE, name, "patches/ has changed since: renewed when needed", "utils/apply-patches", folder)
    return Line(READY, name, "the series as commits", path=folder)


def _results() -> list[Line]:
    paths = read.found(REPORT)
    found = [_result(path) for path in paths]
    newest = max((path.stat().st_mtime for path in paths), default=None)
    if PAGE.exists() and newest:
        late = PAGE.stat().st_mtime < newest
        what, hint = ("is older than the results", "utils/report") if late else ("", "")
        found.append(Line(STALE if late else READY, "index.html", what, hint, PAGE))
    return found


def _result(path: Path) -> Line:
    name = str(path.relative_to(REPORT))
    try:
        data = read.load(path, files.read_text(path, schema.HINT))
    except UserError as error:
        return Line(FAULT, name, error.message.removeprefix(f"{path} "), "measure again, or remove it", path)
    for side in (data.sides.old, data.sides.new) if isinstance(data, Comparison) else ():
        runtime = in_folder(RUNTIMES / plain(side.name))
        for library, entry in side.libraries.items():
            there = runtime.library(library)
            if there.is_file() and files.sha256(there) != entry.get("sha256"):
                what = f"measured another build of {side.name} than is there now"
                return Line(STALE, name, what, "utils/run-smoke-bench", path)
    return Line(READY, name, data.started or "" if data else "holds no results that are known here", path=path)


def show(parts: dict[str, list[Line]]) -> None:
    """Prints all findings; UserError if there is a fault."""
    lines = [line for some in parts.values() for line in some]
    taken = _sizes([line.path for line in lines])
    width = max(len(line.name) for line in lines)
    paint = coloured()
    for title, some in parts.items():
        print(f"{title}:")
        for line in some:
            state = f"{line.state:7}"
            if paint and line.state in _COLOURS:
                state = f"\033[{_COLOURS[line.state]}m{state}\033[0m"
            room = size(taken[line.path]) if line.path and taken.get(line.path) else ""
            print(f"  {state} {line.name:{width}} {room:>8}  {line.text}".rstrip())
            if line.hint:
                print(f"  {'':7} {'':{width}} {'':>8}  -> {line.hint}")
    if faults := [line for line in lines if line.state == FAULT]:
        first = faults[0]
        raise UserError(f"{plural(len(faults), 'thing')} to repair, the first: {first.name}: {first.text}", first.hint)


def _sizes(paths: Iterable[Path | None]) -> dict[Path, int]:
    """{path: bytes on disk}; what cannot be read counts as far as it can."""
    there = [path for path in paths if path and path.exists()]
    if not there:
        return {}
    argv = ["du", "-sk0", "--one-file-system", "--", *map(str, there)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, errors="surrogateescape")
    found = dict.fromkeys(there, 0)  # du leaves out what an earlier one holds
    for entry in done.stdout.split("\0")[:-1]:
        kilobytes, _, path = entry.partition("\t")
        found[Path(path)] = int(kilobytes) * 1024
    return found


def parts(ws: Workspace | None) -> dict[str, list[Path]]:
    """{name: [paths]} of what --clean can remove."""
    folders = {path.name: [path] for path in _folders(BUILD) if path.name not in _CHECKOUTS}
    caches = [path for path in pins.cache_root().glob("*") if path.name != ".lock"]
    return {
        "old": _old(ws),
        "ccache": [pins.cache() / "ccache"],
        "cache": caches,
        "build": [paths[0] for name, paths in folders.items() if name not in _KEPT],
        **folders,
        "clients": [pins.cache() / "clients", BUILD / "clients"],
    }


def clean(ws: Workspace | None, names: Iterable[str], dry_run: bool) -> None:
    """Removes the named parts; prints what that frees."""
    for holder, folder in _busy():
        raise UserError(f"{holder} works in {folder}", "clean when it has ended")
    known = parts(ws)
    for name in names:
        if name in _CHECKOUTS:
            what = f"build/{name} may hold work of yours, and is never cleaned"
            raise BadUsage(what, f"export what you need, then rm -r '{BUILD / name}'")
        if name not in known:
            raise BadUsage(f"--clean: there is no part '{name}'", "the parts are " + ", ".join(known))
    found = dict.fromkeys(path for name in names for path in known[name] if os.path.lexists(path))
    paths = [path for path in found if not any(other in path.parents for other in found)]
    taken = _sizes(paths)
    with contextlib.ExitStack() as held:
        for folder in (pins.cache_root(), BUILD, pins.cache()):
            if folder.is_dir():
                held.enter_context(locks.exclusive(folder))
        for path in paths:
            if not dry_run:
                # With a cache, and by its link there, what a killed set-up left in the temporary folder.
                for cache in (path, path.parent):
                    if cache.parent == pins.cache_root() and path.name in (cache.name, "temporary"):
                        provision.remove_temporary(cache)
                files.remove(path)
            print(f"{'would remove' if dry_run else 'removed'} {size(taken.get(path, 0)):>8}  {path}")
    if not paths:
        print("nothing to remove")
