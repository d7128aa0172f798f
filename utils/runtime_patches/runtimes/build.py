"""Builds the runtime libraries, and installs the folders that programs run on.

Each runtime starts from a copy of before's tree: only what a patch touches is compiled. The one that is shipped has a
tree of its own (package.py).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..base import files, locks
from ..base.errors import UserError
from ..base.files import remove
from ..base.git import Git
from ..base.paths import BUILD, CONFIG
from ..base.progress import Step, note
from ..series import checkout, series
from ..workspace.find import Workspace
from . import dispatch, elf, package, registrations, tree, variants
from .libraries import LIBRARIES, NAMES
from .runtime import Runtime, stock
from .tree import places

_CONFIGURATION = ("runtime.cmake", "dispatch/dispatchConfig.cmake", "vendor/Settings.cmake", "dispatch.sh")


def ensure(ws: Workspace, runtime: Runtime) -> Path:
    """Builds what is missing or out of date of a Runtime, which is not given as a folder; returns its folder."""
    assert not runtime.is_given, runtime
    with locks.exclusive(BUILD):
        if runtime.base == "stock":
            _assemble(ws, runtime, {}, {})
        elif runtime.base == "package":
            assert runtime.architecture
            packed = package.Package(ws, runtime.architecture)
            packed.build()
            _assemble(ws, runtime, packed.libraries(), packed.record(), packed.target.lib)
        else:
            made = _ensure_before(ws)
            if runtime.name == "before":
                _assemble(ws, runtime, dispatch.built(home(ws, runtime)), made)
            else:
                _ensure_copy(ws, runtime)
    return runtime.folder


def configuration_key(ws: Workspace) -> str:
    """What before's build depends on besides the sources, as a short name."""
    text = "\0".join([str(ws.toolchain), tree.SOURCE, tree.OUT, tree.CONFIGURATION])
    return files.digest(text, map(CONFIG.joinpath, _CONFIGURATION))[:12]


def home(ws: Workspace, runtime: Runtime) -> Path:
    """The folder with source/ and build/ that a runtime is compiled in; stock, which is not
    compiled, has before's."""
    if runtime.name in ("stock", "before"):
        return ws.cache / f"before-{configuration_key(ws)}"
    return runtime.work


def _kept(ws: Workspace) -> Path:
    """A copy of the last build of `after`, in the cache."""
    return ws.cache / f"after-{configuration_key(ws)}"


def _ensure_before(ws: Workspace) -> dict[str, Any]:
    git, base = checkout.unpatched(ws.sources)
    stamp = {"name": "before", "base": base, "configuration": configuration_key(ws)}
    place = home(ws, stock())
    if not _is_built(place, stamp):
        with locks.exclusive(ws.cache):
            if not _is_built(place, stamp):
                _build_before(ws, git, base, place, stamp)
    return stamp


def _is_built(place: Path, stamp: Mapping[str, Any]) -> bool:
    """Whether build folder `place` is that of `stamp`, and its libraries are as they were built."""
    return (
        files.read_record(place / "stamp.json") == stamp
        and files.is_intact(place / files.MADE)
        and all(path.exists() for path in tree.built(place).values())
    )


def _build_before(ws: Workspace, git: Git, base: str, place: Path, stamp: Mapping[str, Any]) -> None:
    """Compiles the unpatched sources in `place`. stamp: what they and the build are made from; what is there of the
    same is kept."""
    partial = place.with_name(place.name + ".partial")
    if files.read_record(place / "stamp.json") == stamp and not partial.exists():
        place.rename(partial)  # only its libraries are damaged
    remove(place)
    if files.read_record(partial / "stamp.json") != stamp or not all(one.is_dir() for one, _ in places(partial)):
        remove(partial)
        (partial / "source").mkdir(parents=True)
        (partial / "build").mkdir()
        # The build folder names these files; it outlives this clone of the repository.
        tree.copy_configuration(_CONFIGURATION, partial)
        with Step("unpatched sources"):
            tree.export(git, base, partial / "source")
        files.write_record(partial / "stamp.json", stamp)
    # An interrupted build keeps what is compiled: ninja goes on from there.
    with Step("runtime 'before': all libraries (5-7 min)"):
        cache = [f"-DSWIFT_TOOLCHAIN_USR:PATH={ws.toolchain}", "-C", f"{tree.CONFIGURATION}/runtime.cmake"]
        tree.compile(ws, partial, "before", configure=tree.configuration(cache))
        dispatch.build(ws, partial, [])
    partial.rename(place)


def compile_commands(ws: Workspace, runtime: Runtime) -> dict[str, list[str]]:
    """{source file: clang's command line without launcher and outputs} of the C and C++ files of a
    runtime, as they are seen at places()."""
    found = {}
    for file, argv in _commands(ws, runtime):
        if "-MD" in argv:  # -MD -MT … -MF … -o …
            argv[argv.index("-MD") : argv.index("-o") + 2] = []
            found[file] = argv
    return found


def swift_command(ws: Workspace, runtime: Runtime, module: str) -> list[str]:
    """swiftc's command line of a module of a runtime."""
    return next(argv for _, argv in _commands(ws, runtime) if f"-module-name {module} " in " ".join(argv))


def _commands(ws: Workspace, runtime: Runtime) -> Iterator[tuple[str, list[str]]]:
    """(the first input, command line without launcher) of each step of a build."""
    text = ws.output(["ninja", "-C", tree.OUT, "-t", "compdb"], fixed=places(home(ws, runtime)))
    for command in json.loads(text[text.index("[\n") :]):
        yield command["file"], [word for word in shlex.split(command["command"]) if not word.endswith("ccache")]


