"""What the machine, the toolchain and the sources are like, for utils/doctor."""

from __future__ import annotations

from pathlib import Path

from ..base import files, git, pins
from ..base.errors import UserError
from ..base.findings import FAULT, MISSING, READY, STALE, Line
from ..base.process import captured
from . import cached, find, provision, sandbox
from .find import Workspace


def tools(ws: Workspace | None) -> Line:
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


def disk(ws: Workspace | None) -> Line:
    free, wanted = files.free_gb(pins.cache_root()), 2 if ws else pins.load().needs.disk_gb
    text = f"{free:.1f} GB are free in {pins.cache_root()}"
    if free >= wanted:
        return Line(READY, "disk", text)
    hint = "utils/doctor --clean old, or set XDG_CACHE_HOME to a larger disk"
    return Line(FAULT, "disk", f"{text}, {wanted:.1f} are needed", hint)


def parts(ws: Workspace | None) -> list[Line]:
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


def caches() -> list[Line]:
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
        done = git.Git(part / "swift").call("fsck", "--connectivity-only", "--no-progress")
        if done.returncode:
            return "git: " + (done.stderr.strip().splitlines() or ["fsck fails"])[0]
    return None


def old_line(path: Path) -> Line:
    if path.suffix == ".partial":
        what = "left by an interrupted set-up"
    elif path.name == "temporary":
        what = f"left by an interrupted set-up in {path.resolve()}"
    elif path.parent == pins.cache():
        what = "of another configuration"
    else:
        what = "of other pins: another version of this repository may use it"
    return Line(STALE, path.name, what, "utils/doctor --clean old", path.resolve())
