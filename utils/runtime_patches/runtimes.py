"""Builds the runtime libraries and assembles the folders that programs run on.

stock    the toolchain's own libraries
before   the same sources rebuilt without the series: what `after` is compared with
after    the checkout with the series, and what is edited there
upto:P   the series up to and with patch P
asan, tsan, ubsan, debug, before-asan, …   see variants.py

A build happens at two fixed paths inside the workspace, and each runtime starts
from a copy of before's tree: only what a patch touches is compiled.
"""

import filecmp
import hashlib
import json
import os
import shlex
import shutil
from pathlib import Path

from . import abi, checkout, files, locks, own_checkout, pins, series, variants
from .errors import UserError
from .progress import Step, note
from .run import run_logged
from .workspace import remove

LIBRARIES = {"libswiftCore.so": "core", "libswift_Concurrency.so": "Concurrency"}
_SOURCE, _BUILD, _CONFIG = "/swift-source", "/swift-build", "/swift-config"
_CONFIGURATION = ("runtime.cmake", "dispatch/dispatchConfig.cmake")
_PARTS = ("Runtimes", "stdlib", "include", "cmake", "utils", "lib")


def folder(name):
    """build/runtimes/NAME; the colon of `upto:P` would split library paths."""
    return pins.BUILD / "runtimes" / name.replace(":", "-")


def libdir(name):
    """The folder of the libraries of runtime NAME."""
    return folder(name) / "lib" / "swift" / "linux"


def info(name):
    """What build/runtimes/NAME was made from, or None where that is not known."""
    return files.read_record(folder(name) / "runtime.json")


def check_name(name):
    """UserError unless NAME is the name of a runtime."""
    if name in ("stock", "before", "after") or variants.split(name):
        return
    patches = series.names()
    if name.startswith("upto:"):
        if name[5:] in patches:
            return
        raise UserError(f"no patch '{name[5:]}' in patches/series",
                        "the series is: " + ", ".join(patches))
    raise UserError(f"no runtime '{name}'",
                    "runtimes are stock, before, after, upto:PATCH, "
                    f"{', '.join(variants.NAMES)} and before-VARIANT")


def stale(name):
    """Whether runtime NAME was built from another series than that of patches/."""
    made = info(name)
    return bool(made and made.get("series") and made["series"] != series.key())


def ensure(ws, name, checkout_option=None):
    """Builds what is missing or out of date of runtime NAME; returns its folder."""
    check_name(name)
    with locks.exclusive(pins.BUILD):
        if name == "stock":
            _assemble(ws, name, {}, {})
        elif name == "before":
            _ensure_before(ws)
        else:
            _ensure_before(ws)
            _ensure_patched(ws, name, checkout_option)
    return folder(name)


def configuration_key(ws):
    """What before's build depends on besides the sources, as a short name."""
    digest = hashlib.sha256("\0".join([str(ws.toolchain), _SOURCE, _BUILD,
                                       _CONFIG]).encode())
    for path in _CONFIGURATION:
        digest.update((pins.CONFIG / path).read_bytes())
    return digest.hexdigest()[:12]


def build_folder(ws, name):
    """The folder with source/ and build/ that runtime NAME is compiled in; stock, which is
    not, has before's."""
    if name in ("stock", "before"):
        return ws.cache / f"before-{configuration_key(ws)}"
    return pins.BUILD / "work" / name.replace(":", "-")


def _ensure_before(ws):
    git, base = checkout.unpatched(ws.sources)
    stamp = {"name": "before", "base": base, "configuration": configuration_key(ws)}
    home = build_folder(ws, "before")
    if not _is_built(home, stamp):
        with locks.exclusive(ws.cache):
            if not _is_built(home, stamp):
                _build_before(ws, git, base, home, stamp)
    _assemble(ws, "before", _libraries(home), stamp)


def _is_built(home, stamp):
    """Whether build folder `home` is that of `stamp`, and its libraries are as they were built."""
    return files.read_record(home / "stamp.json") == stamp \
        and files.is_whole(home / files.MADE)


def _build_before(ws, git, base, home, stamp):
    partial = home.with_name(home.name + ".partial")
    if files.read_record(home / "stamp.json") == stamp and not partial.exists():
        home.rename(partial)  # only its libraries are damaged
    remove(home)
    if files.read_record(partial / "stamp.json") != stamp \
            or not all(folder.is_dir() for folder, _ in places(partial)):
        remove(partial)
        (partial / "source").mkdir(parents=True)
        (partial / "build").mkdir()
        # The build folder names these files; it outlives this clone of the repository.
        (partial / "config" / "dispatch").mkdir(parents=True)
        for path in _CONFIGURATION:
            shutil.copy2(pins.CONFIG / path, partial / "config" / path)
        with Step("unpatched sources"):
            _export(git, base, partial / "source")
        files.write_record(partial / "stamp.json", stamp)
    # An interrupted build keeps what is compiled: ninja goes on from there.
    with Step("runtime 'before': both libraries (5-7 min)"):
        _compile(ws, partial, "before", configure=True)
    partial.rename(home)


