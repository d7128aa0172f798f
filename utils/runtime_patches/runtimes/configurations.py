"""Whether the runtime's other builds compile with the series: utils/check-patches --configurations.

Each C++ file that the series changes, or that includes a header which it changes in the two
libraries, is compiled with the command line of runtime `after` and the flags of a configuration
(-fsyntax-only). A changed header of include/ alone selects no file. One that fails is compiled
without the series, too: errors that are there already are upstream's. The Swift files of the
Embedded module of Concurrency are checked together (-typecheck).

In each configuration that compiles here, the objects of Concurrency are compared, too: a function of
namespace swift that one uses must be in another, unless it is missing without the series as well.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ..base.files import same
from ..base.progress import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from concurrent.futures import Executor
    from subprocess import CompletedProcess

    from ..workspace.find import Workspace
    from .runtime import Runtime


_NO_DISPATCH = ("-USWIFT_CONCURRENCY_USES_DISPATCH",)
_NO_THREADS = ("-USWIFT_THREADING_LINUX", "-DSWIFT_THREADING_NONE")
_ONE_THREAD = (*_NO_THREADS, "-DSWIFT_STDLIB_SINGLE_THREADED_CONCURRENCY", *_NO_DISPATCH)
_EMBEDDED = ("-DSWIFT_CONCURRENCY_EMBEDDED=1", "-DSWIFT_RUNTIME_EMBEDDED=1", "-USWIFT_ENABLE_REFLECTION")
# {name: (library that it concerns, or "" for both, what upstream's CMake files define for it)}
CONFIGURATIONS = {
    "pthreads": ("", ("-USWIFT_THREADING_LINUX", "-DSWIFT_THREADING_PTHREADS")),
    "c11": ("", ("-USWIFT_THREADING_LINUX", "-DSWIFT_THREADING_C11")),
    "single-threaded": ("", _ONE_THREAD),
    # Actors are locks in it (SWIFT_CONCURRENCY_ACTORS_AS_LOCKS, which Actor.cpp sets by it).
    "task-to-thread": ("Concurrency", ("-DSWIFT_STDLIB_TASK_TO_THREAD_MODEL_CONCURRENCY", *_NO_DISPATCH)),
    "embedded": ("Concurrency", (*_ONE_THREAD, *_EMBEDDED, "-USWIFT_STDLIB_HAS_ENVIRON")),
    "assertions": ("", ("-UNDEBUG",)),
    "escalation": ("Concurrency", ("-DSWIFT_CONCURRENCY_ENABLE_PRIORITY_ESCALATION=1",)),
    "32-bit": ("", ("-m32",)),
    "macos": ("", ("--target=arm64-apple-macosx13",)),
    "windows": ("", ("--target=x86_64-unknown-windows-msvc",)),
}
# The lists of upstream's CMake file that make up the Embedded module, its flags, and what it has of those of the other
# one. Its standard library is the toolchain's.
_SWIFT_LISTS = r"set\(SWIFT_(?:RUNTIME_CONCURRENCY_(?:EMBEDDED_)?SWIFT|CONCURRENCY_GYB)_SOURCES\n([^)]*)\)"
_EMBEDDED_SWIFT = (
    "swiftc -typecheck -target x86_64-unknown-linux-gnu -module-name _Concurrency -parse-stdlib -parse-as-library "
    "-strict-memory-safety -enable-experimental-feature Embedded -DSWIFT_CONCURRENCY_EMBEDDED "
    "-runtime-compatibility-version none -Xfrontend -disable-objc-interop"
).split()
_COMMON_SWIFT = r" (@\S+|-enable-experimental-feature \S+|-swift-version \S+|-I \S+/InternalShims)(?= )"
_CAPTURED: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace"}
# A few headers of each library that the runtime is written on.
_PROBE = "#include <cstdlib>\n#include <atomic>\n#include <vector>\n"


class Compiled(NamedTuple):
    """One configuration. compiled: how many files compile; upstream, series: {file: first error} of those that fail
    without the series, too, and of those that fail with it only; reason: why no file gets that far."""

    name: str
    compiled: int = 0
    upstream: dict[str, str] = {}
    series: dict[str, str] = {}
    reason: str = ""


def check(ws: Workspace, names: Iterable[str]) -> Iterator[Compiled]:
    """Yields a Compiled for each configuration. Runtimes before and after must have been built."""
    import concurrent.futures  # which takes long to import, and --help needs the names only

    from .runtime import parse

    before, after = _Tree(ws, parse("before")), _Tree(ws, parse("after"))
    changed = _files(before, after)
    with (
        tempfile.TemporaryDirectory() as folder,
        concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        for name in names:
            library, flags = CONFIGURATIONS[name]
            files = [file for file in changed if library in file]
            with Step(f"configuration '{name}': {len(files)} files"):
                if "-m32" in flags:
                    flags += _headers_32(ws, folder)
                reason = _probe(ws, flags)
                row = Compiled(name, reason=reason) if reason else _row(name, flags, files, before, after, pool)
                if row.compiled:
                    missing = after.missing(flags, pool) - before.missing(flags, pool)
                    row.series.update({"Concurrency": f"nothing defines {min(missing)}"} if missing else {})
                if name == "embedded" and not reason:
                    known = before.swift_errors()
                    new = [text for key, text in after.swift_errors().items() if key not in known]
                    row.series.update({"Concurrency/*.swift": new[0]} if new else {})
                yield row


class _Tree:
    """The sources of a runtime, and how each file of it is compiled."""

    def __init__(self, ws: Workspace, runtime: Runtime) -> None:
        from . import build, tree

        self.ws, self.runtime = ws, runtime
        self.places = tree.places(build.home(ws, runtime))
        self.folder, self.seen = self.places[0]
        self.commands = build.compile_commands(ws, runtime)

    def errors(self, file: str, flags: Sequence[str]) -> dict[tuple[str, str], str]:
        """The errors of a file, {(file, message): "file:line: message"}, the first one first;
        empty for a file that this runtime does not have."""
        if file not in self.commands:
            return {}
        return self._errors(file, [*self.commands[file], *flags, "-fsyntax-only", "-w", "-ferror-limit=0"])

    def missing(self, flags: Sequence[str], pool: Executor) -> set[str]:
        """The functions of namespace swift that objects of Concurrency use, and none defines."""
        used, defined = set(), set()
        files = [file for file in self.commands if file.endswith(".cpp") and "/Concurrency/" in file]
        for text in pool.map(lambda file: self._symbols(file, flags), files):
            for kind, name in re.findall(r"(?m)^ *(?:[0-9a-f]+ )?(\w) (swift::.*)", text):
                (used if kind == "U" else defined).add(name)
        return used - defined

    def _symbols(self, file: str, flags: Sequence[str]) -> str:
        """The symbols of a file, as nm prints them. If it fails with these flags, those that it defines without."""
        with tempfile.TemporaryDirectory() as folder:
            argv = [*self.commands[file], "-O0", "-w", "-o", f"{folder}/object"]
            binds = [Path(folder)]
            failed = self._run([*argv, *flags], check=False, binds=binds).returncode
            if failed:
                self._run(argv, binds=binds)
            return str(self._run(["nm", "-C", *["--defined-only"] * bool(failed), argv[-1]], binds=binds).stdout)

    def swift_errors(self) -> dict[tuple[str, str], str]:
        """The errors of the Swift files of the Embedded module of Concurrency, in the same form."""
        from . import build

        argv = build.swift_command(self.ws, self.runtime, "_Concurrency")
        sources = {word.rpartition("/Concurrency/")[2]: word for word in argv if word.endswith(".swift")}
        folder = os.path.dirname(sources["Actor.swift"])
        text = (self.folder / "stdlib/public/Concurrency/CMakeLists.txt").read_text()
        names = [name.removesuffix(".gyb") for part in re.findall(_SWIFT_LISTS, text) for name in part.split()]
        flags = " ".join(re.findall(_COMMON_SWIFT, " ".join(argv))).split()
        files = [sources.get(name, f"{folder}/{name}") for name in names]
        return self._errors("the Swift files", [*_EMBEDDED_SWIFT, *flags, *files])

    def _run(self, argv: Sequence[str], **options: Any) -> CompletedProcess[str]:
        return self.ws.run(argv, fixed=self.places, cwd=self.places[1][1], **_CAPTURED, **options)

    def _errors(self, what: str, argv: Sequence[str]) -> dict[tuple[str, str], str]:
        done = self._run(argv, check=False)
        found: dict[tuple[str, str], str] = {}
        for place, line, message in re.findall(r"(?m)^(?:(\S+?):(\d+):\d+|\S+): (?:fatal )?error: (.*)", done.stderr):
            place = os.path.normpath(place).removeprefix(f"{self.seen}/")
            found.setdefault((place, message), f"{place}:{line}: {message}")
        if done.returncode and not found:
            found[what, ""] = f"{os.path.basename(argv[0])} failed with exit status {done.returncode}"
        return found


def _files(before: _Tree, after: _Tree) -> list[str]:
    """The C++ files of `after` that differ from before's, or include a header that does."""
    changed = {
        path.name
        for path in (after.folder / "stdlib" / "public").rglob("*.*")
        if path.is_file() and not same(path, before.folder / path.relative_to(after.folder))
    }
    included = re.compile(r'#\s*include\s*"(?:[^"]*/)?(?:' + "|".join(map(re.escape, sorted(changed))) + ')"')

    def is_touched(file: str) -> bool:
        text = (after.folder / Path(file).relative_to(after.seen)).read_text()
        return Path(file).name in changed or included.search(text) is not None

    return [file for file in after.commands if file.endswith(".cpp") and is_touched(file)]


