"""utils/doctor: what is ready, missing or stale, how much room it takes; and cleaning.

It looks, and makes nothing. What the other commands make by themselves when they need it
is no fault; a fault is what somebody has to mend.
"""

import contextlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import checkout, enter, files, lint, locks, pins, runtimes, series, setup, workspace
from .errors import UserError
from .progress import coloured
from .report import PAGE, found

READY, MISSING, STALE, FAULT = "ready", "missing", "stale", "fault"
_COLOURS = {READY: "32", STALE: "33", FAULT: "31"}
# build/checkout may hold work that nothing else has.
_KEPT = ("checkout", "report")


@dataclass
class Line:
    """One finding. hint: the command or the words that help; path: what it lies in."""
    state: str
    name: str
    text: str = ""
    hint: str = ""
    path: Path = None


def examine(options):
    """[(title, [Line])] of this machine, the cache and this clone."""
    ws, fault = _find(options)
    parts = [("this machine", _machine(ws, options)),
             ("toolchain and sources", [fault] if fault else _workspace(ws)),
             ("this clone", _clone(ws)), ("results", _results())]
    return [(title, lines) for title, lines in parts if lines]


def _find(options):
    """(the workspace, if it is ready; the fault of one that cannot be used)."""
    try:
        return workspace.find(options), None
    except UserError as error:
        return None, Line(FAULT, "workspace", error.message, error.hint)


def _machine(ws, options):
    lines = []
    if not options.toolchain:
        lines.append(_tools(ws))
        needs = pins.load()["needs"]["disk_gb"]
        free, wanted = workspace.free_gb(pins.cache_root()), 2 if ws else needs
        lines.append(Line(READY if free >= wanted else FAULT, "disk", f"{free:.1f} GB are free in "
                          f"{pins.cache_root()}" + ("" if free >= wanted else
                                                    f", {wanted:.1f} are needed"),
                          "" if free >= wanted else
                          "utils/doctor --clean old, or set XDG_CACHE_HOME to a larger disk"))
    lines += [Line(READY, "lock", f"{holder} works in {folder}") for holder, folder in _busy()]
    return lines


def _busy():
    """[(who, folder)] of the locks that somebody holds."""
    folders = [pins.cache_root(), pins.cache()] + [
        path.parent for depth in ("", "*/", "*/*/") for path in pins.BUILD.glob(f"{depth}.lock")]
    return [(locks.holder(folder), folder) for folder in folders if locks.holder(folder)]


def _tools(ws):
    try:
        if ws:
            enter.bwrap()
        else:
            setup.check_tools()
        done = subprocess.run([enter.bwrap(), "--ro-bind", "/", "/", "true"], check=False,
                              capture_output=True, text=True, timeout=30)
    except UserError as error:
        return Line(FAULT, "tools", error.message, error.hint)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return Line(FAULT, "tools", f"bubblewrap does not run: {lines[-1]}",
                    "unprivileged user name spaces may be off on this system")
    return Line(READY, "tools", "bubblewrap runs" if ws else "all packages are installed")


def _workspace(ws):
    if ws and not ws.from_packages:
        return [Line(READY, "toolchain", str(ws.toolchain)),
                Line(READY, "sources", f"{ws.sources}/swift")]
    lines, cache = [], pins.cache()
    for name, what in (("root", "the toolchain"), ("source", "Swift's sources")):
        path = cache / name
        if not path.is_dir():
            lines.append(Line(MISSING, name, "made when it is needed", "utils/update-checkout"))
        elif damage := _damage(path):
            lines.append(Line(FAULT, name, f"is not whole: {damage}", workspace.renewal(path),
                              path))
        else:
            lines.append(Line(READY, name, what, path=path))
    if ws:
        current = runtimes.build_folder(ws, "before")
        if not current.is_dir():
            lines.append(Line(MISSING, "before", "made when it is needed (5-7 min)",
                              "utils/build-runtime before"))
        elif not files.is_whole(current / files.MADE):
            lines.append(Line(STALE, current.name, "its libraries are not as they were built: "
                              "linked again when needed", "utils/build-runtime before", current))
        else:
            lines.append(Line(READY, current.name, "the unpatched build", path=current))
    for path in sorted(cache.glob("unittest-*")):
        lines.append(Line(READY, path.name, "test modules", path=path))
    if (cache / "ccache").is_dir():
        lines.append(Line(READY, "ccache", "compiled files", path=cache / "ccache"))
    for path in old(ws):
        what = ("left by an interrupted set-up" if path.suffix == ".partial" else
                f"left by an interrupted set-up in {path.resolve()}" if path.name == "temporary" else
                "of another configuration" if path.parent == cache else
                "of other pins: another version of this repository may use it")
        lines.append(Line(STALE, path.name, what, "utils/doctor --clean old",
                          path.resolve()))
    return lines


