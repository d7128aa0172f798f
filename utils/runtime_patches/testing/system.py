"""Where the programs of tests run if that is not the workspace: on the packed libraries, in a release of the
distribution or for another processor."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base.architectures import Architecture
from ..base.errors import BadUsage
from ..runtimes.runtime import Runtime
from ..workspace import sandbox, sysroot, target
from ..workspace.find import Workspace

# bubblewrap tells of a program that a signal has ended by its status alone.
_CRASH = '"$@"; status=$?; [ $status -le 128 ] || kill -$((status - 128)) $$; exit $status'


def find(ws: Workspace, runtime: Runtime, suite: str | None = None) -> System | None:
    """The System for a Runtime and a release, the older system's if none is named; None for the workspace itself."""
    architecture = runtime.architecture
    if suite and not architecture:
        what = f"runtime {runtime} runs in the workspace only"
        raise BadUsage(what, "--runtime package: its libraries run elsewhere")
    if suite and not re.fullmatch("[a-z]+", suite):
        raise BadUsage(f"'{suite}' is no release of the distribution", "such as bookworm or trixie")
    if not architecture or not suite and not architecture.emulator:
        return None
    if suite and architecture.emulator:
        raise BadUsage(f"programs for {architecture.name} run in {sysroot.SUITE} only", "leave --system out")
    return System(ws, architecture, suite)


class System:
    """name: in the names of folders; target: what programs are compiled for; places: as in Target, and what else
    they need."""

    def __init__(self, ws: Workspace, architecture: Architecture, suite: str | None) -> None:
        self.name = suite or architecture.name
        self.target = target.Target(ws, architecture)
        self.emulator = architecture.emulator
        self.root = sysroot.release(ws, suite) if suite else self.target.system
        self.places: list[tuple[Path | str, str]] = [*self.target.places]
        if self.emulator:
            self.places.append((self.emulator, "/emulator"))

    def parameters(self, seen: Iterable[Path | str]) -> dict[str, Any]:
        """Parameters of test/lit.cfg.py; seen: the folders that the programs need."""
        if self.emulator:
            # It finds the loader and the libraries below the system, also for the programs that a program starts (the
            # kernel must know the emulator for that); what else programs open is the workspace's.
            runner = ["env", f"QEMU_LD_PREFIX={sysroot.SYSTEM}", "/emulator"]
        else:
            fixed = [(path, path) for path in (sysroot.LIB, *seen)]
            mounts = sandbox.mounts(self.root, [], fixed)
            runner = ["sh", "-c", _CRASH, "sh", sandbox.bwrap(), "--die-with-parent", *mounts]
        return {
            **({"emulated": "1"} if self.emulator else {}),
            "target_lib": sysroot.LIB,
            "sysroot": sysroot.SYSTEM,
            "runner": shlex.join(map(str, runner)) + " ",
        }
