"""A runtime: a folder of libraries that programs run on. Its name is parsed here, and nowhere else.

stock     the toolchain's own libraries
before    the same sources rebuilt without the series: what `after` is compared with
after     the checkout with the series, and what is edited there
upto:P    the series up to and with patch P
package   the libraries of the series that are shipped, built for an older system; package-arm64: for another processor
asan, tsan, ubsan, debug, chaos, before-asan, …    see variants.py
"""

from __future__ import annotations

import functools
import os

from ..base import files
from ..base.architectures import ARCHITECTURES
from ..base.errors import BadUsage, UserError
from ..base.paths import BUILD
from . import variants

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from ..series.series import Series
    from ..workspace.find import Workspace


FOLDER = BUILD / "runtimes"
_UPTO = "upto:"
_PACKED = {one.runtime: one for one in ARCHITECTURES.values()}


def _series() -> Series:
    from ..series import series  # not at the top: utils/with-runtime starts for every program, and needs none

    return series.load()


class Runtime:
    """name: as the user types it; base: "stock", "before", "after", "package", "upto" or "folder"; patch: the last one
    of "upto", else None; variant: a name in variants.py, or None; architecture: of "package", else None; folder: where
    its libraries and its record are; libraries: the folder of the libraries."""

    def __init__(
        self, name: str, base: str, patch: str | None = None, variant: str | None = None, folder: Path | None = None
    ) -> None:
        self.name, self.base, self.patch, self.variant = name, base, patch, variant
        self.architecture = _PACKED.get(name)
        self.plain = plain(name)
        self.folder = folder or FOLDER / self.plain
        self.libraries = self.folder / "lib" / "swift" / "linux"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runtime) and self.folder == other.folder

    def __hash__(self) -> int:
        return hash(self.folder)

    @property
    def record_path(self) -> Path:
        """The file that tells what the folder was made from."""
        return self.folder / "runtime.json"

    @property
    def record(self) -> dict[str, Any]:
        """What the folder was made from; empty if that is not known."""
        return files.read_record(self.record_path) or {}

    @property
    def is_laid(self) -> bool:
        """Whether all files are there as they were installed."""
        return files.is_intact(self.record_path)

    @property
    def is_given(self) -> bool:
        """Whether it is a folder that somebody else has built: nothing is written there."""
        return self.base == "folder"

    @property
    def is_patched(self) -> bool:
        return self.base in ("after", "package", "upto")

    @property
    def work(self) -> Path:
        """The folder that it is compiled in (before's is in the cache: build.home)."""
        return BUILD / "work" / self.plain

    @property
    def missing(self) -> list[str]:
        there = self.record.get("patches")
        there = there if isinstance(there, list) else []
        return [slug for slug in _series().names if slug not in there]

    def library(self, name: str) -> Path:
        return self.libraries / name

    def environment(self, ws: Workspace) -> dict[str, str]:
        """The variables that programs on this runtime need."""
        if self.architecture and self.architecture.emulator:
            what = f"programs for {self.architecture.name} do not run in the workspace"
            raise UserError(what, f"utils/run-test --runtime {self} runs those of tests")
        found = {name: os.environ.get(name, value) for name, value in variants.variables(self.variant).items()}
        rest = os.environ.get("LD_LIBRARY_PATH")
        found["LD_LIBRARY_PATH"] = f"{self.libraries}:{rest}" if rest else str(self.libraries)
        if (self.folder / "bin" / "swiftc").exists():
            found["PATH"] = f"{self.folder / 'bin'}:{ws.path}"
        return found

    def run(
        self, ws: Workspace, argv: Iterable[object], *, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """subprocess.run of argv on this runtime, which must be built; `env` adds to the environment."""
        return ws.run(argv, env={**self.environment(ws), **(env or {})}, **options)


def parse(name: str) -> Runtime:
    if name in ("stock", "before", "after", *_PACKED):
        return Runtime(name, "package" if name in _PACKED else name)
    base, dash, variant = name.rpartition("-")
    if variant in variants.NAMES and base in ("", "before") and bool(dash) == bool(base):
        return Runtime(name, base or "after", variant=variant)
    if name.startswith(_UPTO):
        _series().check(name[len(_UPTO) :])
        return upto(name[len(_UPTO) :])
    known = f"stock, before, after, {', '.join(_PACKED)}, upto:PATCH, {', '.join(variants.NAMES)} and before-VARIANT"
    raise BadUsage(f"no runtime '{name}'", f"runtimes are {known}")


def upto(patch: str) -> Runtime:
    return Runtime(f"{_UPTO}{patch}", "upto", patch)


def in_folder(folder: Path, name: str = "") -> Runtime:
    """A folder of libraries that nobody builds here; name: to show it by, if not that of the folder."""
    return Runtime(name or folder.name, "folder", folder=folder)


def plain(name: str) -> str:
    """The name of a runtime in paths, where a colon would separate library paths."""
    return name.replace(":", "-")


def names() -> list[str]:
    """All names of runtimes, for completion."""
    unpatched = [f"before-{name}" for name in variants.NAMES]
    return ["stock", "before", "after", *_PACKED, *variants.NAMES, *unpatched, *(new for _, new in steps().values())]


@functools.cache
def stock() -> Runtime:
    return parse("stock")


@functools.cache
def steps() -> dict[str, tuple[str, str]]:
    """{patch: (the runtime before it, the runtime with it)} along the series."""
    listed = _series().names
    runtimes = [upto(patch).name for patch in listed]
    return dict(zip(listed, zip(["before", *runtimes], runtimes)))
