"""Runs commands inside the workspace's root file system, with bubblewrap.

Folders of the host are seen at their own paths; the root file system itself is
read-only, so that no command can alter the cache that all clones share.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ..base.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NoReturn, Union

    Folder = Union[Path, str]
    Folders = Iterable[Folder]  # which are seen at their own paths, read and write
    Places = Iterable[tuple[Folder, Folder]]  # pairs (folder of the host, path inside)

_HOST_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/passwd", "/etc/group"]


def mounts(root: Folder, binds: Folders, fixed: Places = ()) -> list[str]:
    """The bubblewrap options for `root` (a folder; "/" is the host itself)."""
    args = ["--tmpfs", "/", "--dir", "/var"]
    children = _children(Path(root), "/", "--ro-bind" if str(root) != "/" else "--bind")
    system = children[2::3]
    args += children
    args += ["--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev", "--ro-bind-try", "/sys", "/sys"]
    if str(root) != "/":
        for path in _HOST_FILES:
            if os.path.exists(str(root) + path):
                args += ["--ro-bind-try", os.path.realpath(path), path]
    seen: list[str] = []
    wanted = {os.path.realpath(p) for p in ["/tmp", "/var/tmp", os.environ.get("TMPDIR", "/tmp"), *map(str, binds)]}
    for path in sorted(wanted):
        # A folder below another one comes along with it.
        inside = any(path == p or path.startswith(p + "/") for p in seen)
        if path == "/" or inside or not os.path.isdir(path):
            continue
        if any(own == path or own.startswith(path + "/") for own in system):
            continue  # it would hide the system's
        if str(root) != "/" and any(path.startswith(own + "/") for own in system):
            what = f"{path} cannot be seen inside the workspace: the toolchain has a system folder of its own there"
            raise UserError(what, "work in a folder elsewhere, such as one below /home, /opt or /usr/local")
        seen.append(path)
        args += ["--bind", path, path]
    for outside, place in fixed:
        args += ["--bind", str(outside), str(place)]
    return args


def _children(root: Path, prefix: str, bind: str) -> list[str]:
    """Binds each entry of root/prefix by itself, which leaves room for folders
    of the host beside them (bubblewrap cannot make a folder in a read-only one)."""
    host = str(root) == "/"
    args = []
    for entry in sorted(os.scandir(root / prefix.lstrip("/")), key=lambda e: e.name):
        path = os.path.join(prefix, entry.name)
        if entry.is_symlink():
            args += ["--symlink", os.readlink(entry.path), path]
        elif path in ("/dev", "/proc", "/sys") or not entry.is_dir() or path == "/usr/local" and not host:
            continue
        elif host or path == "/etc" or prefix == "/usr" and any(os.scandir(entry.path)):
            args += [bind, entry.path, path]
        elif path == "/usr":
            args += _children(root, "/usr", bind)
    return args


def bwrap() -> str:
    """The path of bubblewrap, or a UserError that names the package."""
    for folder in os.environ.get("PATH", os.defpath).split(":") + ["/usr/bin"]:
        path = os.path.join(folder, "bwrap")
        if os.access(path, os.X_OK):
            return path
    raise UserError("bubblewrap (bwrap) is not installed", "sudo apt install bubblewrap")


def command(
    root: Path,
    argv: Iterable[object],
    *,
    binds: Folders = (),
    fixed: Places = (),
    cwd: Folder | None = None,
    extra: Iterable[str] = (),
) -> list[str]:
    """The command line that runs argv inside; the child dies with its parent."""
    options = [*mounts(root, binds, fixed), *extra, "--chdir", str(cwd or "/")]
    return [bwrap(), "--die-with-parent", *options, "--", *map(str, argv)]


def become(root: Path, argv: list[str], *, binds: Folders, cwd: Folder, env: Mapping[str, str]) -> NoReturn:
    """Replaces this process by argv inside; does not return.

    bubblewrap would stay between the caller and argv, and swallow signals. So it
    only builds the mount name space; this process joins that and calls exec.
    """
    ready_read, ready_write = os.pipe()
    hold_read, hold_write = os.pipe()
    script = "echo $$; exec >&-; read x"
    argv_of_holder = [bwrap(), *mounts(root, binds), "--", "/bin/sh", "-c", script]
    # Not by subprocess: its import takes longer than all that is done here.
    streams = [(os.POSIX_SPAWN_DUP2, hold_read, 0), (os.POSIX_SPAWN_DUP2, ready_write, 1)]
    holder = os.posix_spawn(argv_of_holder[0], argv_of_holder, os.environ, file_actions=streams)
    os.close(ready_write)
    os.close(hold_read)
    with os.fdopen(ready_read) as ready:
        pid = ready.readline().strip()  # bubblewrap keeps its own copy of the stream
    if not pid:
        os.waitpid(holder, 0)
        raise UserError(
            "bubblewrap could not make the workspace's mounts",
            "its message, if any, is above: unprivileged user name spaces may be off; "
            "utils/doctor checks the root file system",
        )
    _join(pid)
    os.close(hold_write)
    os.waitpid(holder, 0)
    try:
        os.chdir(cwd)
    except OSError as error:
        what = f"the folder {cwd} cannot be entered inside the workspace ({error.strerror})"
        raise UserError(what, "--bind DIR makes a folder visible") from None
    for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, env)
    except FileNotFoundError:
        hint = "give its path, and --bind its folder if that is not below this folder or the temporary folder"
        raise UserError(f"no command '{argv[0]}' inside the workspace", hint, 127) from None
    except OSError as error:
        hint = f"chmod +x {argv[0]}" if "/" in argv[0] else "utils/doctor names what is damaged"
        raise UserError(f"'{argv[0]}' cannot be executed: {error.strerror}", hint, 126) from None


def _join(pid: str) -> None:
    """Enters the user and mount name spaces of process pid."""
    import ctypes
    import fcntl

    libc = ctypes.CDLL(None, use_errno=True)
    newuser, newns, get_userns = 0x10000000, 0x00020000, 0xB701
    mount = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    owner = fcntl.ioctl(mount, get_userns)
    try:
        failed = False
        if not os.path.samestat(os.fstat(owner), os.stat("/proc/self/ns/user")):
            failed = libc.setns(owner, newuser)
        if failed or libc.setns(mount, newns):
            reason = os.strerror(ctypes.get_errno())
            hint = "unprivileged user name spaces may be off on this system"
            raise UserError(f"cannot enter the workspace: {reason}", hint)
    finally:
        os.close(owner)
        os.close(mount)
