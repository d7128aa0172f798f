"""The exported symbols of two builds of a library, compared."""

import re
from pathlib import Path

from ..workspace.find import Workspace
from . import elf

# Instances of libstdc++ templates depend on its version and on inlining; each linker
# marks the ends of sections in its own way; AddressSanitizer marks globals. No program relies on them.
_NOT_OURS = re.compile(
    r"_Z(?:N[KVO]*)?(?:St|9__gnu_cxx)|_ZT[ISVT]*(?:N?St|N9__gnu_cxx)|_ZGVN?St"
    r"|__odr_asan_gen_|__(?:start|stop)_|__bss_start$|_edata$|_end$"
)


def is_nobodys(symbol: str) -> bool:
    return bool(_NOT_OURS.match(symbol))


def difference(ws: Workspace, old: Path, new: Path) -> tuple[list[str], list[str]]:
    """(added, removed): sorted names, without those that no program relies on. A file that does not exist has none."""
    before, after = (elf.read(ws, path).exports if path.exists() else set() for path in (old, new))

    def ours(names: set[str]) -> list[str]:
        return sorted(n for n in names if not is_nobodys(n))

    return ours(after - before), ours(before - after)
