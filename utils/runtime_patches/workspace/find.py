"""The workspace: a toolchain, Swift's sources, and the way to run programs with them.

By default both come from the distribution's packages and live in the cache. With --checkout and
--toolchain they are the user's own, and nothing is downloaded.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

from ..base import pins
from ..base.errors import BadUsage, UserError
from ..base.paths import BUILD, MODULE_CACHE, REPO
from . import sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .sandbox import Folder, Folders, Places


class Workspace:
    """root: the root file system ("/" with the user's own toolchain); toolchain: its usr folder, as
    seen inside; sources: the folder of the host that holds the unpatched `swift/`; checkout: the
    folder that --checkout named, or None."""

    def __init__(
        self, root: Folder, toolchain: Folder, sources: Path, from_packages: bool, checkout: Folder | None = None
    ) -> None:
        self.root = Path(root)
        self.toolchain = Path(toolchain)
        self.sources = sources and Path(sources)
        self.from_packages = from_packages
        self.checkout = checkout and Path(checkout).resolve()
        self.cache = pins.cache() if from_packages else BUILD / "own"

    @property
    def swift(self) -> Path:
        return self.sources / "swift"

    @property
    def options(self) -> list[str]:
        """The options that name this workspace to another command."""
        if not self.from_packages:
            return ["--checkout", str(self.sources), "--toolchain", str(self.toolchain)]
        return ["--checkout", str(self.checkout)] if self.checkout else []

    @property
    def toolchain_key(self) -> str:
        """Tells the toolchain from others. One of packages is at the same path in each version."""
        return f"{pins.key() if self.from_packages else ''} {self.toolchain}"

    def outside(self, path: Folder) -> Path:
        """The host's path of a file that is called `path` inside the root file system."""
        return Path(f"{self.root}{path}") if self.from_packages else Path(path)

    @functools.cached_property
    def path(self) -> str:
        """PATH inside: the toolchain, then LLVM's test tools, then the system."""
        inside = [str(self.toolchain / "bin"), pins.load().distribution.llvm_tools, "/usr/bin", "/bin"]
        if not self.from_packages:
            inside += os.environ.get("PATH", "").split(":")
        return ":".join(dict.fromkeys(p for p in inside if p))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command; `extra` adds to it."""
        env = {**os.environ, "PATH": self.path}
        env["HOME"] = env.get("HOME") or str(self.cache)  # not /tmp: others may leave settings there
        # Otherwise it is in HOME. LLVM replaces a % in this path.
        if os.access(BUILD, os.W_OK) and "%" not in str(BUILD):
            env.setdefault("CLANG_MODULE_CACHE_PATH", str(MODULE_CACHE))
        env.update(extra or {})
        return env

    def binds(self, more: Folders = ()) -> list[Folder]:
        """The folders of the host that are seen inside at their own paths."""
        own = [REPO, self.cache.parent if self.from_packages else self.cache]
        return [*own, *([self.sources] if self.sources else []), *more]

    def command(
        self, argv: Iterable[object], *, cwd: Folder | None = None, binds: Folders = (), fixed: Places = ()
    ) -> list[str]:
        """The host's command line that runs argv inside."""
        seen = self.binds([*([cwd] if cwd else []), *binds])
        return sandbox.command(self.root, argv, cwd=cwd or REPO, fixed=fixed, binds=seen)

    def run(
        self,
        argv: Iterable[object],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Folder | None = None,
        binds: Folders = (),
        fixed: Places = (),
        check: bool = True,
        **options: Any,
    ) -> subprocess.CompletedProcess[Any]:
        """subprocess.run inside; `env` adds to the environment."""
        import subprocess

        command = self.command(argv, cwd=cwd, binds=binds, fixed=fixed)
        return subprocess.run(command, env=self.environment(env), check=check, **options)

    def popen(
        self, argv: Iterable[object], *, env: Mapping[str, str] | None = None, binds: Folders = (), **options: Any
    ) -> subprocess.Popen[Any]:
        """base.process.start inside, with pipes for what it reads and writes; `env` adds to the environment."""
        from subprocess import PIPE

        from ..base import process

        command = self.command(argv, binds=binds)
        return process.start(command, env=self.environment(env), **{"stdin": PIPE, "stdout": PIPE, **options})

    def output(self, argv: Iterable[object], **options: Any) -> str:
        """The standard output of argv inside, as text."""
        import subprocess

        text: str = self.run(argv, stdout=subprocess.PIPE, text=True, **options).stdout
        return text


def find(checkout: Folder | None = None, toolchain: Folder | None = None) -> Workspace | None:
    """The workspace that the options --checkout and --toolchain ask for; None if it must still be
    made from packages."""
    require_one_path(REPO, "of this repository, ")
    if toolchain:
        own_toolchain = check_toolchain(Path(toolchain))
        if not checkout:
            raise BadUsage(
                "--toolchain needs --checkout", f"give the folder that holds swift/ at {pins.load().swift.tag}"
            )
        return Workspace("/", own_toolchain, check_checkout(checkout), False, checkout)
    cache = pins.cache()
    inside = pins.load().distribution.toolchain
    parts = {cache / "root": f"{inside[1:]}/bin/swiftc", cache / "source": "swift/.git"}
    if not all(path.is_dir() for path in parts):
        return None
    for path, needed in parts.items():
        if not os.path.lexists(path / needed):
            raise UserError(f"{path} is not intact: it has no {needed}", renewal(path))
    sources = check_checkout(checkout) if checkout else cache / "source"
    return Workspace(cache / "root", inside, sources, True, checkout)


def require_one_path(folder: Path, what: str = "") -> None:
    """UserError if the loader would read the path of `folder`, in LD_LIBRARY_PATH, as two paths."""
    for sign, name in ((":", "colon"), (";", "semicolon")):
        if sign in str(folder):
            what = f"the path {what}{folder}{',' * bool(what)} holds a {name}"
            raise UserError(what, f"{name}s separate library paths: move it elsewhere")


def renewal(path: Path) -> str:
    """The commands that rebuild the damaged part of the cache at `path`."""
    import shlex

    return f"rm -r {shlex.quote(str(path))} && utils/update-checkout"


def check_toolchain(usr: Path) -> Path:
    """UserError if `usr` is not the usr folder of a toolchain of our version."""
    import re
    import subprocess

    wanted = pins.load().swift.version
    swiftc = usr / "bin" / "swiftc"
    hint = f"give the usr folder of a Swift {wanted} toolchain, or leave --toolchain out"
    if not swiftc.exists():
        raise UserError(f"{usr} is not a toolchain: it has no bin/swiftc", hint)
    try:
        text = subprocess.run([swiftc, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{swiftc} does not run: {error}", hint) from None
    found = re.search(r"Swift version (\S+)", text)
    if not found or found[1] != wanted:
        what = f"the toolchain {usr} is Swift {found[1] if found else 'of no known version'}, not {wanted}"
        raise UserError(what, hint)
    return usr.resolve()


def check_checkout(folder: Folder, any_version: bool = False) -> Path:
    """UserError if folder/swift is no git checkout of our Swift version. any_version: every version will do."""
    import re

    wanted = pins.load().swift.version
    folder = Path(folder)
    swift = folder / "swift"
    if not swift.is_dir():
        hint = "give the folder that holds swift/"
        if (folder / "stdlib").is_dir():
            hint += f": {folder.resolve().parent}"
        raise UserError(f"{folder} is not a Swift workspace: it has no swift/", hint)
    defaults = swift / "utils" / "build_swift" / "build_swift" / "defaults.py"
    try:
        found = re.search(r"SWIFT_USER_VISIBLE_VERSION = Version\('([^']+)'\)", defaults.read_text())
    except OSError:
        found = None
    if not found or not (swift / "stdlib" / "public" / "Concurrency").is_dir():
        raise UserError(f"{swift} is not a checkout of Swift", f"check out {pins.load().swift.tag} there")
    if found[1] != wanted and not any_version:
        import shlex

        what = f"{swift} is Swift {found[1]}, not {wanted}"
        raise UserError(what, f"git -C {shlex.quote(str(swift))} checkout {pins.load().swift.tag}")
    if not (swift / ".git").exists():
        raise UserError(f"{swift} is not a git checkout", "the series is applied as commits: give a git clone")
    return folder.resolve()
