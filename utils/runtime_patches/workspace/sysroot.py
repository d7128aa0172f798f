"""Headers and libraries of an older or a foreign system, to compile against: packages that are unpacked, and never run.

They live in the cache, as the root file system does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ..base import files, pins
from . import cached, provision
from .find import Workspace

# What it gives is what swift.org's own files need: Ubuntu 22.04, Debian 12, Amazon Linux 2023 and UBI 9 have it.
SUITE = "bookworm"
_PACKAGES = ("libc6-dev", "linux-libc-dev", "libstdc++-12-dev", "libgcc-s1")
# The newest versions of symbols that what is compiled against it may need.
LIMITS = {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.11"}
# Where compilers see the older system, and `lib` of a toolchain for the architecture.
SYSTEM, LIB = "/swift-sysroot", "/swift-lib"


def ensure(ws: Workspace, architecture: str) -> Path:
    """The folder with the older system for an architecture, by the distribution's name."""
    name, what = f"sysroot-{SUITE}-{architecture}", f"headers and libraries of {SUITE} for {architecture} (15 s)"
    return _laid(ws, name, SUITE, architecture, _PACKAGES, what, _mend_links)


def toolchain(ws: Workspace, architecture: str) -> Path:
    """The folder `lib` of the pinned toolchain for another architecture than the workspace's."""
    pin = pins.load().distribution
    name, what = f"toolchain-{architecture}", f"Swift modules for {architecture} (2 min, 0.6 GB to load)"
    return _laid(ws, name, pin.suite, architecture, pin.pinned_packages[:1], what, _keep_modules) / "lib"


def release(ws: Workspace, suite: str) -> Path:
    """The root file system of a release of the distribution, with what programs of Swift need: to run them in."""
    architecture, what = pins.load().distribution.architecture, f"root file system of {suite} (20 s)"
    return _laid(ws, f"system-{suite}", suite, architecture, ["libstdc++6"], what, variant="essential")


def _laid(
    ws: Workspace,
    name: str,
    suite: str,
    architecture: str,
    packages: Sequence[str],
    what: str,
    finish: Callable[[Path], object] | None = None,
    variant: str = "extract",
) -> Path:
    """The folder in the cache with packages of a suite; finish(folder) leaves what is needed of it."""

    def fill(root: Path) -> None:
        provision.check_tools()
        hints = provision.archive_hints("check the network; the same command goes on from here")
        provision.bootstrap(ws.cache, root, suite, architecture, packages, log=name, hints=hints, variant=variant)
        if finish:
            finish(root)

    return cached.folder(ws, name, what, fill, packages, variant, finish, LIB)


def _keep_modules(root: Path) -> None:
    """Leaves of an unpacked toolchain, 3 GB, what a cross build reads."""
    unpacked = root.with_name(f"{root.name.removesuffix('.partial')}.all.partial")
    files.remove(unpacked)
    root.rename(unpacked)
    lib = unpacked / pins.load().distribution.toolchain.lstrip("/") / "lib"
    files.remove(lib / "swift" / "host")
    (root / "lib").mkdir(parents=True)
    for part in ("clang", "swift", "swift_static"):
        (lib / part).rename(root / "lib" / part)
    files.remove(unpacked)


def _mend_links(root: Path) -> None:
    """What the packages' scripts would have made; relative links for absolute ones, which lead out of the folder; and
    a link to Swift's own files, which swiftc looks for in what it compiles against."""
    # ninja takes lib/gcc/../../include, which the compiler writes, for include: without it all is compiled again.
    for name in ("lib", "lib64", "include"):
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name.removesuffix('64')}")
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            path = Path(folder, name)
            if path.is_symlink() and os.readlink(path).startswith("/"):
                target = os.path.relpath(f"{root}{os.readlink(path)}", folder)
                path.unlink()
                path.symlink_to(target)
    for name in ("swift", "swift_static"):
        (root / "usr" / "lib" / name).symlink_to(f"{LIB}/{name}")
