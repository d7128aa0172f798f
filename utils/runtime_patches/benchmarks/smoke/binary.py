"""Builds upstream's benchmark suite, with this repository's entries, by plain swiftc.

One module a file, as upstream's CMake does it. Objects and binaries are named by
the hash of everything that goes into them, so ninja has only to make missing ones.
"""

import hashlib
import os
import platform
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base import files, locks, pins
from ...base.errors import UserError
from ...base.files import remove
from ...base.paths import BENCHMARK, BUILD
from ...base.process import run_logged
from ...base.progress import Step
from ...workspace.find import Workspace

FOLDER = BUILD / "benchmark"
OURS = BENCHMARK / "single-source"
_HEAP_START = BENCHMARK / "native" / "heap-start.c"

# The form that upstream's Benchmark_Driver looks for: Benchmark_O-ARCH*.
BINARY = f"Benchmark_O-{platform.machine()}-unknown-linux-gnu"

_COMMON = ["-O", "-whole-module-optimization", "-c", "-module-cache-path", "module-cache"]
_SUITE = ["-swift-version", "4"]
_LIBRARY = [*_SUITE, "-parse-as-library"]
_CXX = ["-Xfrontend", "-enable-experimental-cxx-interop", "-Xcc", "-std=c++20"]
_KEPT = 4


@dataclass
class Module:
    """name, sources (files of the host), more flags of swiftc than _COMMON, ours (this repository's),
    headers that the sources include."""

    name: str
    sources: list[Path]
    more: Sequence[str] = ()
    ours: bool = False
    headers: Sequence[Path] = ()


def _key(text: str, *paths: Path) -> str:
    return hashlib.sha256(b"\0".join([text.encode(), *(path.read_bytes() for path in paths)])).hexdigest()[:16]


def suite(ws: Workspace) -> dict[str, Module]:
    """{name: Module} of upstream's whole suite and our entries."""
    home = ws.swift / "benchmark"
    try:
        main = (home / "utils" / "main.swift").read_text()
    except OSError:
        what = f"{home} does not hold upstream's benchmark suite"
        raise UserError(what, f"check out {pins.load().swift.tag} there") from None
    found = {}
    for name in _registered(main):
        source = home / "single-source" / f"{name}.swift"
        cxx = home / "cxx-source" / f"{name}.swift"
        if source.exists() and not name.startswith("ObjectiveC"):
            found[name] = Module(name, [source], _LIBRARY)
        elif cxx.exists():
            headers = home / "utils" / "CxxTests"
            flags = [*_LIBRARY, *_CXX, *"-Xfrontend -validate-tbd-against-ir=none -I".split(), str(headers)]
            found[name] = Module(name, [cxx], flags, headers=sorted(headers.iterdir()))
        elif (home / "multi-source" / name).is_dir():
            found[name] = Module(name, sorted((home / "multi-source" / name).glob("*.swift")), _LIBRARY)
    for source in sorted(OURS.glob("*.swift")):
        found[source.stem] = Module(source.stem, [source], _LIBRARY, ours=True)
    return found


def _registered(main: str) -> list[str]:
    return re.findall(r"^\s*register\((\w+)\.benchmarks\)", main, re.M)


def may_match(module: Module, pattern: str) -> bool:
    """Whether a benchmark of this module may have a name that the regular expression `pattern` finds: by the
    texts in its sources, without building it. Where names are composed, one of the pattern's words will do."""
    source = "\n".join(path.read_text(errors="replace") for path in module.sources)
    texts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)
    if any(re.search(pattern, text) for text in texts):
        return True
    words = re.findall(r"\w{3,}", pattern)
    composed = any("\\(" in text for text in texts) or re.search(r'\bname: *[^"\s]', source)
    return bool(composed) and (not words or any(word in text for word in words for text in texts))


def default(modules: Mapping[str, Module]) -> dict[str, Module]:
    """The modules with our entries, and upstream's that carry the concurrency tag."""
    return {
        name: module
        for name, module in modules.items()
        if module.ours or ".concurrency" in module.sources[0].read_text()
    }


def main_text(upstream: str, chosen: Collection[str]) -> str:
    """upstream's main.swift with only the chosen modules imported and registered."""
    kept = []
    for line in upstream.split("\n"):
        named = re.match(r"import (\w+)$|\s*register\((\w+)\.benchmarks\)", line)
        name = named and (named[1] or named[2])
        if not name or name in chosen or name in ("TestsUtils", "DriverUtils"):
            kept.append(line)
    missing = [name for name in chosen if name not in _registered(upstream)]
    end = kept.index("main()")
    imports, calls = [f"import {name}" for name in missing], [f"register({name}.benchmarks)" for name in missing]
    return "\n".join([*imports, *kept[:end], *calls, *kept[end:]])


