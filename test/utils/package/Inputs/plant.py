#!/usr/bin/env python3
"""plant.py DIR [--checkout DIR --toolchain DIR]: libraries of a few symbols in DIR, a sound set of them and sets with
one fault each. Prints what the gates of utils/package say of each."""

import sys
from collections.abc import Iterable
from pathlib import Path

from runtime_patches.base.architectures import ARCHITECTURES
from runtime_patches.runtimes import gates
from workspace_of import workspace

CORE, CONCURRENCY, SYNCHRONIZATION = "libswiftCore.so", "libswift_Concurrency.so", "libswiftSynchronization.so"
DISPATCH = "libdispatch.so"
LIMITS = {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.11"}
SOURCES = {
    CORE: "int glibc(void); int swift_core(void) { return glibc(); }",
    CONCURRENCY: "int swift_core(void); __attribute__((weak)) int _dispatch_hook(void);"
    "int swift_task(void) { return _dispatch_hook ? _dispatch_hook() : swift_core(); }",
    SYNCHRONIZATION: "int swift_core(void); int swift_mutex(void) { return swift_core(); }",
    DISPATCH: "int dispatch_async(void) { return 1; }",
}
_WORD = 'int there; __asm__(".text\\n.quad there\\n.previous\\n");'
_GONE = "int gone(void); int use(void) { return gone(); }"
# fault: the library that has it, its source or None, and clang's further arguments.
FAULTS = {
    "sound": (CORE, None, []),
    "glibc": (CORE, "int newer(void); int swift_core(void) { return newer(); }", []),
    "libstdc++": (CONCURRENCY, SOURCES[CONCURRENCY] + "int stream(void); int use(void) { return stream(); }", []),
    "c++ abi": (CONCURRENCY, SOURCES[CONCURRENCY] + "int unwind(void); int use(void) { return unwind(); }", []),
    "no run path": (CONCURRENCY, None, ["-Wl,-rpath,"]),
    "run path": (CONCURRENCY, None, ["-Wl,-rpath,/usr/lib/swift/linux"]),
    "removed export": (CONCURRENCY, SOURCES[CONCURRENCY].replace("swift_task", "swift_other"), []),
    "executable stack": (CORE, None, ["-Wl,-z,execstack"]),
    "text relocation": (CORE, SOURCES[CORE] + _WORD, ["-Wl,-z,notext"]),
    "symbol of nobody": (SYNCHRONIZATION, SOURCES[SYNCHRONIZATION] + _GONE, []),
    "processor": (SYNCHRONIZATION, "int swift_mutex(void) { return 1; }", ["--target=aarch64-linux-gnu"]),
    "no core": (CORE, None, None),
    "no hook": (DISPATCH, None, []),
    "removed block": (DISPATCH, "int _dispatch_hook(void) { return 1; }", []),
    "no libdispatch": (DISPATCH, None, None),
}

place, ws = Path(sys.argv[1]).resolve(), workspace(sys.argv[2:])


def link(target: Path, source: str, *words: object) -> None:
    """Compiles C source to a shared library."""
    target.parent.mkdir(parents=True, exist_ok=True)
    file = target.with_suffix(".c")
    file.write_text(source)
    argv = ["clang", "-shared", "-fPIC", "-nostdlib", "-fuse-ld=lld", *words, file, "-o", target]
    ws.run(argv, binds=[place])


# A C and a C++ library with symbols of several versions.
system = place / "system"
for name, versions, functions in (
    ("libc.so.6", "GLIBC_2.9 { glibc; }; GLIBC_2.34 { last; }; GLIBC_2.38 { newer; };", ("glibc", "last", "newer")),
    ("libstdc++.so.6", "GLIBCXX_3.4.30 { stream; }; CXXABI_1.3.13 { unwind; };", ("stream", "unwind")),
):
    system.mkdir(parents=True, exist_ok=True)
    (system / "versions").write_text(versions)
    code = "".join(f"int {function}(void) {{ return 0; }}" for function in functions)
    link(system / name, code, f"-Wl,-soname,{name},--version-script={system / 'versions'}")
SYSTEM = [system / "libc.so.6", system / "libstdc++.so.6"]


stock = place / "stock"


def library(folder: Path, name: str, source: str, words: Iterable[str] = ()) -> Path:
    """A library of the set in `folder`; it needs the sound Core."""
    beside = [stock / CORE] if name != CORE else []
    run_path = [] if any("-rpath" in word for word in words) else ["-Wl,-rpath,$ORIGIN"]
    words = [word for word in words if word != "-Wl,-rpath,"]
    needed = [] if any("target" in word for word in words) else [*beside, *SYSTEM]
    link(folder / name, source, f"-Wl,-soname,{name},-z,noexecstack", *run_path, *words, *needed)
    return folder / name


sound = {name: library(stock, name, source) for name, source in SOURCES.items()}
# The toolchain's has no hook.
sound[DISPATCH] = library(place / "sound", DISPATCH, SOURCES[DISPATCH] + "int _dispatch_hook(void) { return 1; }")
for fault, (broken, source, words) in FAULTS.items():
    libraries = dict(sound)
    if words is None:
        del libraries[broken]
    elif fault != "sound":
        libraries[broken] = library(place / fault.replace(" ", "-"), broken, source or SOURCES[broken], words)
    found = gates.faults(ws, libraries, stock, ARCHITECTURES["x86_64"], LIMITS)
    print(f"{fault}: " + ("; ".join(found) or "nothing"))