def _export(git, commit, target):
    """Writes the parts of `commit` that the build reads to `target`."""
    run_logged(["bash", "-o", "pipefail", "-c", 'git archive "$1" -- '
                '"${@:3}" | tar -x -C "$2"', "bash", commit, str(target), *_PARTS],
               "sources", cwd=git.folder, env=git.env,
               failed=f"the sources of {commit[:12]} could not be written to {target}")


def places(home):
    """Where the folders of a build stand inside the workspace: pairs (folder, path)."""
    return [(home / "source", f"{_SOURCE}/swift"), (home / "build", _BUILD),
            (home / "config", _CONFIG)]


def compile_commands(ws, name):
    """{source file: clang's command line without launcher and outputs} of the C and C++ files
    of runtime NAME, as they are seen at places()."""
    fixed = places(build_folder(ws, name))
    done = ws.run(["ninja", "-C", _BUILD, "-t", "compdb"], fixed=fixed, capture_output=True,
                  text=True)
    found = {}
    for command in json.loads(done.stdout[done.stdout.index("[\n"):]):
        argv = [word for word in shlex.split(command["command"]) if not word.endswith("ccache")]
        if "-MD" in argv:  # -MD -MT … -MF … -o …
            argv[argv.index("-MD"):argv.index("-o") + 2] = []
            found[command["file"]] = argv
    return found


def _compile(ws, home, name, configure=False, variant=None):
    """Runs Resync, CMake (where needed) and ninja on home/source and home/build."""
    fixed, record = places(home), home / files.MADE
    if not files.is_whole(record):
        # ninja, which looks at the times only, would keep what is damaged.
        for path in _libraries(home).values():
            remove(path)
    lines = [f"cmake -DStringProcessing_ROOT_DIR={_SOURCE} "
             f"-P {_SOURCE}/swift/Runtimes/Resync.cmake"]
    if configure:
        lines.append(f"cmake -G Ninja -DSWIFT_TOOLCHAIN_USR:PATH='{ws.toolchain}' "
                     f"-C {_CONFIG}/runtime.cmake "
                     f"-S {_SOURCE}/swift/Runtimes/Core -B {_BUILD}")
    if variant:
        lines.append(f"cmake -C {_CONFIG}/{variant}.cmake {_BUILD}")
    # Of a variant the two libraries: the others are its users, without its sanitizer.
    targets = " ".join(LIBRARIES) if variant else ""
    lines.append(f"ninja -C {_BUILD} {targets}")
    env = ws.environment(extra={"CCACHE_DIR": os.environ.get(
        "CCACHE_DIR", str(ws.cache / "ccache")), "CCACHE_NOHASHDIR": "1"})
    if ws.from_packages or shutil.which("ccache"):
        for language in ("C", "CXX"):
            env.setdefault(f"CMAKE_{language}_COMPILER_LAUNCHER", "ccache")
    run_logged(ws.command(["sh", "-c", " && ".join(lines)], fixed=fixed),
               f"build-{name.replace(':', '-')}", env=env,
               failed=f"the runtime '{name}' does not build", hints=[
                   (r"ninja: error: build\.ninja:\d|Parse error in cache file|"
                    r"file format not recognized",
                    f"the folder in which runtime '{name}' is built is damaged",
                    f"rm -r {shlex.quote(str(home))}; the same command then makes it anew")])
    files.write_whole(record, {}, _libraries(home).values())


def _libraries(home):
    return {library: home / "build" / part / library
            for library, part in LIBRARIES.items()}


def _ensure_patched(ws, name, option):
    """Builds `name`, which is not before, in a copy of before's build."""
    base, variant = variants.split(name) or (name, None)
    if base == "before":
        git, commit = checkout.unpatched(ws.sources)
        tree, applied = ws.sources, []
    else:
        tree, git = _patched_tree(ws, option)
        state = checkout.State(git)
        commit, applied = None, state.applied
        if base.startswith("upto:"):
            commit = state.commits.get(base[5:])
            if not commit:
                raise UserError(f"{git.folder} has no commit of patch '{base[5:]}'",
                                f"utils/apply-patches --checkout {tree}")
            applied = applied[:applied.index(base[5:]) + 1]
    home, stamp, fresh = _copy_of_before(ws, name, variant)
    with Step(f"runtime '{name}': {len(applied)} patches on {stamp['base'][:12]}"
              + ("" if commit else _edits(git)) + (" (1-2 min)" if variant and fresh else "")):
        _sync(ws, git, commit, home)
        _compile(ws, home, name, variant=variant)
    made = {**stamp, "name": name, "patches": applied}
    if base != "before":
        made |= {"commit": commit or state.head, "checkout": str(tree),
                 "series": series.key()}
    _assemble(ws, name, _libraries(home), made)


