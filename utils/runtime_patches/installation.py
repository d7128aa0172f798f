"""All parts of the installation: what is ready, missing or stale, and how much room it takes; and cleaning.

It looks, and makes nothing. What the other commands make by themselves when they need it is no fault. A fault is what
somebody has to repair.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .base import files, locks, pins
from .base.errors import BadUsage, UserError
from .base.findings import FAULT, READY, STALE, Line
from .base.paths import BUILD
from .base.progress import coloured
from .base.text import plural, size
from .report import results_found as results
from .runtimes import build
from .runtimes import runtimes_found as runtimes
from .runtimes.runtime import stock
from .series import checks, own_checkout, series
from .workspace import cached, provision
from .workspace import machine as workspace
from .workspace.find import Workspace

_COLOURS = {READY: "32", STALE: "33", FAULT: "31"}
# These may hold work that nothing else has.
_CHECKOUTS = ("checkout", "dispatch")
_KEPT = (*_CHECKOUTS, "report")


def examine(ws: Workspace | None, fault: Line | None, toolchain: object) -> dict[str, list[Line]]:
    """{title: [Line]} of this machine, the cache and this clone."""
    machine = [] if toolchain else [workspace.tools(ws), workspace.disk(ws)]
    machine += [Line(READY, "lock", f"{holder} works in {folder}") for holder, folder in _busy()]
    parts = [fault] if fault else workspace.parts(ws)
    if not fault and not (ws and not ws.from_packages):
        parts += ([runtimes.before(ws)] if ws else []) + workspace.caches()
        parts += [workspace.old_line(path) for path in _old(ws)]
    headers = Line(READY, "patches", f"{len(series.load())} patches, headers without a fault")
    for file, what in checks.headers()[:1]:
        headers = Line(FAULT, "patches", f"{file}: {what}", "utils/check-patches")
    clone: list[Line | None] = [headers, own_checkout.state(), *runtimes.laid(ws)]
    others = [path for path in _folders() if path.name not in ("checkout", "runtimes", "report")]
    clone += [Line(READY, f"build/{path.name}", path=path) for path in others]
    if BUILD.exists() and not BUILD.is_dir():
        clone.append(Line(FAULT, "build", "is no folder", "move it away", BUILD))
    found: dict[str, list[Line | None]] = {
        "this machine": [*machine],
        "toolchain and sources": [*parts],
        "this clone": clone,
        "results": [*results.lines()],
    }
    return {title: [line for line in lines if line] for title, lines in found.items() if any(lines)}


def _folders() -> list[Path]:
    return [path for path in sorted(BUILD.glob("*")) if path.is_dir() and not path.name.endswith(".partial")]


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
    folders = {path.name: [path] for path in _folders() if path.name not in _CHECKOUTS}
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
