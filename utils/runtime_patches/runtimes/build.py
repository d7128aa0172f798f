"""Builds the runtime libraries, and lays the folders that programs run on.

A build happens at fixed paths inside the workspace, and each runtime starts from a copy of before's
tree: only what a patch touches is compiled.
"""

import filecmp
import hashlib
import json
import os
import shlex
import shutil
from pathlib import Path

from ..base import files, locks
from ..base.errors import UserError
from ..base.files import remove
from ..base.paths import BUILD, CONFIG
from ..base.process import run_logged
from ..base.progress import Step, note
from ..series import checkout, own_checkout, series
from . import symbols, variants
from .libraries import LIBRARIES, NAMES
from .runtime import stock

_SOURCE, _BUILD, _CONFIG = "/swift-source", "/swift-build", "/swift-config"
_CONFIGURATION = ("runtime.cmake", "dispatch/dispatchConfig.cmake")
_PARTS = ("Runtimes", "stdlib", "include", "cmake", "utils", "lib")


def ensure(ws, runtime):
    """Builds what is missing or out of date of a Runtime; returns its folder."""
    with locks.exclusive(BUILD):
        if runtime.base == "stock":
            _assemble(ws, runtime, {}, {})
        else:
            made = _ensure_before(ws)
            if runtime.name == "before":
                _assemble(ws, runtime, _built(home(ws, runtime)), made)
            else:
                _ensure_copy(ws, runtime)
    return runtime.folder


def configuration_key(ws):
    """What before's build depends on besides the sources, as a short name."""
    digest = hashlib.sha256("\0".join([str(ws.toolchain), _SOURCE, _BUILD, _CONFIG]).encode())
    for path in _CONFIGURATION:
        digest.update((CONFIG / path).read_bytes())
    return digest.hexdigest()[:12]


def home(ws, runtime):
    """The folder with source/ and build/ that a runtime is compiled in; stock, which is not
    compiled, has before's."""
    if runtime.name in ("stock", "before"):
        return ws.cache / f"before-{configuration_key(ws)}"
    return runtime.work


def _ensure_before(ws):
    git, base = checkout.unpatched(ws.sources)
    stamp = {"name": "before", "base": base, "configuration": configuration_key(ws)}
    place = home(ws, stock())
    if not _is_built(place, stamp):
        with locks.exclusive(ws.cache):
            if not _is_built(place, stamp):
                _build_before(ws, git, base, place, stamp)
    return stamp


def _is_built(place, stamp):
    """Whether build folder `place` is that of `stamp`, and its libraries are as they were built."""
    return (
        files.read_record(place / "stamp.json") == stamp
        and files.is_intact(place / files.MADE)
        and all(path.exists() for path in _built(place).values())
    )


def _build_before(ws, git, base, place, stamp):
    partial = place.with_name(place.name + ".partial")
    if files.read_record(place / "stamp.json") == stamp and not partial.exists():
        place.rename(partial)  # only its libraries are damaged
    remove(place)
    if files.read_record(partial / "stamp.json") != stamp or not all(one.is_dir() for one, _ in places(partial)):
        remove(partial)
        (partial / "source").mkdir(parents=True)
        (partial / "build").mkdir()
        # The build folder names these files; it outlives this clone of the repository.
        (partial / "config" / "dispatch").mkdir(parents=True)
        for path in _CONFIGURATION:
            shutil.copy2(CONFIG / path, partial / "config" / path)
        with Step("unpatched sources"):
            _export(git, base, partial / "source")
        files.write_record(partial / "stamp.json", stamp)
    # An interrupted build keeps what is compiled: ninja goes on from there.
    with Step("runtime 'before': all libraries (5-7 min)"):
        _compile(ws, partial, "before", configure=True)
    partial.rename(place)


def _export(git, commit, target):
    """Writes the parts of `commit` that the build reads to `target`."""
    run_logged(
        [
            "bash",
            "-o",
            "pipefail",
            "-c",
            'git archive "$1" -- "${@:3}" | tar -x -C "$2"',
            "bash",
            commit,
            str(target),
            *_PARTS,
        ],
        "sources",
        cwd=git.folder,
        env=git.env,
        failed=f"the sources of {commit[:12]} could not be written to {target}",
    )


def places(place):
    """Where the folders of a build stand inside the workspace: pairs (folder, path)."""
    return [(place / "source", f"{_SOURCE}/swift"), (place / "build", _BUILD), (place / "config", _CONFIG)]


