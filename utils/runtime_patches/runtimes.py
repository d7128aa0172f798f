"""Builds the runtime libraries and assembles the folders that programs run on.

stock    the toolchain's own libraries
before   the same sources rebuilt without the series: what `after` is compared with
after    the checkout with the series, and what is edited there
upto:P   the series up to and with patch P
asan, tsan, ubsan, debug, before-asan, …   see variants.py

A build happens at two fixed paths inside the workspace, and each runtime starts
from a copy of before's tree: only what a patch touches is compiled.
"""

import hashlib
import json
import os
import shlex
import shutil
from pathlib import Path

from . import abi, checkout, files, locks, pins, series, variants
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
    """What build/runtimes/NAME was made from, or None where it is not whole."""
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


def _base(ws):
    """The unpatched commit of the workspace's sources."""
    git = checkout.git_of(ws.sources)
    return git, checkout.State(git).base


def _ensure_before(ws):
    git, base = _base(ws)
    stamp = {"name": "before", "base": base, "configuration": configuration_key(ws)}
    home = build_folder(ws, "before")
    if files.read_record(home / "stamp.json") != stamp:
        with locks.exclusive(ws.cache):
            if files.read_record(home / "stamp.json") != stamp:
                _build_before(ws, git, base, home, stamp)
    _assemble(ws, "before", _libraries(home), stamp)


def _build_before(ws, git, base, home, stamp):
    partial = home.with_name(home.name + ".partial")
    remove(home)
    if files.read_record(partial / "stamp.json") != stamp:
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
    run_logged(["bash", "-o", "pipefail", "-c", 'git -c safe.directory="*" archive "$1" -- '
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
    fixed = places(home)
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
               failed=f"the runtime '{name}' does not build")


def _libraries(home):
    return {library: home / "build" / part / library
            for library, part in LIBRARIES.items()}


def _ensure_patched(ws, name, option):
    """Builds `name`, which is not before, in a copy of before's build."""
    base, variant = variants.split(name) or (name, None)
    if base == "before":
        git, commit = _base(ws)
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
              + (" (1-2 min)" if variant and fresh else "")):
        _sync(ws, git, commit, home)
        _compile(ws, home, name, variant=variant)
    made = {**stamp, "name": name, "patches": applied}
    if base != "before":
        made |= {"commit": commit or state.head, "checkout": str(tree),
                 "series": series.key()}
    _assemble(ws, name, _libraries(home), made)


def _copy_of_before(ws, name, variant):
    """(build/work/NAME, its stamp, whether it is new): a copy of before's tree, made once."""
    before, home = build_folder(ws, "before"), build_folder(ws, name)
    stamp = files.read_record(before / "stamp.json")
    if variant:
        flags = variants.configuration(variant).read_bytes()
        stamp["variant"] = [variant, hashlib.sha256(flags).hexdigest()[:12]]
    fresh = files.read_record(home / "stamp.json") != stamp
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
    renew_checkout(ws, own)
    return own, checkout.git_of(own)


def renew_checkout(ws, own):
    """Makes build/checkout, or brings it up to patches/; never over somebody's work."""
    stamp = own / "series.json"
    wanted = {"series": series.key(), "patches": series.patches_key(),
              "sources": str(ws.sources)}
    made = files.read_record(stamp)
    if made and {k: made.get(k) for k in wanted} == wanted and "renewing" not in made:
        return
    if not made and own.exists():
        raise UserError(f"{own} is not whole; does it hold your work?",
                        f"save that, then rm -r '{own}'")
    git = checkout.git_of(own)
    if made and "renewing" in made:
        _keep_found(git, own, made)
    elif made and _holds_work(git, own, made, wanted):
        return
    if not made or made.get("sources") != wanted["sources"]:
        _make_checkout(ws, own, wanted)
        return
    # Whoever is interrupted from here on leaves the tree between two states.
    files.write_record(stamp, {**made, "renewing": True})
    git.out("reset", "-q", "--hard", checkout.State(git).base)
    checkout.apply(own)
    files.write_record(stamp, {**wanted, "head": git.line("rev-parse", "HEAD")})


def _holds_work(git, own, made, wanted):
    """Whether build/checkout has work that must stay as it is; UserError where that cannot
    be used with the series of patches/."""
    head = git.line("rev-parse", "HEAD")
    dirty = git.out("status", "--porcelain", "--untracked-files=no")
    if head == made.get("head") and not dirty:
        return False
    exported = _exported(own)
    same = all(made.get(k) == wanted[k] for k in ("patches", "sources"))
    if not same and not (exported and made.get("sources") == wanted["sources"]):
        raise UserError(
            f"{own} holds work that is not in patches/, and patches/ has changed",
            f"utils/export-patches writes it back; or throw it away: rm -r '{own}'")
    # Only what patches/ has may be thrown away. Our tests and benchmarks run from
    # here, so it does no harm that the checkout has older ones.
    return bool(dirty) or not exported or _tests_edited(git, made.get("head", head))


