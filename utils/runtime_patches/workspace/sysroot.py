"""Headers and libraries of an older system, to compile against: packages that are unpacked, and never run.

They live in the cache, as the root file system does.
"""

import os
from pathlib import Path

from ..base import files, locks, pins
from ..base.progress import Step
from . import provision

# What it gives is what swift.org's own files need: Ubuntu 22.04, Debian 12, Amazon Linux 2023 and UBI 9 have it.
SUITE = "bookworm"
_PACKAGES = ("libc6-dev", "linux-libc-dev", "libstdc++-12-dev", "libgcc-s1")
# The newest versions of symbols that what is compiled against it may need.
LIMITS = {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.11"}
# Where builds see `lib` of the toolchain.
LIB = "/swift-lib"


def ensure(ws):
    """The folder with the older system."""
    architecture = pins.load().distribution.architecture
    place = ws.cache / f"sysroot-{SUITE}-{architecture}"
    if files.is_intact(place / files.MADE):
        return place
    provision.check_tools()
    with locks.exclusive(ws.cache):
        if files.is_intact(place / files.MADE):
            return place
        with Step(f"headers and libraries of {SUITE} (15 s)"), files.replaced(place) as partial:
            provision.bootstrap(
                ws.cache,
                partial,
                SUITE,
                architecture,
                _PACKAGES,
                log=place.name,
                hints=provision.archive_hints("check the network; the same command goes on from here"),
                variant="extract",
            )
            _mend_links(partial)
            provision.record(partial)
    return place


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
