"""The exported symbols of two builds of a library, compared."""

import re

# Instances of libstdc++ templates depend on its version and on inlining; each linker
# marks the ends of sections in its own way; AddressSanitizer marks globals. No program relies on them.
_NOT_OURS = re.compile(
    r"_Z(?:N[KVO]*)?(?:St|9__gnu_cxx)|_ZT[ISVT]*(?:N?St|N9__gnu_cxx)|_ZGVN?St"
    r"|__odr_asan_gen_|__(?:start|stop)_|__bss_start$|_edata$|_end$"
)


def exports(ws, library):
    """The set of the defined dynamic symbols of `library`, without versions; empty if it does not exist."""
    if not library.exists():
        return set()
    text = ws.output(
        ["nm", "-D", "--defined-only", "--extern-only", "--format=just-symbols", str(library)], binds=[library.parent]
    )
    return {line.split("@")[0] for line in text.splitlines() if line}


def is_nobodys(symbol):
    return bool(_NOT_OURS.match(symbol))


def difference(ws, old, new):
    """(added, removed): sorted names, without those that no program relies on."""
    before, after = exports(ws, old), exports(ws, new)

    def ours(names):
        return sorted(n for n in names if not is_nobodys(n))

    return ours(after - before), ours(before - after)
