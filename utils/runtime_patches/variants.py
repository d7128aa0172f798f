"""Runtimes in another configuration: with a sanitizer, or with assertions.

VARIANT is the series in that configuration, before-VARIANT the unpatched sources.
build-script-config/variants/VARIANT.cmake holds its compiler flags.
"""

import shlex
import shutil
from pathlib import Path

from . import files, pins

# variant: swiftc's -sanitize=. It has none for undefined behaviour on Linux: there the
# libraries bring the sanitizer's runtime along.
_SANITIZE = {"asan": "address", "tsan": "thread", "ubsan": None, "debug": None}
NAMES = tuple(_SANITIZE)


def split(name):
    """("before" or "after", variant) of a runtime's name; None where it is no variant."""
    base, dash, variant = name.rpartition("-")
    if variant not in _SANITIZE or (dash and base != "before"):
        return None
    return base or "after", variant


def configuration(variant):
    """The CMake initial cache of a variant."""
    return pins.CONFIG / "variants" / f"{variant}.cmake"


def complete(ws, variant, home):
    """Adds to runtime folder `home` what programs need that are to run on the variant:
    bin/swiftc, which compiles with its sanitizer, and the library of ubsan.

    A library with a sanitizer loads only into a program that has its runtime. The
    compiler has none, so it must not see LD_LIBRARY_PATH. Returns what it has added to bin.
    """
    options, mutex = "", home / "bin" / "tsan-mutex.o"
    if _SANITIZE[variant]:
        # Debian's sanitizer runtimes refer to this variable and do not define it.
        options = (f" -sanitize={_SANITIZE[variant]}"
                   " -Xlinker --defsym=_ZN11__sanitizer16struct_termio_szE=0")
    if variant == "tsan":
        partial = mutex.with_suffix(".partial")
        ws.run(["clang", "-O1", "-fPIC", "-c", "-o", partial,
                pins.CONFIG / "variants" / "tsan-mutex.c"], binds=[home])
        partial.replace(mutex)
        options += f" -Xlinker {shlex.quote(str(mutex))}"
    swiftc = shlex.quote(f"{ws.toolchain}/bin/swiftc")
    compiler = home / "bin" / "swiftc"
    files.write(compiler, f'#!/bin/sh\nexec env -u LD_LIBRARY_PATH {swiftc}{options} "$@"\n')
    compiler.chmod(0o755)
    if variant == "ubsan":
        place = Path(f"{ws.root}{ws.toolchain}/lib/clang")
        for library in place.glob("*/lib/*/libclang_rt.ubsan_standalone*.so"):
            shutil.copy2(library, home / "lib" / "swift" / "linux")
    return [compiler, mutex] if variant == "tsan" else [compiler]


def path(ws, home):
    """PATH for programs on the runtime in folder `home`; a compiler of its own comes first."""
    own = home / "bin"
    return f"{own}:{ws.path}" if (own / "swiftc").exists() else ws.path


def options(home):
    """The environment variables that programs on the runtime in folder `home` want."""
    _, variant = split(home.name) or (None, None)
    if variant == "tsan":
        return {"TSAN_OPTIONS": _suppressions("tsan")}
    if variant == "asan":
        return {"LSAN_OPTIONS": _suppressions("lsan") + ":print_suppressions=0"}
    return {}


def _suppressions(sanitizer):
    return f"suppressions='{pins.REPO / 'test' / sanitizer}-suppressions.txt'"
