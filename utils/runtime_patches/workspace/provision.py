"""Makes the workspace from the distribution's packages, which sources.json names: utils/update-checkout."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..base import files, locks, pins
from ..base.errors import UserError
from ..base.git import Git, identity
from ..base.process import run_logged
from ..base.progress import Step, note
from . import find, sandbox
from .find import Workspace

_TEMPORARY = "swift-runtime-patches-"
_OWN = "or give --checkout DIR --toolchain DIR, which download nothing"


def ready(options: Namespace | SimpleNamespace) -> Workspace:
    """The workspace for `options` (.checkout, .toolchain); it is made first if it is missing."""
    place = (options.checkout, options.toolchain)
    found = find.find(*place)
    if found:
        return found
    check_tools()
    try:
        pins.cache_root().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the cache {pins.cache_root()} cannot be made: {error.strerror}"
        raise UserError(what, "set XDG_CACHE_HOME to a folder that you can write to") from None
    with locks.exclusive(pins.cache_root()):
        if not find.find(*place):
            _make()
    made = find.find(*place)
    assert made
    return made


def check_tools() -> None:
    """UserError if a program is missing that makes the workspace."""
    for tool, package in (("mmdebstrap", "mmdebstrap"), ("apt-get", "apt"), ("git", "git"), ("tar", "tar")):
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin"):
            raise UserError(f"{tool} is not installed", f"sudo apt install {package}; {_OWN}")
    sandbox.bwrap()
    if os.geteuid() != 0:
        for tool in ("newuidmap", "newgidmap"):
            if not shutil.which(tool):
                raise UserError(f"{tool} is not installed", "sudo apt install uidmap")
        import getpass

        user = str(os.getuid())
        with contextlib.suppress(KeyError, OSError):  # it may have no name
            user = getpass.getuser()
        for path in ("/etc/subuid", "/etc/subgid"):
            text = Path(path).read_text() if os.path.exists(path) else ""
            if not any(line.split(":")[0] in (user, str(os.getuid())) for line in text.splitlines()):
                what = f"{path} has no line for the user {user}"
                raise UserError(what, f"sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}")


def _make() -> None:
    """Makes the root file system and the sources in the cache; UserError if the disk has no room for them."""
    pin, cache = pins.load(), pins.cache()
    needs = pin.needs
    price = f"about {needs.minutes} min and {needs.disk_gb} GB in all, once for all clones"
    note(f"Setting up Swift {pin.swift.version} in {cache}: {price}.")
    others = [p.name for p in pins.cache_root().glob("*") if p.is_dir() and p.name != cache.name]
    old = f"remove caches of other versions ({', '.join(others)}) or " if others else ""
    has_root = (cache / "root").is_dir()
    _require_space(cache, needs.disk_gb / (1 + has_root), f"{old}set XDG_CACHE_HOME")
    if os.geteuid() != 0 and not has_root:
        # mmdebstrap unpacks there what goes to the cache (see bootstrap).
        _require_space(Path(tempfile.gettempdir()), needs.disk_gb / 2, "set TMPDIR")
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "pins.json").write_text(json.dumps(pins.as_json(), indent=2))
    for name, title, make in (
        ("root", "root file system from packages (2-4 min)", _make_root),
        ("source", "sources (1 min)", _make_source),
    ):
        if not (cache / name).is_dir():
            with Step(title), files.replaced(cache / name) as partial:
                make(pin, cache, partial)
                record(partial)


def _require_space(folder: Path, wanted: float, hint: str) -> None:
    if (free := files.free_gb(folder)) < wanted:
        what = f"{free:.1f} GB are free in {folder}, {wanted:.1f} are needed"
        raise UserError(what, f"{hint} to a folder on a larger disk")


def _mirror(suite: str) -> list[str]:
    """The host's own Debian mirror if it answers for `suite`, else mmdebstrap's default.

    A machine behind a proxy or without a way to the world reaches its own mirror only.
    """
    import urllib.request  # which takes 25 ms to import

    argv = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Origin: Debian"]
    listing = subprocess.run(argv, capture_output=True, text=True).stdout
    seen = dict.fromkeys(line.split()[0] for line in listing.splitlines() if "-security" not in line)
    for uri in seen:
        if not uri.startswith("http"):
            continue
        with contextlib.suppress(OSError, ValueError):  # URLError is an OSError
            urllib.request.urlopen(f"{uri.rstrip('/')}/dists/{suite}/InRelease", timeout=20).close()
            return [uri]
    return []


def _make_root(pin: SimpleNamespace, cache: Path, target: Path) -> None:
    """Installs the packages into the folder `target`; by name and version, signatures checked."""
    dist = pin.distribution
    packages = [*dist.pinned_packages, *dist.packages]
    excludes = ["/usr/lib/python3/dist-packages/*/tests/*"]
    hints = _package_hints(dist)
    bootstrap(cache, target, dist.suite, dist.architecture, packages, log="root", hints=hints, excludes=excludes)
    # Mount points for the files of the host.
    for name in ("resolv.conf", "hosts"):
        (target / "etc" / name).touch()
    if os.geteuid() != 0:
        subprocess.run(["chmod", "-R", "u+rwX", str(target)], check=True)


def bootstrap(
    cache: Path,
    target: Path,
    suite: str,
    architecture: str,
    packages: Iterable[str],
    *,
    log: str,
    hints: Iterable[tuple[str, str, str]] = (),
    excludes: Iterable[str] = (),
    variant: str = "apt",
) -> None:
    """Puts packages and what they depend on into the empty folder `target` of a cache; variant: mmdebstrap's: "apt"
    installs them, "extract" only unpacks them."""
    paths = [*(f"/usr/share/{name}/*" for name in ("man", "doc", "info", "locale")), *excludes]
    args = [
        *("mmdebstrap", f"--variant={variant}", f"--architectures={architecture}"),
        f"--include={','.join(packages)}",
        # A mirror may lag behind, and sid's Release files expire within a week.
        *('--aptopt=Acquire::Check-Valid-Until "false"', '--aptopt=Acquire::Retries "3"'),
        *(f"--dpkgopt=path-exclude={path}" for path in paths),
    ]
    target.chmod(0o755)  # apt's own user enters it, whatever our umask is
    places = [suite, target, *_mirror(suite)]
    if os.geteuid() == 0:
        # In a name space of its own: if it is killed, its mounts go, too.
        argv = ["unshare", "--mount", *args, "--mode=root", "--format=directory", *map(str, places)]
    else:
        # A tar file is unpacked as the user's own files: no other owners, so that the cache can be removed
        # without privileges.
        places[1] = "-"
        line = shlex.join(map(str, [*args, "--mode=unshare", "--format=tar", *places]))
        unpack = f"tar -x -C {shlex.quote(str(target))} --no-same-owner --exclude='./dev/*'"
        argv = ["bash", "-o", "pipefail", "-c", f"{line} | {unpack}"]
    try:
        env = {**os.environ, "TMPDIR": str(_make_temporary(cache))}
        run_logged(argv, log, failed="the packages could not be installed", hints=hints, env=env)
    finally:
        remove_temporary(cache)


def _make_temporary(cache: Path) -> Path:
    """A temporary folder for mmdebstrap. cache/temporary links to it, so that the next run
    can remove what a killed one left; it is not in the cache itself, because mmdebstrap's
    user of its name space may be unable to enter the user's home."""
    remove_temporary(cache)
    folder = Path(tempfile.gettempdir(), _TEMPORARY + os.urandom(8).hex())
    (cache / "temporary").symlink_to(folder)
    folder.mkdir()
    folder.chmod(0o711)
    return folder


