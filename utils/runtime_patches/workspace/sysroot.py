"""Headers and libraries of an older or a foreign system, to compile against: packages that are unpacked, and never run.

They live in the cache, as the root file system does.
"""

import os
from pathlib import Path

from ..base import files, locks, pins
from ..base.files import remove
from ..base.progress import Step
from . import provision

# What it gives is what swift.org's own files need: Ubuntu 22.04, Debian 12, Amazon Linux 2023 and UBI 9 have it.
SUITE = "bookworm"
_PACKAGES = ("libc6-dev", "linux-libc-dev", "libstdc++-12-dev", "libgcc-s1")
# The newest versions of symbols that what is compiled against it may need.
LIMITS = {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.11"}
# Where builds see `lib` of a toolchain for the architecture.
LIB = "/swift-lib"


def ensure(ws, architecture):
    """The folder with the older system for an architecture, by the distribution's name."""
    place = ws.cache / f"sysroot-{SUITE}-{architecture}"
    return _ensure(ws, place, SUITE, architecture, _PACKAGES, f"headers and libraries of {SUITE} (15 s)")


def foreign_toolchain(ws, architecture):
    """The folder `lib` of the pinned toolchain for another architecture: its Swift modules and libraries."""
    dist = pins.load().distribution
    place = ws.cache / f"toolchain-{architecture}"
    packages = dist.pinned_packages[:1]
    _ensure(ws, place, dist.suite, architecture, packages, f"modules for {architecture} (2 min, 0.5 GB to load)", True)
    return place / "lib"


def _ensure(ws, place, suite, architecture, packages, what, only_modules=False):
    if files.is_intact(place / files.MADE):
        return place
    provision.check_tools()
    with locks.exclusive(ws.cache):
        if files.is_intact(place / files.MADE):
            return place
        remove(place)
        partial = place.with_name(place.name + ".partial")
        with Step(what):
            provision.bootstrap(
                ws.cache,
                partial,
                suite,
                architecture,
                packages,
                log=place.name,
                hints=provision.archive_hints("check the network; the same command goes on from here"),
                variant="extract",
            )
            if only_modules:
                partial = _keep_modules(partial)
            else:
                _mend_links(partial)
            provision.record(partial)
            partial.rename(place)
    return place


def _keep_modules(root):
    """A folder with the parts of an unpacked toolchain that a cross build reads; the rest, 2 GB, goes."""
    usr = root / pins.load().distribution.toolchain.lstrip("/")
    kept = root.with_name(root.name.replace(".partial", ".modules.partial"))
    remove(kept)
    (kept / "lib" / "swift").mkdir(parents=True)
    os.rename(usr / "lib" / "clang", kept / "lib" / "clang")
    for part in (usr / "lib" / "swift").iterdir():
        if part.name != "host":
            os.rename(part, kept / "lib" / "swift" / part.name)
    remove(root)
    return kept


def _mend_links(root):
    """What the packages' scripts would have made; relative links for absolute ones, which lead out of the folder; and
    a link to Swift's own files, which swiftc looks for in what it compiles against."""
    for name in ("lib", "lib64"):
        if not (root / name).exists():
            (root / name).symlink_to("usr/lib")
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            path = Path(folder, name)
            if path.is_symlink() and os.readlink(path).startswith("/"):
                target = os.path.relpath(f"{root}{os.readlink(path)}", folder)
                path.unlink()
                path.symlink_to(target)
    (root / "usr" / "lib" / "swift").symlink_to(f"{LIB}/swift")