def build(ws: Workspace, chosen: Mapping[str, Module]) -> Path:
    """Builds the benchmark binary of the modules `chosen`; returns its path."""
    home = ws.swift / "benchmark" / "utils"
    with locks.exclusive(FOLDER):
        rules = _Rules(ws)
        utils = rules.add(Module("TestsUtils", [home / "TestsUtils.swift"], _LIBRARY))
        driver = rules.add(
            Module("DriverUtils", [home / "DriverUtils.swift", home / "ArgParse.swift"], ["-parse-as-library"]), [utils]
        )
        objects = [utils, driver, *(rules.add(module, [utils]) for module in chosen.values())]
        text = main_text((home / "main.swift").read_text(), chosen)
        (FOLDER / "main").mkdir(exist_ok=True)
        main = FOLDER / "main" / f"{_key(text)}.swift"
        main.write_text(text)
        cxx = [*_CXX, "-I", str(home / "CxxTests")] if any(module.headers for module in chosen.values()) else []
        objects.append(rules.add(Module("main", [main], [*_SUITE, *cxx]), objects))
        target = rules.link([*objects, rules.native(_HEAP_START)])
        binary = FOLDER / target
        record = binary.with_name(files.MADE)
        if not files.is_intact(record):
            binary.unlink(missing_ok=True)
            with Step(f"benchmark suite: {len(chosen)} modules"):
                rules.run(target)
            files.write_intact(record, {}, [binary])
        os.utime(binary.parent)
        _prune()
    return binary


class _Rules:
    """A ninja file in the making; all paths are relative to build/benchmark."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        swiftc = ws.outside(ws.toolchain / "bin" / "swiftc")
        made = swiftc.stat()
        self.base = f"{ws.toolchain} {made.st_size} {int(made.st_mtime)}"
        self.lines = ["rule run", "  command = $c", "  description = $out"]

    def add(self, module: Module, needs: Sequence[str] = ()) -> str:
        """The object of a module that imports the modules of the objects `needs`."""
        flags = [*_COMMON, *module.more]
        text = f"{' '.join([self.base, *needs])} {module.name} {flags}"
        place = f"modules/{module.name}-{_key(text, *module.sources, *module.headers)}/{module.name}"
        imports = [word for need in needs for word in ("-I", os.path.dirname(need))]
        made = ["-emit-module", "-module-name", module.name, "-emit-module-path", f"{place}.swiftmodule"]
        argv = ["swiftc", *flags, *imports, *made, "-o", f"{place}.o", *map(str, module.sources)]
        return self._rule(f"{place}.o", needs, argv)

    def native(self, source: Path) -> str:
        target = f"modules/{source.stem}-{_key(self.base, source)}/{source.stem}.o"
        return self._rule(target, [], ["clang", "-O2", "-c", str(source), "-o", target])

    def link(self, objects: Sequence[str]) -> str:
        """The binary; it finds its libraries beside it, as upstream's does on Darwin."""
        target = f"binaries/{_key(' '.join([self.base, *objects]))}/{BINARY}"
        path = "-no-toolchain-stdlib-rpath -Xlinker -rpath -Xlinker $ORIGIN/../lib/swift/linux".split()
        return self._rule(target, objects, ["swiftc", "-O", *objects, "-o", target, *path])

    def _rule(self, target: str, needs: Sequence[str], argv: Sequence[str]) -> str:
        command = shlex.join(argv).replace("$", "$$")
        self.lines += [f"build {target}: run {' '.join(needs)}", f"  c = {command}"]
        return target

    def run(self, target: str) -> None:
        """Makes the target and what it needs. ninja removes what an interruption left."""
        (FOLDER / "build.ninja").write_text("\n".join(self.lines) + "\n")
        # LLVM takes a % in the path of its module cache for a place to fill in.
        fixed = [(FOLDER, "/swift-benchmark")] if "%" in str(FOLDER) else []
        folder = fixed[0][1] if fixed else FOLDER
        damaged = (
            r"file format not recognized",
            "a compiled file of the benchmark suite is damaged",
            f"rm -r {shlex.quote(str(FOLDER))}; the same command then rebuilds it",
        )
        argv, env = self.ws.command(["ninja", "-C", folder, target], fixed=fixed), self.ws.environment()
        run_logged(argv, "benchmark", env=env, failed="the benchmark suite does not build", hints=[damaged])


def _prune() -> None:
    """Keeps the newest versions of each module and the newest binaries."""
    groups = {}
    for path in [*FOLDER.glob("modules/*"), *FOLDER.glob("binaries/*"), *FOLDER.glob("main/*")]:
        name = path.name.rpartition("-")[0]
        groups.setdefault((path.parent, name), []).append(path)
    for paths in groups.values():
        for path in sorted(paths, key=lambda p: p.stat().st_mtime)[:-_KEPT]:
            remove(path)


def lay(binary: Path, runtime: Path) -> None:
    """Puts the binary into runtime/bin, where upstream's scripts expect exactly one."""
    folder = runtime / "bin"
    folder.mkdir(exist_ok=True)
    target = folder / binary.name
    if not (target.exists() and os.path.samefile(target, binary)):
        partial = folder / "partial"
        partial.unlink(missing_ok=True)
        os.link(binary, partial)
        os.replace(partial, target)
    for other in folder.glob("Benchmark_O-*"):
        if other != target:
            other.unlink()
