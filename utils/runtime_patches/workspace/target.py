"""What libraries and programs are compiled for that run elsewhere: a processor, and an older system on it."""

import functools

from ..base import pins
from . import sysroot


class Target:
    """An Architecture with the older system. system: the folder with that; lib: the folder `lib` of a toolchain for
    it. Compilers see them at `places`: pairs (folder, path)."""

    def __init__(self, ws, architecture):
        self.architecture = architecture
        if architecture.distribution == pins.load().distribution.architecture:
            self.lib = ws.outside(ws.toolchain / "lib")
        else:
            self.lib = sysroot.toolchain(ws, architecture.distribution)
        self.system = sysroot.ensure(ws, architecture.distribution)
        self.places = [(self.system, sysroot.SYSTEM), (self.lib, sysroot.LIB)]

    @functools.cached_property
    def triple(self):
        """As the Swift modules in `lib` are named."""
        return next((self.lib / "swift/linux/Swift.swiftmodule").glob("*.swiftmodule")).stem

    @property
    def clang(self):
        return [f"--target={self.triple}", f"--sysroot={sysroot.SYSTEM}"]

    def swift(self, resources=f"{sysroot.LIB}/swift"):
        """The options of swiftc; resources: the folder with Swift's modules and libraries."""
        system = f"--sysroot={sysroot.SYSTEM}"
        return [
            *("-target", self.triple, "-sdk", sysroot.SYSTEM, "-resource-dir", str(resources), "-use-ld=lld"),
            *("-Xcc", system, "-Xclang-linker", system),
        ]
