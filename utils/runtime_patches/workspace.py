"""The workspace: a toolchain, Swift's sources, and the way to run things with them.

By default both come from the distribution's packages and live in the cache; with
--checkout and --toolchain they are the user's own, and nothing is downloaded.
"""

import functools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from . import enter, pins
from .errors import UserError


class Workspace:
    """root: the root file system ("/" with the user's own toolchain);
    toolchain: its usr folder, as seen inside; sources: the folder of the host
    that holds the unpatched `swift/` (None until it is known)."""

    def __init__(self, root, toolchain, sources, from_packages):
        self.root = Path(root)
        self.toolchain = Path(toolchain)
        self.sources = sources and Path(sources)
        self.from_packages = from_packages
        self.cache = pins.cache() if from_packages else pins.BUILD / "own"

    @functools.cached_property
    def path(self):
        """PATH inside: the toolchain, then LLVM's test tools, then the system."""
        llvm = pins.load()["distribution"]["llvm_tools"]
        inside = [str(self.toolchain / "bin"), llvm, "/usr/bin", "/bin"]
        if not self.from_packages:
            inside += os.environ.get("PATH", "").split(":")
        return ":".join(dict.fromkeys(p for p in inside if p))

    def environment(self, libdir=None, extra=None):
        """The environment of a command; `libdir` is searched first for libraries."""
        env = {**os.environ, "PATH": self.path}
        env["HOME"] = env.get("HOME") or "/tmp"
        # Or else it is in HOME. LLVM takes a % for a place to fill in.
        if os.access(pins.BUILD, os.W_OK) and "%" not in str(pins.BUILD):
            env.setdefault("CLANG_MODULE_CACHE_PATH", str(pins.BUILD / "module-cache"))
        if libdir:
            rest = env.get("LD_LIBRARY_PATH")
            env["LD_LIBRARY_PATH"] = f"{libdir}:{rest}" if rest else str(libdir)
        env.update(extra or {})
        return env

    def binds(self, more=()):
        """The folders of the host that are seen inside at their own paths."""
        return [pins.REPO, self.cache.parent if self.from_packages else self.cache,
                *([self.sources] if self.sources else []), *more]

    def command(self, argv, *, cwd=None, binds=(), fixed=(), extra=()):
        """The host's command line that runs argv inside."""
        return enter.command(self.root, argv, cwd=cwd or pins.REPO, fixed=fixed,
                             binds=self.binds([cwd] if cwd else []) + list(binds),
                             extra=extra)

    def run(self, argv, *, libdir=None, env=None, cwd=None, binds=(), fixed=(),
            check=True, **options):
        """subprocess.run inside; `env` adds to the environment."""
        return subprocess.run(self.command(argv, cwd=cwd, binds=binds, fixed=fixed),
                              env=self.environment(libdir, env), check=check, **options)

    def popen(self, argv, *, libdir=None, env=None, cwd=None, binds=(), fixed=(),
              **options):
        """subprocess.Popen inside; `env` adds to the environment."""
        return subprocess.Popen(self.command(argv, cwd=cwd, binds=binds, fixed=fixed),
                                env=self.environment(libdir, env), **options)


def find(options):
    """The workspace that `options` (.checkout, .toolchain) ask for, if it is ready.

    Returns None when it has still to be made from packages.
    """
    require_one_path(pins.REPO, "of this repository, ")
    if options.toolchain:
        own_toolchain = check_toolchain(Path(options.toolchain))
        if not options.checkout:
            raise UserError("--toolchain needs --checkout",
                            "give the folder that holds a swift-6.2.3-RELEASE swift/")
        return Workspace("/", own_toolchain, check_checkout(options.checkout), False)
    cache = pins.cache()
    toolchain = pins.load()["distribution"]["toolchain"]
    parts = {cache / "root": f"{toolchain[1:]}/bin/swiftc", cache / "source": "swift/.git"}
    if not all(path.is_dir() for path in parts):
        return None
    for path, needed in parts.items():
        if not os.path.lexists(path / needed):
            raise UserError(f"{path} is not whole: it has no {needed}", renewal(path))
    sources = check_checkout(options.checkout) if options.checkout else cache / "source"
    return Workspace(cache / "root", toolchain, sources, True)


def require_one_path(folder, what=""):
    """UserError where the loader would take the path of `folder`, in LD_LIBRARY_PATH, for two."""
    for sign, name in ((":", "colon"), (";", "semicolon")):
        if sign in str(folder):
            raise UserError(f"the path {what}{folder}{',' * bool(what)} holds a {name}",
                            f"{name}s separate library paths: move it elsewhere")


def renewal(path):
    """The commands that make the damaged part of the cache at `path` anew."""
    return f"rm -r {shlex.quote(str(path))} && utils/update-checkout"


def check_toolchain(usr):
    """Raises UserError unless `usr` is the usr folder of a toolchain of our version."""
    wanted = pins.load()["swift"]["version"]
    swiftc = usr / "bin" / "swiftc"
    hint = f"give the usr folder of a Swift {wanted} toolchain, or leave --toolchain out"
    if not swiftc.exists():
        raise UserError(f"{usr} is not a toolchain: it has no bin/swiftc", hint)
    try:
        text = subprocess.run([swiftc, "--version"], capture_output=True, text=True,
                              timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{swiftc} does not run: {error}", hint) from None
    found = re.search(r"Swift version (\S+)", text)
    if not found or found[1] != wanted:
        raise UserError(f"the toolchain {usr} is Swift "
                        f"{found[1] if found else 'of no known version'}, not {wanted}",
                        hint)
    return usr.resolve()


def check_checkout(folder, any_version=False):
    """Raises UserError unless folder/swift is a git checkout of our Swift version, or of
    any version where that is enough."""
    wanted = pins.load()["swift"]["version"]
    folder = Path(folder)
    swift = folder / "swift"
    if not swift.is_dir():
        hint = "give the folder that holds swift/"
        if (folder / "stdlib").is_dir():
            hint += f": {folder.resolve().parent}"
        raise UserError(f"{folder} is not a Swift workspace: it has no swift/", hint)
    defaults = swift / "utils" / "build_swift" / "build_swift" / "defaults.py"
    try:
        found = re.search(r"SWIFT_USER_VISIBLE_VERSION = Version\('([^']+)'\)",
                          defaults.read_text())
    except OSError:
        found = None
    if not found or not (swift / "stdlib" / "public" / "Concurrency").is_dir():
        raise UserError(f"{swift} is not a checkout of Swift",
                        f"check out {pins.load()['swift']['tag']} there")
    if found[1] != wanted and not any_version:
        raise UserError(f"{swift} is Swift {found[1]}, not {wanted}",
                        f"git -C {swift} checkout {pins.load()['swift']['tag']}")
    if not (swift / ".git").exists():
        raise UserError(f"{swift} is not a git checkout",
                        "the series is applied as commits: give a git clone")
    return folder.resolve()


def remove(path):
    """Removes a folder that may hold read-only ones; never crosses a mount. Nobody sees
    half of it: it gets another name first, by which `doctor --clean old` finds it."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        if not path.name.endswith(".partial"):
            whole, path = path, path.with_name(path.name + ".removed.partial")
            remove(path)
            whole.rename(path)
        subprocess.run(["chmod", "-R", "u+rwX", str(path)], check=False,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--one-file-system", str(path)], check=True)


def free_gb(path):
    """Free space in GB where `path` is or will be."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free / 1e9