def remove_temporary(cache: Path) -> None:
    """Removes what a killed set-up of the cache in this folder left in the temporary folder."""
    link = cache / "temporary"
    if not link.is_symlink():
        return
    folder = link.readlink()
    if not folder.name.startswith(_TEMPORARY):
        raise UserError(f"{link} does not lead to a folder of a set-up", f"rm {link}")
    # After a restart of the system anybody may have made one of this name.
    if os.path.lexists(folder) and (folder.is_symlink() or folder.lstat().st_uid != os.geteuid()):
        link.unlink()
        return
    left = list(folder.glob("*"))
    if left and os.geteuid() != 0:
        # They hold files of other users of a name space.
        argv = ["mmdebstrap", "--unshare-helper", "find", *map(str, left), "-xdev", "-mindepth", "1", "-delete"]
        subprocess.run(argv, cwd="/", stderr=subprocess.DEVNULL)
    shutil.rmtree(folder, ignore_errors=True)
    link.unlink()


def _package_hints(dist: SimpleNamespace) -> list[tuple[str, str, str]]:
    gone = f"the package archive no longer has swiftlang {dist.source_version}"
    return [
        (r"Version '.*' for '?swift.* was not found|Can't find a source", gone, f"sid moves on: {_OWN[3:]}"),
        *archive_hints(f"check the network, {_OWN}"),
    ]


def archive_hints(unreachable: str) -> list[tuple[str, str, str]]:
    """Hints for run_logged about any package archive; unreachable: what to do where there is none."""
    no_network = "Temporary failure resolving|Could not (resolve|connect)|Network is unreachable|Connection timed out"
    unsigned, keys = "the archive's signature cannot be checked", "sudo apt install debian-archive-keyring"
    return [
        (f"{no_network}|Failed to fetch", "the package archive cannot be reached", unreachable),
        (r"NO_PUBKEY|not signed|GPG error", unsigned, keys),
    ]