def _damage(part):
    """What is wrong with the files of a part of the cache, or None. The content of git's
    objects is not read."""
    if changed := files.changed(part / files.MADE):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"{changed[0]}{more} changed since it was made"
    if (part / "swift").is_dir():
        done = checkout.git_of(part).call("fsck", "--connectivity-only", "--no-progress")
        if done.returncode:
            return "git: " + (done.stderr.strip().splitlines() or ["fsck fails"])[0]
    return None


def old(ws):
    """What nothing reads any more: caches of other pins and configurations, and what
    interrupted steps have left. Empty while somebody works there."""
    if _busy():
        return []
    cache = pins.cache()
    paths = [path for path in pins.cache_root().glob("*") if path.is_dir() and path != cache]
    paths.append(cache / "temporary")
    paths += [path for path in cache.glob("*.partial") if not path.name.startswith("before-")]
    if ws and ws.from_packages:
        # An unfinished build of the current configuration goes on where it stopped.
        current = runtimes.build_folder(ws, "before").name
        paths += [path for path in cache.glob("before-*")
                  if path.name not in (current, f"{current}.partial")]
    paths += pins.BUILD.glob("*.partial")
    paths += pins.BUILD.glob("*/*.partial")
    return sorted(path for path in paths if path.is_dir() or path.is_symlink())


def _clone(ws):
    lines = []
    faults = lint.headers()
    lines.append(Line(FAULT if faults else READY, "patches",
                      f"{faults[0][0]}: {faults[0][1]}" if faults else
                      f"{len(series.names())} patches, headers without a fault",
                      "utils/check-patches" if faults else ""))
    own = pins.BUILD / "checkout"
    if own.is_dir():
        lines.append(_own_checkout(own))
    for home in sorted((pins.BUILD / "runtimes").glob("*")):
        if home.is_dir() and not home.name.endswith(".partial"):
            lines.append(_runtime(ws, home))
    for path in sorted(pins.BUILD.glob("*")):
        if path.is_dir() and path.name not in ("checkout", "runtimes", "report") \
                and not path.name.endswith(".partial"):
            lines.append(Line(READY, f"build/{path.name}", path=path))
    return lines


def _own_checkout(own):
    git = checkout.git_of(own)
    try:
        made = files.read_record(own / "series.json")
        if not made or not (own / "swift" / ".git").exists():
            raise FileNotFoundError
        head = git.line("rev-parse", "HEAD")
        changed = git.out("status", "--porcelain", "--untracked-files=no").splitlines()
    except (OSError, UserError):
        return Line(FAULT, "build/checkout", "is not whole; does it hold your work?",
                    f"save that, then rm -r '{own}'", own)
    if head != made.get("head") or changed:
        what = f"{len(changed)} changed files" if changed else "commits"
        return Line(READY, "build/checkout", f"holds {what} that are not in patches/",
                    "utils/export-patches, after a commit", own)
    if made.get("series") != series.key():
        return Line(STALE, "build/checkout", "patches/ has changed since: renewed when needed",
                    "utils/apply-patches", own)
    return Line(READY, "build/checkout", "the series as commits", path=own)


def _runtime(ws, home):
    made = files.read_record(home / "runtime.json")
    name = (made or {}).get("name", home.name)
    again = f"utils/build-runtime {name}"
    if not made:
        return Line(FAULT, f"runtime {name}", "is not whole", again, home)
    if "files" not in made:
        return Line(STALE, f"runtime {name}", "an earlier version of this repository laid it",
                    again, home)
    if not files.is_whole(home / "runtime.json") or not _as_laid(home, made):
        return Line(FAULT, f"runtime {name}", "is not whole: files changed since it was laid",
                    again, home)
    if made.get("series", series.key()) != series.key():
        return Line(STALE, f"runtime {name}", "patches/ has changed since", again, home)
    if ws and made.get("configuration", runtimes.configuration_key(ws)) \
            != runtimes.configuration_key(ws):
        return Line(STALE, f"runtime {name}", "the build's configuration has changed since",
                    again, home)
    return Line(READY, f"runtime {name}", path=home)


def _as_laid(home, made):
    """Whether the content of the libraries in runtime folder `home` is as its record says."""
    digests = made.get("sha256")
    paths = [home / "lib" / "swift" / "linux" / library for library in runtimes.LIBRARIES]
    return isinstance(digests, dict) and all(
        path.is_file() and files.sha256(path) == digests.get(path.name) for path in paths)


