"""What libraries and programs are compiled for that run elsewhere: a processor, and an older system on it."""

from __future__ import annotations

import functools
from pathlib import Path

from ..base import pins
from ..base.architectures import Architecture
from . import sysroot
from .find import Workspace


class Target:
    """An Architecture with the older system. system: the folder with that; lib: the folder `lib` of a toolchain for
    it. Compilers see them at `places`: pairs (folder, path)."""

    def __init__(self, ws: Workspace, architecture: Architecture) -> None:
        self.architecture = architecture
        if architecture.distribution == pins.load().distribution.architecture:
            self.lib = ws.outside(ws.toolchain / "lib")
        else:
            self.lib = sysroot.toolchain(ws, architecture.distribution)
        self.system = sysroot.ensure(ws, architecture.distribution)
        self.places = [(self.system, sysroot.SYSTEM), (self.lib, sysroot.LIB)]

    @functools.cached_property
    def triple(self) -> str:
        """As the Swift modules in `lib` are named."""
        return next((self.lib / "swift/linux/Swift.swiftmodule").glob("*.swiftmodule")).stem

    @property
    def clang(self) -> list[str]:
        return [f"--target={self.triple}", f"--sysroot={sysroot.SYSTEM}"]

    def swift(self, resources: Path | str = f"{sysroot.LIB}/swift") -> list[str]:
        """The options of swiftc; resources: the folder with Swift's modules and libraries."""
        system = f"--sysroot={sysroot.SYSTEM}"
        return [
            *("-target", self.triple, "-sdk", sysroot.SYSTEM, "-resource-dir", str(resources), "-use-ld=lld"),
            *("-Xcc", system, "-Xclang-linker", system),
        ]