def _keep_found(git, own, made):
    """Moves what was changed in a tree that an interruption left between two states to
    git's stash: it is half of one of them, or edits made since."""
    state = checkout.State(git)
    if state.commits and state.head != made.get("head") and not _exported(own):
        raise UserError(f"{own} holds commits that are not in patches/, and patches/ has changed",
                        f"keep them with git -C {git.folder} branch mine; then rm -r '{own}'")
    gitdir = Path(git.line("rev-parse", "--absolute-git-dir"))
    (gitdir / "index.lock").unlink(missing_ok=True)
    if git.out("status", "--porcelain", "--untracked-files=no"):
        git.out("stash", "push", "-q", "-m", "found when the series was applied again")
        note("the checkout was half made; what was changed in it: "
             f"git -C {git.folder} stash show -p")


def _make_checkout(ws, own, wanted):
    """Makes build/checkout anew: a clone of the unpatched sources, with the series."""
    with Step("a checkout for the series"):
        partial = own.with_name("checkout.partial")
        remove(partial)
        partial.mkdir(parents=True)
        source, base = _base(ws)
        source.out("clone", "-q", "--no-checkout", str(ws.sources / "swift"),
                   str(partial / "swift"))
        git = checkout.git_of(partial)
        git.out("checkout", "-q", "-B", "series", base)
        git.out("config", "user.name", "Swift Runtime Patches")
        git.out("config", "user.email", "patches@localhost")
        # Upstream's tools look for the other repositories beside swift/.
        for path in ws.sources.iterdir():
            if path.name != "swift" and path.is_dir():
                (partial / path.name).symlink_to(path)
        checkout.apply(partial)
        files.write_record(partial / "series.json",
                           {**wanted, "head": git.line("rev-parse", "HEAD")})
        remove(own)
        partial.rename(own)


def _exported(own):
    """Whether patches/ has all that is committed in build/checkout."""
    try:
        return not checkout.export(own, check=True)
    except UserError:
        return False


def _tests_edited(git, head):
    """Whether tests or benchmarks were changed in the checkout since `head`."""
    return not git.has(head) or bool(git.out("diff", "--name-only", head, "HEAD", "--", "test",
                                             "validation-test", "benchmark"))


def _assemble(ws, name, libraries, made):
    """Lays build/runtimes/NAME: the toolchain's libraries with ours in their place."""
    home = folder(name)
    stock = Path(str(ws.root) + str(ws.toolchain)) / "lib" / "swift" / "linux"
    if not (home / "runtime.json").exists():
        partial = home.with_name(home.name + ".partial")
        remove(partial)
        remove(home)
        target = partial / "lib" / "swift" / "linux"
        target.mkdir(parents=True)
        for path in stock.glob("*.so"):
            _link(path, target / path.name)
        (partial / "bin").mkdir()
        partial.rename(home)
    changed = {library: path for library, path in libraries.items()
               if not _same_file(path, libdir(name) / library)}
    if changed:
        # Until all is laid, the runtime is not whole, and nobody runs on it.
        (home / "runtime.json").unlink(missing_ok=True)
    for library, path in changed.items():
        copy = libdir(name) / f"{library}.partial"
        shutil.copy2(path, copy)
        copy.replace(libdir(name) / library)
    if variants.split(name):
        variants.complete(ws, variants.split(name)[1], home)
    made = {"name": name, "exports": {}, **made}
    for library in libraries:
        added, removed = abi.difference(ws, stock / library, libdir(name) / library)
        if removed:
            raise UserError(f"{library} of runtime '{name}' lacks {len(removed)} symbols of "
                            f"the toolchain's, such as {removed[0]}",
                            "programs that use them would not start: nothing may go")
        made["exports"][library] = added
    files.write_record(home / "runtime.json", made)
    added = [symbol for some in made["exports"].values() for symbol in some]
    if name != "stock":
        note(f"    exported symbols: {'as stock' if not added else 'added ' + ', '.join(added)}")


def _link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _same_file(one, other):
    try:
        a, b = one.stat(), other.stat()
    except OSError:
        return False
    return a.st_size == b.st_size and a.st_mtime_ns == b.st_mtime_ns
