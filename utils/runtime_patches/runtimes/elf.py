"""What an ELF file says of itself, read with readelf; and the exported symbols of two builds of a library, compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from ..workspace.find import Workspace

# Instances of libstdc++ templates depend on its version and on inlining; each linker
# marks the ends of sections in its own way; AddressSanitizer marks globals. No program relies on them.
_NOT_OURS = re.compile(
    r"_Z(?:N[KVO]*)?(?:St|9__gnu_cxx)|_ZT[ISVT]*(?:N?St|N9__gnu_cxx)|_ZGVN?St"
    r"|__odr_asan_gen_|__(?:start|stop)_|__bss_start$|_edata$|_end$"
)


@dataclass
class Elf:
    """machine: its processor, in readelf's words; needed: libraries that it loads; run_path: where it looks for them,
    or None; versions: {"GLIBC": {version: symbols that need it}}, so for each name of versions; exports: of symbols;
    imports: of those that must be found and have no version: the system's have one; weak: of those that need not be
    found and have none."""

    machine: str
    needed: list[str]
    run_path: Optional[str]
    versions: dict[str, dict[str, list[str]]]
    exports: set[str]
    imports: set[str]
    weak: set[str]
    has_executable_stack: bool
    has_text_relocations: bool


def read(ws: Workspace, path: Path) -> Elf:
    argv = ["readelf", "-W", "-h", "-d", "-l", "--dyn-syms", str(path)]
    return parse(ws.output(argv, binds=[path.parent]))


def parse(text: str) -> Elf:
    """The Elf in the output of readelf -W -h -d -l --dyn-syms."""
    versions: dict[str, dict[str, list[str]]] = {}
    exports, imports, weak = set(), set(), set()
    for line in text.splitlines():
        # Number, value, size, type, binding, visibility, section, name. Stock's arm64 libraries list local symbols.
        words = line.split()
        if len(words) < 8 or not words[0].endswith(":") or words[4] not in ("GLOBAL", "WEAK", "UNIQUE"):
            continue
        name, _, version = words[7].partition("@")
        if words[6] != "UND":
            exports.add(name)
            continue
        family, _, number = version.rpartition("_")
        if re.fullmatch(r"[\d.]+", number):
            versions.setdefault(family, {}).setdefault(number, []).append(name)
        elif not version:
            (weak if words[4] == "WEAK" else imports).add(name)

    def found(pattern: str) -> list[str]:
        return re.findall(pattern, text)

    machine, needed = next(iter(found(r"Machine: +(.*)")), ""), found(r"\(NEEDED\).*\[(.*)\]")
    run_path = next(iter(found(r"\(RUNPATH\).*\[(.*)\]")), None)
    # A file that does not say so gets one.
    stack = not found(r"GNU_STACK .*") or bool(found(r"GNU_STACK +\S+ +\S+ +\S+ +\S+ +\S+ +RWE"))
    relocations = bool(found(r"\(TEXTREL\)|\(FLAGS\).*TEXTREL"))
    return Elf(machine, needed, run_path, versions, exports, imports, weak, stack, relocations)


def number(version: str) -> tuple[int, ...]:
    """A version as numbers, which compare."""
    return tuple(map(int, version.split(".")))


def newest(elves: Iterable[Elf], family: str) -> str | None:
    """The newest version of a family, such as GLIBC, that some of these files need; None if they need none."""
    found = [version for elf in elves for version in elf.versions.get(family, {})]
    return max(found, key=number, default=None)


def is_nobodys(symbol: str) -> bool:
    return bool(_NOT_OURS.match(symbol))


def changed_exports(ws: Workspace, old: Path, new: Path) -> tuple[list[str], list[str]]:
    """(added, removed): sorted names, without those that no program relies on. A file that does not exist has none."""
    before, after = (read(ws, path).exports if path.exists() else set() for path in (old, new))

    def ours(names: set[str]) -> list[str]:
        return sorted(n for n in names if not is_nobodys(n))

    return ours(after - before), ours(before - after)
