"""Runtimes in another configuration: with a sanitizer, with assertions, or with random delays.

VARIANT is the series in that configuration, before-VARIANT the unpatched sources.
build-script-config/variants/VARIANT.cmake holds its compiler flags; further files VARIANT.* come along.
"""

from __future__ import annotations

from ..base import files
from ..base.paths import CONFIG, TEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ..workspace.find import Workspace
    from .runtime import Runtime


NAMES = ("asan", "tsan", "ubsan", "debug", "chaos")
# What programs are compiled with, which have to be like the libraries that they load. The libraries of ubsan bring
# the sanitizer's runtime along: there is none for Swift's programs on Linux.
SANITIZERS = {"asan": "address", "tsan": "thread"}
# What swiftc needs to link one: Debian's sanitizer runtimes refer to this variable and do not define it.
LINK_OPTIONS = ("-Xlinker", "--defsym=_ZN11__sanitizer16struct_termio_szE=0")


def configuration(variant: str) -> list[Path]:
    """The files of a variant; the CMake initial cache is VARIANT.cmake."""
    return sorted((CONFIG / "variants").glob(f"{variant}.*"))


def complete(ws: Workspace, runtime: Runtime) -> list[Path]:
    """Adds what programs need that are to run on the variant: bin/swiftc, which compiles with its
    sanitizer, and the library of ubsan.

    A library with a sanitizer loads only into a program that has its runtime. The compiler has none,
    so it must not see LD_LIBRARY_PATH. Returns what it has added to bin.
    """
    variant, binaries = runtime.variant, runtime.folder / "bin"
    options = []
    if variant in SANITIZERS:
        options = [f"-sanitize={SANITIZERS[variant]}", *LINK_OPTIONS]
    compiler = binaries / "swiftc"
    files.write_starter(compiler, ["env", "-u", "LD_LIBRARY_PATH", f"{ws.toolchain}/bin/swiftc", *options])
    if variant == "ubsan":
        place = ws.outside(ws.toolchain / "lib" / "clang")
        for library in place.glob("*/lib/*/libclang_rt.ubsan_standalone*.so"):
            if not files.same(library, runtime.libraries / library.name):
                files.copy(library, runtime.libraries / library.name)
    return [compiler]


def variables(variant: str | None) -> dict[str, str]:
    """The environment variables that programs on a variant want: which reports to leave out."""
    if variant == "tsan":
        return {"TSAN_OPTIONS": f"suppressions='{TEST}/tsan-suppressions.txt'"}
    if variant == "asan":
        return {"LSAN_OPTIONS": f"suppressions='{TEST}/lsan-suppressions.txt':print_suppressions=0"}
    return {}
