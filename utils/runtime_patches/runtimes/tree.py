"""The folder that a runtime is compiled in: source/, build/ and config/, seen at fixed paths inside the workspace, so
that all builds have the same paths and the compiler's cache knows their files."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base import files, locks
from ..base.files import remove
from ..base.git import Git
from ..base.paths import CONFIG
from ..base.process import run_logged
from ..base.text import plural
from ..series import checkout, own_checkout
from ..workspace.find import Workspace
from .libraries import LIBRARIES, Library
from .runtime import plain

SOURCE, OUT, CONFIGURATION = "/swift-source", "/swift-build", "/swift-config"
_PARTS = ("Runtimes", "stdlib", "include", "cmake", "utils", "lib")


def export(git: Git, commit: str, target: Path) -> None:
    """Writes the parts of `commit` that the build reads to `target`."""
    script = 'git archive "$1" -- "${@:3}" | tar -x -C "$2"'
    argv = ["bash", "-o", "pipefail", "-c", script, "", commit, str(target), *_PARTS]
    failed = f"the sources of {commit[:12]} could not be written to {target}"
    run_logged(argv, "sources", cwd=git.folder, env=git.env, failed=failed)


def places(place: Path) -> list[tuple[Path, str]]:
    """Where the folders of a build stand inside the workspace: pairs (folder, path). What else it reads, such as
    headers of another system, its stamp tells."""
    more = (files.read_record(place / "stamp.json") or {}).get("mounts", {})
    return [
        (place / "source", f"{SOURCE}/swift"),
        (place / "build", OUT),
        (place / "config", CONFIGURATION),
        *((Path(folder), path) for path, folder in more.items()),
    ]


def copy_configuration(paths: Iterable[str], place: Path) -> None:
    """Copies these files of build-script-config, relative paths, to place/config."""
    for path in paths:
        target = place / "config" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CONFIG / path, target)


def configuration(arguments: Iterable[str]) -> list[str]:
    return ["-G", "Ninja", *arguments, "-S", f"{SOURCE}/swift/Runtimes/Core", "-B", OUT]


def compile(
    ws: Workspace, place: Path, name: str, *, configure: Sequence[str] = (), targets: Sequence[str] = ()
) -> None:
    """Runs Resync, CMake (where `configure` says its arguments) and ninja on the folders of `place`, for all targets
    if none are named, and what builds the other libraries."""
    record = place / files.MADE
    if not files.is_intact(record):
        # ninja, which looks at the times only, would keep what is damaged.
        for path in built(place).values():
            remove(path)
    lines = [f"cmake -DStringProcessing_ROOT_DIR={SOURCE} -P {SOURCE}/swift/Runtimes/Resync.cmake"]
    if configure:
        lines.append(shlex.join(["cmake", *configure]))
    lines.append(shlex.join(["ninja", "-C", OUT, *targets]))
    for one in libraries(place):
        if one.recipe:
            argv = f"{SOURCE}/swift {OUT}/{one.part} {shlex.quote(str(ws.toolchain))} {one.name}"
            lines.append(f"sh {shlex.quote(str(CONFIG / one.recipe))} {argv}")
    ccache = os.environ.get("CCACHE_DIR", str(ws.cache / "ccache"))
    env = ws.environment({"CCACHE_DIR": ccache, "CCACHE_NOHASHDIR": "1"})
    if ws.from_packages or shutil.which("ccache"):
        for language in ("C", "CXX"):
            env.setdefault(f"CMAKE_{language}_COMPILER_LAUNCHER", "ccache")
    damaged = (
        r"ninja: error: build\.ninja:\d|Parse error in cache file|file format not recognized",
        f"the folder in which runtime '{name}' is built is damaged",
        f"rm -r {shlex.quote(str(place))}; the same command then rebuilds it",
    )
    command = ws.command(["sh", "-c", " && ".join(lines)], fixed=places(place))
    failed = f"the runtime '{name}' does not build"
    run_logged(command, f"build-{plain(name)}", env=env, failed=failed, hints=[damaged])
    files.write_intact(record, {}, built(place).values())


def built(place: Path) -> dict[str, Path]:
    return {library.name: place / "build" / library.part / library.name for library in libraries(place)}


def libraries(place: Path) -> list[Library]:
    return [library for library in LIBRARIES if library.is_of(place / "source")]


def sync(ws: Workspace, git: Git, commit: str | None, place: Path) -> None:
    """Makes place/source equal to the commit (or the work tree). It touches only files whose content
    differs, so that ninja compiles no more than that."""
    origin = Path(git.folder)
    if commit:
        origin = place / "commit"
        remove(origin)
        origin.mkdir()
        export(git, commit, origin)
    parts = [str(origin / part) for part in _PARTS]
    # Resync's copies below Runtimes/ stay: CMake compares them.
    for options, some in ((["--delete"], parts[1:]), ([], parts[:1])):
        argv = ws.command(["rsync", "-rlpc", "--no-times", *options, *some, str(place / "source")], binds=[origin])
        run_logged(argv, "sync", failed="the sources could not be copied", env=ws.environment())
    if commit:
        remove(origin)


def go_on(ws: Workspace, kept: Path, stamp: Mapping[str, Any], place: Path) -> bool:
    """Copies to folder `place` the build in the cache that another clone has kept, if it is of this stamp; returns
    whether it was."""
    with locks.exclusive(ws.cache):
        if files.read_record(kept / "stamp.json") != stamp:
            return False
        copy(kept, place)
        return True


def keep(ws: Workspace, git: Git, place: Path, kept: Path) -> None:
    """Copies a build folder to `kept`, in the cache, from where another clone goes on."""
    if not ws.from_packages or edits(git):
        return
    state = {"commit": git.out("rev-parse", "HEAD").strip(), "stamp": files.read_record(place / "stamp.json")}
    if files.read_record(kept / "kept.json") != state:
        with locks.exclusive(ws.cache), files.replaced(kept) as partial:
            copy(place, partial)
            files.write_record(partial / "kept.json", state)


def copy(source: Path, target: Path) -> None:
    """Copies all of a folder to another one."""
    run_logged(["cp", "-a", f"{source}/.", str(target)], "copy", failed=f"{source} could not be copied")


def patched(ws: Workspace) -> tuple[Path, Git]:
    """(the folder that holds the swift/ with the series, its Git): the user's --checkout if the series
    is applied there; otherwise build/checkout, which is ours to make and to renew."""
    if ws.checkout:
        git = checkout.git_of(ws.checkout)
        if checkout.State(git).commits:
            return ws.checkout, git
    own_checkout.renew(ws)
    return own_checkout.FOLDER, checkout.git_of(own_checkout.FOLDER)


def edits(git: Git) -> str:
    """What to say of changes that are not committed: they are built, too."""
    lines = checkout.edited(git)
    return f", and edits of {plural(len(lines), 'file')}" if lines else ""