def _results():
    lines = []
    for path in found():
        name = str(path.relative_to(pins.BUILD / "report"))
        data = files.read_record(path)
        if data is None:
            lines.append(Line(FAULT, name, "is damaged", "measure again, or remove it", path))
            continue
        other = _measured_others(data)
        lines.append(Line(STALE, name, f"measured another build of {other} than is there now",
                          "utils/run-smoke-bench", path) if other else
                     Line(READY, name, str(data.get("started") or ""), path=path))
    newest = max((path.stat().st_mtime for path in found()), default=None)
    if PAGE.exists() and newest:
        late = PAGE.stat().st_mtime < newest
        lines.append(Line(STALE if late else READY, "index.html",
                          "is older than the results" if late else "", "utils/report" * late, PAGE))
    return lines


def _measured_others(data):
    """The name of a side whose libraries are no longer those that were measured."""
    sides = data.get("sides")
    for side in sides.values() if isinstance(sides, dict) else ():
        libraries = side.get("libraries") if isinstance(side, dict) else None
        for library, entry in libraries.items() if isinstance(libraries, dict) else ():
            path = runtimes.libdir(str(side.get("name"))) / library
            if path.is_file() and isinstance(entry, dict) and "sha256" in entry:
                if files.sha256(path) != entry["sha256"]:
                    return side["name"]
    return None


def sizes(paths):
    """{path: bytes on disk}; what cannot be read counts as far as it can."""
    paths = [path for path in paths if path and path.exists()]
    if not paths:
        return {}
    done = subprocess.run(["du", "-sk0", "--one-file-system", "--", *map(str, paths)],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="surrogateescape")
    found_sizes = dict.fromkeys(paths, 0)  # du leaves out what an earlier one holds
    for entry in done.stdout.split("\0")[:-1]:
        kilobytes, _, path = entry.partition("\t")
        found_sizes[Path(path)] = int(kilobytes) * 1024
    return found_sizes


def readable(size):
    """Bytes as 3.1 GB or 20 MB."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def show(options):
    """Prints all findings; returns 1 when there is a fault, else 0."""
    parts = examine(options)
    taken = sizes([line.path for _, lines in parts for line in lines])
    width = max(len(line.name) for _, lines in parts for line in lines)
    paint = coloured()
    for title, lines in parts:
        print(f"{title}:")
        for line in lines:
            state = f"{line.state:7}"
            if paint and line.state in _COLOURS:
                state = f"\033[{_COLOURS[line.state]}m{state}\033[0m"
            size = readable(taken[line.path]) if taken.get(line.path) else ""
            print(f"  {state} {line.name:{width}} {size:>8}  {line.text}".rstrip())
            if line.hint:
                print(f"  {'':7} {'':{width}} {'':>8}  -> {line.hint}")
    faults = [line for _, lines in parts for line in lines if line.state == FAULT]
    if faults:
        raise UserError(f"{len(faults)} thing{'s' * (len(faults) != 1)} to mend, the first: "
                        f"{faults[0].name}: {faults[0].text}", faults[0].hint)


def parts(ws):
    """{name: [paths]} of what --clean can remove."""
    build = {path.name: [path] for path in sorted(pins.BUILD.glob("*"))
             if path.is_dir() and not path.name.endswith(".partial")}
    build.pop("checkout", None)
    caches = [path for path in pins.cache_root().glob("*") if path.name != ".lock"]
    return {"old": old(ws), "ccache": [pins.cache() / "ccache"], "cache": caches,
            "build": [paths[0] for name, paths in build.items() if name not in _KEPT], **build}


def clean(options):
    """Removes the parts that options.clean names; tells what that frees."""
    for holder, folder in _busy():
        raise UserError(f"{holder} works in {folder}", "clean when it has ended")
    known = parts(_find(options)[0])
    for name in options.clean:
        if name == "checkout":
            raise UserError("build/checkout may hold work of yours, and is never cleaned",
                            f"export what you need, then rm -r '{pins.BUILD / 'checkout'}'")
        if name not in known:
            raise UserError(f"--clean: there is no part '{name}'",
                            "the parts are " + ", ".join(known))
    paths = [path for name in options.clean for path in known[name]
             if os.path.lexists(path)]
    paths = [path for path in dict.fromkeys(paths)
             if not any(other in path.parents for other in paths)]
    taken = sizes(paths)
    with contextlib.ExitStack() as held:
        for folder in (pins.cache_root(), pins.BUILD):
            if folder.is_dir():
                held.enter_context(locks.exclusive(folder))
        for path in paths:
            if not options.dry_run:
                _remove(path)
            print(f"{'would remove' if options.dry_run else 'removed'} "
                  f"{readable(taken.get(path, 0)):>8}  {path}")
    if not paths:
        print("nothing to remove")


def _remove(path):
    """Removes what can be cleaned: with a cache, and by its link there, what a killed set-up
    left in the temporary folder."""
    for cache in (path, path.parent):
        if cache.parent == pins.cache_root() and path.name in (cache.name, "temporary"):
            setup.remove_temporary(cache)
    workspace.remove(path)
