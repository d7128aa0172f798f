"""The processors that libraries are packed for."""

from __future__ import annotations

import os

from .errors import UserError


class Architecture:
    """name: as in the names of packages; distribution: the distribution's name; processor: as in triples and
    `uname -m`; machine: readelf's name; runtime: the name of the runtime that is packed."""

    def __init__(self, name: str, distribution: str, processor: str, machine: str, runtime: str) -> None:
        self.name, self.distribution, self.processor = name, distribution, processor
        self.machine, self.runtime = machine, runtime

    @property
    def emulator(self) -> str | None:
        """The program that runs programs for this processor here; None if they run without one."""
        if os.uname().machine == self.processor:
            return None
        import shutil  # not at the top: with-runtime reads this file at each start

        names = (f"qemu-{self.processor}-static", f"qemu-{self.processor}")
        if found := next(filter(None, map(shutil.which, names)), None):
            return found
        raise UserError(f"programs for {self.name} do not run here", "sudo apt install qemu-user-static")


_KNOWN = (
    Architecture("x86_64", "amd64", "x86_64", "X86-64", "package"),
    Architecture("arm64", "arm64", "aarch64", "AArch64", "package-arm64"),
)
ARCHITECTURES = {one.name: one for one in _KNOWN}
