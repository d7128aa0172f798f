#!/usr/bin/env python3
"""make_package.py DIR [SERIES [GLIBC]]: a package of small files in DIR/package, with this repository's install.sh; and
DIR/usr, a "toolchain" of Swift 6.2.3 that it fits; and DIR/older and DIR/newer, libraries of others."""

import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from runtime_patches.base.paths import SHIPPED
from runtime_patches.runtimes import archive

NAMES = ("libswiftCore", "libswift_Concurrency", "libswiftSynchronization", "libdispatch")
place = Path(sys.argv[1])
series = sys.argv[2] if len(sys.argv) > 2 else "0123456789ab"
glibc = sys.argv[3] if len(sys.argv) > 3 else "2.17"
SYMBOLS = ["$sSayxGMa", "$sScTMa", *(f"$ss{number}_SomeMa" for number in range(100))]


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def library(text: str, exported: Iterable[str], local: Iterable[str] = ()) -> bytes:
    """A shared library with the names of these symbols, and a text."""
    tables = [("\0".join(["", *names, ""]).encode(), flags) for names, flags in ((exported, 2), (local, 0))]
    offset, headers = 64, bytes(64)
    for table, flags in tables:
        headers += struct.pack("<IIQQQQIIQQ", 0, 3, flags, 0, offset, len(table), 0, 0, 1, 0)
        offset += len(table)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, offset, 0, 64, 56, 0, 64, 3, 0)
    return header + b"".join(table for table, _ in tables) + headers + text.encode()


content = {"LICENSE": b"licence\n", "install.sh": (SHIPPED / "install.sh").read_bytes()}
for name in NAMES:
    mark = f"swift-runtime-patches 6.2.3-rp1 series {series} of {name}\n"
    content[f"lib/{name}.so"] = library(mark, SYMBOLS)
    content[f"static/{name}.a"] = f"archive {mark}".encode()
facts = {"swift": "6.2.3", "version": "6.2.3-rp1", "series": series, "processor": platform.machine()}
facts |= {"GLIBC": glibc, "GLIBCXX": "3.4"}
for path, what in archive.with_lists(content, facts).items():
    write(place / "package" / path, what if isinstance(what, bytes) else what.read_bytes())
(place / "package" / "install.sh").chmod(0o755)
for name in NAMES:
    # As Swift's own: not stripped.
    local = [f"$ss{number}_LocalMa" for number in range(100)]
    write(place / f"usr/lib/swift/linux/{name}.so", library("stock\n", SYMBOLS, local))
    write(place / f"older/{name}.so", library("stock\n", SYMBOLS[:-50]))
    write(place / f"newer/{name}.so", library("stock\n", [*SYMBOLS, *local[:50]]))
    write(place / f"usr/lib/swift_static/linux/{name}.a", b"stock\n")
for part in ("swift", "swift_static"):
    write(
        place / f"usr/lib/{part}/linux/Swift.swiftmodule/x86_64-unknown-linux-gnu.swiftinterface",
        b"// swift-interface-format-version: 1.0\n"
        b"// swift-compiler-version: Swift version 6.2.3 (swift-6.2.3-RELEASE)\n",
    )