def record(part: Path) -> None:
    """Writes the record of all files of a part of the cache, for doctor. It leaves .git out: git checks that itself."""
    found = []
    for folder, folders, names in os.walk(part):
        folders[:] = [name for name in folders if name != ".git"]
        found += [Path(folder, name) for name in names + folders]
    files.write_intact(part / files.MADE, {}, [path for path in found if path.is_symlink() or path.is_file()])


def _make_source(pin: SimpleNamespace, cache: Path, target: Path) -> None:
    """Fetches the distribution's source package into the folder `target`: the whole Swift workspace."""
    archive = _fetch_source(pin, cache, target / "download")
    excludes = [f"--exclude={pattern}" for pattern in pin.source_excludes]
    unpack = ["tar", "-xf", archive, "-C", target, "--strip-components=1", "--no-same-owner", *excludes]
    command, hints = sandbox.command(cache / "root", unpack, binds=[cache]), _package_hints(pin.distribution)
    run_logged(command, "unpack", failed="the sources could not be unpacked", hints=hints)
    shutil.rmtree(target / "download")
    _commit_source(pin, target / "swift")


def _fetch_source(pin: SimpleNamespace, cache: Path, download: Path) -> Path:
    """Downloads the .orig archive (apt checks its signed hash) and checks our pin."""
    dist = pin.distribution
    script = f"apt-get source --download-only {shlex.quote(f'{dist.source}={dist.source_version}')}"
    failed = "the sources could not be downloaded"
    apt(cache, download, "deb-src", script, log="source", failed=failed, hints=_package_hints(dist))
    archive: Path = download / dist.orig
    if not archive.is_file():
        what = f"apt-get succeeded, but there is no {dist.orig}"
        raise UserError(what, f"the archive may have other sources: {_OWN[3:]}")
    if files.sha256(archive) != dist.orig_sha256:
        what = f"{dist.orig} does not have the pinned checksum"
        raise UserError(what, f"the archive was altered, cut off or replaced: the same command tries again; {_OWN}")
    return archive


def apt(cache: Path, download: Path, kind: str, script: str, *, log: str, **told: Any) -> None:
    """Runs a script in the folder `download` of a cache, with an apt that knows only one kind of packages, "deb" or
    "deb-src", of the root's archive. told: what run_logged says if it fails."""
    root = cache / "root"
    config = _apt_config(root, download, kind)
    user = [] if os.geteuid() == 0 else ["--unshare-user", "--uid", "0", "--gid", "0"]
    argv = ["sh", "-c", f"apt-get update && {script}"]
    command = sandbox.command(root, argv, binds=[cache], cwd=download, extra=user)
    run_logged(command, log, env={**os.environ, "APT_CONFIG": str(config)}, **told)


def _apt_config(root: Path, download: Path, kind: str) -> Path:
    """The file of an apt that works in `download` alone, with the sources of `root`. kind: deb, or deb-src."""
    for name in ("lists/partial", "archives/partial", "parts"):
        (download / name).mkdir(parents=True)
    apt = root / "etc" / "apt"
    lines = []
    for path in [apt / "sources.list", *(apt / "sources.list.d").glob("*.list")]:
        if path.exists():
            lines += [re.sub(r"^deb\b", kind, line) for line in path.read_text().splitlines()]
    (download / "sources.list").write_text("\n".join(lines) + "\n")
    for path in (apt / "sources.list.d").glob("*.sources"):
        (download / "parts" / path.name).write_text(re.sub(r"(?m)^Types:.*", f"Types: {kind}", path.read_text()))
    options = {
        "Dir::State::lists": download / "lists",
        "Dir::Cache::archives": download / "archives",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "Dir::Etc::sourcelist": download / "sources.list",
        "Dir::Etc::sourceparts": download / "parts",
        "APT::Sandbox::User": "root",
        "Acquire::Check-Valid-Until": "false",
        "Acquire::Retries": "3",
        "Acquire::Languages": "none",
    }
    config = download / "apt.conf"
    config.write_text("".join(f'{k} "{v}";\n' for k, v in options.items()))
    return config


def _commit_source(pin: SimpleNamespace, swift: Path) -> None:
    """Makes swift/ a git checkout whose only commit has upstream's tag."""
    env = Git(swift).env | identity("Swift", "swift@localhost", "2025-12-01T00:00:00Z")
    tag = pin.swift.tag
    # One file for all objects: clones link it instead of 30,000.
    pack = ["repack", "-a", "-d", "-q", "--window=0"]
    for args in (["init", "-q", "-b", "main"], ["add", "-A", "-f"], ["commit", "-q", "-m", tag], ["tag", tag], pack):
        # `gc` would run in a session of its own, and outlive a set-up that is killed.
        argv = ["git", "-c", "core.autocrlf=false", "-c", "gc.auto=0", *args]
        run_logged(argv, "commit", cwd=swift, env=env, failed="the sources could not be committed")
