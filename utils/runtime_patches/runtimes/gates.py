"""What must hold of the shared libraries of a package before it is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..base.architectures import Architecture
from ..workspace.find import Workspace
from . import dispatch, elf
from .elf import Elf
from .libraries import LIBRARIES, NAMES


def faults(
    ws: Workspace, libraries: Mapping[str, Path], stock: Path, architecture: Architecture, limits: Mapping[str, str]
) -> list[str]:
    """What is wrong with {name: path} of shared libraries, in lines.

    stock: the folder of the toolchain's own; limits: {"GLIBC": the newest version that they may need}.
    """
    read = {name: elf.read(ws, path) for name, path in sorted(libraries.items())}
    found = []
    for name, one in read.items():
        theirs = elf.read(ws, stock / name).exports if (stock / name).exists() else set()
        found += [f"{name} {text}" for text in _of_one(one, theirs, architecture, limits)]
        found += [
            f"{name} needs {other} of the series, which is not in the package"
            for other in one.needed
            if other in NAMES and other not in read
        ]
    # Which every program has. Sources before a library came do not have that.
    always = [one.name for one in LIBRARIES if not one.header] + [dispatch.NAME]
    found += [f"{name} is missing" for name in always if name not in read]
    provided = set().union(*(one.exports for one in read.values()))
    beside = {other for one in read.values() for other in one.needed} - read.keys()
    provided |= set().union(*(elf.read(ws, stock / other).exports for other in beside if (stock / other).exists()))
    for name, one in read.items():
        lacking = sorted(one.imports - provided)
        if lacking:
            found.append(f"{name} needs {len(lacking)} symbols that no library has, such as {lacking[0]}")
        # The hook, without which the pool leaves blocks of global queues to other threads.
        if lacking := sorted(symbol for symbol in one.weak - provided if symbol.startswith("_dispatch_")):
            found.append(f"{name} calls {len(lacking)} symbols that {dispatch.NAME} has not, such as {lacking[0]}")
    return found


def folders(files: Mapping[str, Path], places: Iterable[Path | str]) -> Iterator[str]:
    """Which of {name: path} name a folder of the machine that built them, in lines: elsewhere they would be others."""
    for name, path in files.items():
        content = path.read_bytes()
        yield from (f"{name} names the folder {place}" for place in places if f"{place}/".encode() in content)


def _of_one(one: Elf, theirs: set[str], architecture: Architecture, limits: Mapping[str, str]) -> Iterator[str]:
    """What keeps a library from being shipped. theirs: the toolchain's symbols; limits: {family: version}."""
    if architecture.machine not in one.machine:
        yield f"is for {one.machine or 'no processor'}, not for {architecture.name}"
    for family, limit in limits.items():
        for version, names in sorted(one.versions.get(family, {}).items()):
            if elf.number(version) > elf.number(limit):
                yield f"needs {family}_{version} ({', '.join(names[:3])}), the limit is {limit}"
    if one.run_path != "$ORIGIN":
        yield f"has the run path {one.run_path}, not $ORIGIN" if one.run_path else "has no run path"
    if one.has_executable_stack:
        yield "has an executable stack"
    if one.has_text_relocations:
        yield "has text relocations"
    removed = sorted(symbol for symbol in theirs - one.exports if not elf.is_nobodys(symbol))
    if removed:
        yield f"lacks {len(removed)} symbols of the toolchain's, such as {removed[0]}"