def _edits(git):
    """What to say of changes that are not committed: they are built, too."""
    lines = git.out("status", "--porcelain", "--untracked-files=no").splitlines()
    return f", and edits of {len(lines)} files" if lines else ""


def _copy_of_before(ws, name, variant):
    """(build/work/NAME, its stamp, whether it is new): a copy of before's tree, made once."""
    before, home = build_folder(ws, "before"), build_folder(ws, name)
    stamp = files.read_record(before / "stamp.json")
    if variant:
        flags = variants.configuration(variant).read_bytes()
        stamp["variant"] = [variant, hashlib.sha256(flags).hexdigest()[:12]]
    fresh = files.read_record(home / "stamp.json") != stamp \
        or not all(path.is_dir() for path, _ in places(home))
    if fresh:
        with Step(f"runtime '{name}': a copy of before's build"):
            partial = home.with_name(home.name + ".partial")
            remove(partial)
            remove(home)
            partial.parent.mkdir(parents=True, exist_ok=True)
            run_logged(["cp", "-a", str(before), str(partial)], "copy",
                       failed=f"{before} could not be copied")
            if variant:
                shutil.copy2(variants.configuration(variant), partial / "config")
                files.write_record(partial / "stamp.json", stamp)
            partial.rename(home)
    return home, stamp, fresh


def _sync(ws, git, commit, home):
    """Makes home/source equal to the commit (or the work tree), touching only files
    whose content differs, so that ninja compiles no more than that."""
    origin = git.folder
    if commit:
        origin = home / "commit"
        remove(origin)
        origin.mkdir()
        _export(git, commit, origin)
    parts = [str(Path(origin) / part) for part in _PARTS]
    # Resync's copies below Runtimes/ stay: they are compared by CMake.
    for options, some in ((["--delete"], parts[1:]), ([], parts[:1])):
        run_logged(ws.command(["rsync", "-rlpc", "--no-times", *options, *some,
                               str(home / "source")], binds=[origin]),
                   "sync", failed="the sources could not be copied",
                   env=ws.environment())
    if commit:
        remove(origin)


def _patched_tree(ws, option):
    """(the folder that holds the swift/ with the series, its Git).

    The user's own --checkout when the series is applied there; otherwise a clone of
    the unpatched sources in build/checkout, which is ours to make and to renew.
    """
    if option:
        git = checkout.git_of(option)
        if checkout.State(git).commits:
            return Path(option).resolve(), git
    own = pins.BUILD / "checkout"
    own_checkout.renew(ws, own)
    return own, checkout.git_of(own)


def _assemble(ws, name, libraries, made):
    """Lays build/runtimes/NAME: the toolchain's libraries with ours in their place."""
    home = folder(name)
    stock = Path(str(ws.root) + str(ws.toolchain)) / "lib" / "swift" / "linux"
    if not files.is_whole(home / "runtime.json"):
        partial = home.with_name(home.name + ".partial")
        remove(partial)
        remove(home)
        target = partial / "lib" / "swift" / "linux"
        target.mkdir(parents=True)
        for path in stock.glob("*.so"):
            _link(path, target / path.name)
        partial.rename(home)
    (home / "bin").mkdir(exist_ok=True)
    changed = {library: path for library, path in libraries.items()
               if not _same(path, libdir(name) / library)}
    if changed:
        # Until all is laid, the runtime is not whole, and nobody runs on it.
        (home / "runtime.json").unlink(missing_ok=True)
    for library, path in changed.items():
        copy = libdir(name) / f"{library}.partial"
        shutil.copy2(path, copy)
        copy.replace(libdir(name) / library)
    variant = variants.split(name)
    tools = variants.complete(ws, variant[1], home) if variant else []
    made = {"name": name, "exports": {}, **made, "sha256": {
        library: files.sha256(libdir(name) / library) for library in LIBRARIES}}
    for library in libraries:
        added, removed = abi.difference(ws, stock / library, libdir(name) / library)
        if removed:
            raise UserError(f"{library} of runtime '{name}' lacks {len(removed)} symbols of "
                            f"the toolchain's, such as {removed[0]}",
                            "programs that use them would not start: nothing may go")
        made["exports"][library] = added
    files.write_whole(home / "runtime.json", made, (*libdir(name).iterdir(), *tools))
    added = [symbol for some in made["exports"].values() for symbol in some]
    if name != "stock":
        note(f"    exported symbols: {'as stock' if not added else 'added ' + ', '.join(added)}")


def _link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _same(one, other):
    return other.is_file() and filecmp.cmp(one, other, shallow=False)
