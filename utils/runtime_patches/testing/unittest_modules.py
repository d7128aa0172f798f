"""Builds StdlibUnittest and the modules below it, which no toolchain package holds.

Upstream's tests and ours import it. It is built from stdlib/private of the unpatched
sources against the toolchain's own library, once for all runtimes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from ..base.process import run_logged
from ..workspace import cached
from ..workspace.find import Workspace
from ..workspace.target import Target

# module: (modules that it imports, files beside the Swift ones, options)
_MODULES = {
    "SwiftPrivate": ([], [], "-parse-stdlib -Xfrontend -disable-access-control"),
    "SwiftPrivateThreadExtras": ([], [], ""),
    "SwiftPrivateLibcExtras": (
        ["SwiftPrivate"],
        ["Subprocess.c"],
        "-D SWIFT_STDLIB_HAS_ENVIRON -D SWIFT_STDLIB_HAS_COMMANDLINE",
    ),
    "StdlibUnittest": (
        ["SwiftPrivate", "SwiftPrivateThreadExtras", "SwiftPrivateLibcExtras"],
        ["InspectValue.cpp", "InterceptTraps.cpp", "OpaqueIdentityFunctions.cpp"],
        "-D SWIFT_ENABLE_REFLECTION -D SWIFT_ENABLE_EXPERIMENTAL_CONCURRENCY "
        "-enable-experimental-feature Lifetimes "
        "-Xfrontend -disable-objc-attr-requires-foundation-module",
    ),
    "StdlibCollectionUnittest": (["StdlibUnittest"], [], ""),
}
# Optimizing this one takes longer than all of the others, and no test waits for it.
_PLAIN = {"StdlibCollectionUnittest"}

_RULES = """\
ninja_required_version = 1.5
driver = swiftc {target_swift}
swiftc = $driver -parse-as-library -suppress-warnings -wmo -I . @availability
includes = -I {swift}/include -I {swift}/stdlib/include -I {swift}/stdlib/public/SwiftShims
clang = clang {target_clang} -O2 -fPIC -I . $includes
rule gyb
  command = python3 {swift}/utils/gyb.py --line-directive '' $in -o $out
rule module
  command = $swiftc -emit-module $options -module-name $name -module-link-name swift$name $in -o $out
rule object
  command = $swiftc -c $optimize $options -module-name $name $in -o $out
rule c
  command = $clang -c $in -o $out
rule cpp
  command = $clang -std=c++17 -c $in -o $out
rule library
  command = $driver -emit-library -L . -Xlinker -rpath -Xlinker '$$ORIGIN' $in $libraries -o $out
"""


def ensure(ws: Workspace, target: Target | None = None) -> Path:
    """The folder with the modules and libraries, for a Target or the workspace; made if it is missing."""
    sources = [
        (path.name, path.read_bytes()) for module in _MODULES for path in sorted((_sources(ws) / module).iterdir())
    ]
    return cached.folder(
        ws,
        f"unittest-{target.architecture.name}" if target else "unittest",
        "StdlibUnittest, which the tests import (30 s)",
        lambda place: _build(ws, target, place),
        *(_build, _ninja, _MODULES, _PLAIN, _RULES, ws.toolchain, target and target.system.name, sources),
    )


def _sources(ws: Workspace) -> Path:
    return ws.swift / "stdlib" / "private"


def _build(ws: Workspace, target: Target | None, place: Path) -> None:
    header = place / "swift" / "Runtime" / "CMakeConfig.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define SWIFT_BNI_OS_BUILD 0\n#define SWIFT_BNI_XCODE_BUILD 0\n")
    (place / "availability").write_text("\n".join(_availability(ws)))
    (place / "build.ninja").write_text("\n".join(_ninja(ws, target)) + "\n")
    command = ws.command(["ninja"], cwd=place, binds=[place], fixed=target.places if target else ())
    run_logged(command, "unittest", env=ws.environment(), failed="StdlibUnittest does not build")
    for path in [*place.glob("*.o"), place / ".ninja_log", place / ".ninja_deps"]:
        path.unlink(missing_ok=True)


def _availability(ws: Workspace) -> Iterator[str]:
    """The compiler options that define upstream's `SwiftStdlib` versions."""
    macros = ws.swift / "utils" / "availability-macros.def"
    for line in macros.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            yield f'-Xfrontend -define-availability -Xfrontend "{line}"'


def _ninja(ws: Workspace, target: Target | None) -> Iterator[str]:
    """The lines of build.ninja. Each module is emitted apart from its object file. So the objects, which take most of
    the time, are compiled in parallel."""
    swift = ws.swift
    drivers = {"target_swift": target.swift(), "target_clang": target.clang} if target else {}
    words = {name: " ".join(drivers.get(name, [])) for name in ("target_swift", "target_clang")}
    yield _RULES.format(swift=shlex.quote(str(swift)).replace("$", "$$"), **words)
    for name, (imports, others, options) in _MODULES.items():
        folder = _sources(ws) / name
        sources = [_escape(path) for path in sorted(folder.glob("*.swift"))]
        for template in sorted(folder.glob("*.gyb")):
            yield f"build {template.stem}: gyb {_escape(template)}"
            sources.append(template.stem)
        needs = " | " + " ".join(f"{i}.swiftmodule" for i in imports) if imports else ""
        variables = [f"  name = {name}", f"  options = {options}"]
        yield f"build {name}.swiftmodule: module {' '.join(sources)}{needs}"
        yield from variables
        yield f"build {name}.o: object {' '.join(sources)}{needs}"
        yield from variables
        yield f"  optimize = {'-Onone' if name in _PLAIN else '-O'}"
        objects = [f"{name}.o"]
        for other in others:
            stem, suffix = other.split(".")
            yield f"build {stem}.o: {suffix} {_escape(folder / other)}"
            objects.append(f"{stem}.o")
        libraries = [f"libswift{i}.so" for i in imports]
        needs = " | " + " ".join(libraries) if libraries else ""
        yield f"build libswift{name}.so: library {' '.join(objects)}{needs}"
        yield "  libraries = " + " ".join(f"-lswift{i}" for i in imports)


def _escape(path: object) -> str:
    return str(path).replace("$", "$$").replace(":", "$:").replace(" ", "$ ")