def _row(name: str, flags: Sequence[str], files: list[str], before: _Tree, after: _Tree, pool: Executor) -> Compiled:
    found = list(pool.map(lambda file: after.errors(file, flags), files))
    failed = {file: errors for file, errors in zip(files, found) if errors}
    # A new file may fail at what upstream's files fail at: a common header, as a rule.
    known = set().union(*pool.map(lambda file: before.errors(file, flags), failed))
    row = Compiled(name, len(files) - len(failed), {}, {})
    for file, errors in failed.items():
        new = [text for key, text in errors.items() if key not in known]
        kind = row.series if new else row.upstream
        kind[file.removeprefix(f"{after.seen}/")] = (new or list(errors.values()))[0]
    if not row.compiled and not row.series and len(set(row.upstream.values())) == 1:
        return Compiled(name, reason=next(iter(row.upstream.values())))  # before the series is read
    return row


def _probe(ws: Workspace, flags: Sequence[str]) -> str:
    """Why nothing can be compiled with these flags here; empty if it can."""
    argv = ["clang++", *flags, "-fsyntax-only", "-x", "c++", "-"]
    done = ws.run(argv, input=_PROBE, check=False, **_CAPTURED)
    reasons = re.findall(r"error: (.*)", done.stderr) or ["clang fails"]
    return f"no system headers for it: {reasons[0]}" if done.returncode else ""


def _headers_32(ws: Workspace, folder: str) -> tuple[str, ...]:
    """Flags that let 32-bit code see the 64-bit system's headers, which serve both. A 64-bit
    installation lacks one file, a list of missing functions."""
    (Path(folder) / "gnu").mkdir(exist_ok=True)
    (Path(folder) / "gnu" / "stubs-32.h").touch()
    gcc = Path(ws.output(["clang++", "-print-file-name=crtbegin.o"]).strip()).parent  # …/TRIPLE/VERSION
    return (f"--gcc-install-dir={gcc}", "-isystem", folder, "-idirafter", f"/usr/include/{gcc.parent.name}")