def compile_commands(ws, runtime):
    """{source file: clang's command line without launcher and outputs} of the C and C++ files of a
    runtime, as they are seen at places()."""
    text = ws.output(["ninja", "-C", _BUILD, "-t", "compdb"], fixed=places(home(ws, runtime)))
    found = {}
    for command in json.loads(text[text.index("[\n") :]):
        argv = [word for word in shlex.split(command["command"]) if not word.endswith("ccache")]
        if "-MD" in argv:  # -MD -MT … -MF … -o …
            argv[argv.index("-MD") : argv.index("-o") + 2] = []
            found[command["file"]] = argv
    return found


def _compile(ws, place, name, configure=False, variant=None):
    """Runs Resync, CMake (where needed) and ninja on the folders of `place`."""
    record = place / files.MADE
    if not files.is_intact(record):
        # ninja, which looks at the times only, would keep what is damaged.
        for path in _built(place).values():
            remove(path)
    lines = [f"cmake -DStringProcessing_ROOT_DIR={_SOURCE} -P {_SOURCE}/swift/Runtimes/Resync.cmake"]
    if configure:
        lines.append(
            f"cmake -G Ninja -DSWIFT_TOOLCHAIN_USR:PATH='{ws.toolchain}' -C {_CONFIG}/runtime.cmake "
            f"-S {_SOURCE}/swift/Runtimes/Core -B {_BUILD}"
        )
    if variant:
        lines.append(f"cmake -C {_CONFIG}/{variant}.cmake {_BUILD}")
    # Of a variant these libraries only: the others are its users, without its sanitizer.
    targets = " ".join(library.name for library in LIBRARIES if not library.recipe) if variant else ""
    lines.append(f"ninja -C {_BUILD} {targets}")
    lines += [
        f"sh {shlex.quote(str(CONFIG / library.recipe))} {_SOURCE}/swift {_BUILD}/{library.part} {ws.toolchain}"
        for library in _libraries(place)
        if library.recipe
    ]
    env = ws.environment(
        {"CCACHE_DIR": os.environ.get("CCACHE_DIR", str(ws.cache / "ccache")), "CCACHE_NOHASHDIR": "1"}
    )
    if ws.from_packages or shutil.which("ccache"):
        for language in ("C", "CXX"):
            env.setdefault(f"CMAKE_{language}_COMPILER_LAUNCHER", "ccache")
    damaged = r"ninja: error: build\.ninja:\d|Parse error in cache file|file format not recognized"
    run_logged(
        ws.command(["sh", "-c", " && ".join(lines)], fixed=places(place)),
        f"build-{name.replace(':', '-')}",
        env=env,
        failed=f"the runtime '{name}' does not build",
        hints=[
            (
                damaged,
                f"the folder in which runtime '{name}' is built is damaged",
                f"rm -r {shlex.quote(str(place))}; the same command then rebuilds it",
            )
        ],
    )
    files.write_intact(record, {}, _built(place).values())


def _built(place):
    """{name: path} of the libraries in a build folder."""
    return {library.name: place / "build" / library.part / library.name for library in _libraries(place)}


def _libraries(place):
    """The libraries that the sources of a build folder have."""
    return [library for library in LIBRARIES if library.is_of(place / "source")]


def _ensure_copy(ws, runtime):
    """Builds a runtime, which is not before, in a copy of before's build."""
    if runtime.base == "before":
        git, commit = checkout.unpatched(ws.sources)
        tree, applied = ws.sources, []
    else:
        tree, git = _patched_tree(ws)
        state = checkout.State(git)
        commit, applied = None, state.applied
        if runtime.patch:
            commit = state.commits.get(runtime.patch)
            if not commit:
                raise UserError(
                    f"{git.folder} has no commit of patch '{runtime.patch}'", f"utils/apply-patches --checkout {tree}"
                )
            applied = applied[: applied.index(runtime.patch) + 1]
    place, stamp, fresh = _copy_of_before(ws, runtime)
    with Step(
        f"runtime '{runtime}': {len(applied)} patches on {stamp['base'][:12]}"
        + ("" if commit else _edits(git))
        + (" (1-2 min)" if runtime.variant and fresh else "")
    ):
        _sync(ws, git, commit, place)
        _compile(ws, place, runtime.name, variant=runtime.variant)
    made = {**stamp, "name": runtime.name, "patches": applied}
    if runtime.is_patched:
        made |= {"commit": commit or state.head, "checkout": str(tree), "series": series.load().key}
    _assemble(ws, runtime, _built(place), made)