def _ensure_copy(ws: Workspace, runtime: Runtime) -> None:
    """Builds a runtime, which is not before, in a copy of before's build."""
    if runtime.base == "before":
        git, commit = checkout.unpatched(ws.sources)
        folder, applied = ws.sources, []
    else:
        folder, git = tree.patched(ws)
        state = checkout.State(git)
        commit, applied = None, state.applied
        if runtime.patch:
            commit = state.commits.get(runtime.patch)
            if not commit:
                what = f"{git.folder} has no commit of patch '{runtime.patch}'"
                raise UserError(what, f"utils/apply-patches --checkout {folder}")
            applied = applied[: applied.index(runtime.patch) + 1]
    place, stamp, fresh = _copy_of_before(ws, runtime)
    with Step(
        f"runtime '{runtime}': {len(applied)} patches on {stamp['base'][:12]}"
        + ("" if commit else tree.edits(git))
        + (" (1-2 min)" if runtime.variant and fresh else "")
    ):
        tree.sync(ws, git, commit, place)
        configure: list[str] = []
        targets: list[str] = []
        if runtime.variant:
            configure = ["-C", f"{tree.CONFIGURATION}/{runtime.variant}.cmake", tree.OUT]
            # These only: the others are its users, without its sanitizer.
            targets = [library.name for library in LIBRARIES if not library.recipe]
        tree.compile(ws, place, runtime.name, configure=configure, targets=targets)
        dispatch.build(ws, place, applied)
    found = {**stamp, "name": runtime.name, "patches": applied}
    if runtime.is_patched:
        found |= {"commit": commit or state.head, "checkout": str(folder), "series": series.load().key}
    _assemble(ws, runtime, dispatch.built(place), found)
    if runtime.name == "after":
        tree.keep(ws, git, place, _kept(ws))


def _copy_of_before(ws: Workspace, runtime: Runtime) -> tuple[Path, dict[str, Any], bool]:
    """(build/work/NAME, its stamp, whether it is new): a copy of before's tree, or of the kept one of `after`."""
    before, place = home(ws, stock()), runtime.work
    stamp = files.read_record(before / "stamp.json")
    assert stamp
    flags = variants.configuration(runtime.variant) if runtime.variant else []
    if flags:
        stamp["variant"] = [runtime.variant, *(files.sha256(path)[:12] for path in flags)]
    fresh = files.read_record(place / "stamp.json") != stamp or not all(one.is_dir() for one, _ in places(place))
    if fresh:
        remove(place)  # first: there may not be room for two
        with Step(f"runtime '{runtime}': a copy of before's build"), files.replaced(place) as partial:
            if runtime.name != "after" or not tree.go_on(ws, _kept(ws), stamp, partial):
                with locks.exclusive(ws.cache):
                    tree.copy(before, partial)
            for path in flags:
                shutil.copy2(path, partial / "config")
            if flags:
                files.write_record(partial / "stamp.json", stamp)
    return place, stamp, fresh


def _assemble(
    ws: Workspace, runtime: Runtime, libraries: Mapping[str, Path], found: dict[str, Any], lib: Path | None = None
) -> None:
    """Installs a runtime's folder: the libraries of the toolchain, or of the one whose folder `lib` is given, with ours
    in their place."""
    toolchain = (lib or ws.outside(ws.toolchain / "lib")) / "swift" / "linux"
    folder, target = runtime.folder, runtime.libraries
    if not runtime.is_laid:
        with files.replaced(folder) as partial:
            laid = partial / target.relative_to(folder)
            laid.mkdir(parents=True)
            for path in toolchain.glob("*.so"):
                try:
                    os.link(path, laid / path.name)
                except OSError:
                    shutil.copy2(path, laid / path.name)
    (folder / "bin").mkdir(exist_ok=True)
    changed = {name: path for name, path in libraries.items() if not files.same(path, target / name)}
    if changed:
        # Until all is installed, the runtime is not intact, and nobody runs on it.
        runtime.record_path.unlink(missing_ok=True)
    for name in set(NAMES) - libraries.keys():
        if runtime.base != "stock" and not (toolchain / name).exists():
            remove(target / name)  # of other sources
    for name, path in changed.items():
        files.copy(path, target / name)
    tools = variants.complete(ws, runtime) if runtime.variant else []
    found = {"name": runtime.name, "exports": {}, **found}
    for name in libraries:
        added, removed = elf.changed_exports(ws, toolchain / name, target / name)
        if removed:
            count = f"{len(removed)} symbols of the toolchain's, such as {removed[0]}"
            hint = "programs that use them would not start: no symbol may be removed"
            raise UserError(f"{name} of runtime '{runtime}' lacks {count}", hint)
        found["exports"][name] = added
    if changed and not runtime.variant and runtime.base != "stock" and not lib:
        if differing := registrations.difference(ws, toolchain, target):
            what = f"runtime '{runtime}' registers its metadata otherwise than the toolchain: {differing[0]}"
            raise UserError(what, "build-script-config/vendor/Settings.cmake says which library links swiftrt.o")
    files.write_intact(runtime.record_path, found, (*target.iterdir(), *tools))
    added = [symbol for some in found["exports"].values() for symbol in some]
    if runtime.base != "stock":
        note(f"    exported symbols: {'as stock' if not added else 'added ' + ', '.join(added)}")