def _edits(git):
    """What to say of changes that are not committed: they are built, too."""
    lines = git.out("status", "--porcelain", "--untracked-files=no").splitlines()
    return f", and edits of {len(lines)} files" if lines else ""


def _copy_of_before(ws, runtime):
    """(build/work/NAME, its stamp, whether it is new): a copy of before's tree, made once."""
    before, place = home(ws, stock()), runtime.work
    stamp = files.read_record(before / "stamp.json")
    flags = variants.configuration(runtime.variant) if runtime.variant else []
    if flags:
        stamp["variant"] = [runtime.variant, *(files.sha256(path)[:12] for path in flags)]
    fresh = files.read_record(place / "stamp.json") != stamp or not all(one.is_dir() for one, _ in places(place))
    if fresh:
        with Step(f"runtime '{runtime}': a copy of before's build"):
            partial = place.with_name(place.name + ".partial")
            remove(partial)
            remove(place)
            partial.parent.mkdir(parents=True, exist_ok=True)
            run_logged(["cp", "-a", str(before), str(partial)], "copy", failed=f"{before} could not be copied")
            for path in flags:
                shutil.copy2(path, partial / "config")
            if flags:
                files.write_record(partial / "stamp.json", stamp)
            partial.rename(place)
    return place, stamp, fresh


def _sync(ws, git, commit, place):
    """Makes place/source equal to the commit (or the work tree). It touches only files whose content
    differs, so that ninja compiles no more than that."""
    origin = Path(git.folder)
    if commit:
        origin = place / "commit"
        remove(origin)
        origin.mkdir()
        _export(git, commit, origin)
    parts = [str(origin / part) for part in _PARTS]
    # Resync's copies below Runtimes/ stay: CMake compares them.
    for options, some in ((["--delete"], parts[1:]), ([], parts[:1])):
        run_logged(
            ws.command(["rsync", "-rlpc", "--no-times", *options, *some, str(place / "source")], binds=[origin]),
            "sync",
            failed="the sources could not be copied",
            env=ws.environment(),
        )
    if commit:
        remove(origin)


def _patched_tree(ws):
    """(the folder that holds the swift/ with the series, its Git): the user's --checkout if the series
    is applied there; otherwise build/checkout, which is ours to make and to renew."""
    if ws.checkout:
        git = checkout.git_of(ws.checkout)
        if checkout.State(git).commits:
            return ws.checkout, git
    own_checkout.renew(ws)
    return own_checkout.FOLDER, checkout.git_of(own_checkout.FOLDER)


def _assemble(ws, runtime, libraries, made):
    """Lays a runtime's folder: the toolchain's libraries with ours in their place."""
    toolchain = ws.outside(ws.toolchain / "lib" / "swift" / "linux")
    folder, target = runtime.folder, runtime.libraries
    if not runtime.is_laid:
        partial = folder.with_name(folder.name + ".partial")
        remove(partial)
        remove(folder)
        laid = partial / target.relative_to(folder)
        laid.mkdir(parents=True)
        for path in toolchain.glob("*.so"):
            _link(path, laid / path.name)
        partial.rename(folder)
    (folder / "bin").mkdir(exist_ok=True)
    changed = {name: path for name, path in libraries.items() if not _same(path, target / name)}
    if changed:
        # Until all is laid, the runtime is not intact, and nobody runs on it.
        runtime.record_path.unlink(missing_ok=True)
    for name in set(NAMES) - libraries.keys():
        if runtime.base != "stock" and not (toolchain / name).exists():
            remove(target / name)  # of other sources
    for name, path in changed.items():
        copy = target / f"{name}.partial"
        shutil.copy2(path, copy)
        copy.replace(target / name)
    tools = variants.complete(ws, runtime) if runtime.variant else []
    made = {
        "name": runtime.name,
        "exports": {},
        **made,
        "sha256": {name: files.sha256(target / name) for name in NAMES if (target / name).exists()},
    }
    for name in libraries:
        added, removed = symbols.difference(ws, toolchain / name, target / name)
        if removed:
            raise UserError(
                f"{name} of runtime '{runtime}' lacks {len(removed)} symbols of the toolchain's, such as {removed[0]}",
                "programs that use them would not start: nothing may go",
            )
        made["exports"][name] = added
    files.write_intact(runtime.record_path, made, (*target.iterdir(), *tools))
    added = [symbol for some in made["exports"].values() for symbol in some]
    if runtime.base != "stock":
        note(f"    exported symbols: {'as stock' if not added else 'added ' + ', '.join(added)}")


def _link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _same(one, other):
    return other.is_file() and filecmp.cmp(one, other, shallow=False)
