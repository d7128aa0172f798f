"""Which packages there are, and where their sources lie: build-script-config/clients.json, or a folder of yours."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base import files, locks, schema
from ..base.errors import BadUsage, UserError
from ..base.paths import CONFIG, shown
from ..base.process import captured
from ..base.progress import note

_FILE = CONFIG / "clients.json"


@dataclasses.dataclass(frozen=True)
class Package:
    """One line of clients.json. Without a URL the sources of the workspace hold it. skip: {regular expression of tests
    that are left out: why}. edits: {file: [text, its replacement]}. parallel: see Bundle."""

    name: str
    minutes: float = 1
    url: str = ""
    tag: str = ""
    commit: str = ""
    parallel: bool = False
    skip: dict[str, str] = dataclasses.field(default_factory=dict)
    edits: dict[str, list[str]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Checkout:
    """A Package that is on this machine. stable: nobody edits it, so that a build of it can be kept."""

    package: Package
    folder: Path
    stable: bool

    @property
    def name(self) -> str:
        return self.package.name


def load(path: Path = _FILE) -> dict[str, Package]:
    """{name: Package} of the descriptions; UserError if the file is damaged."""
    hint = f"git checkout -- {shown(path)}"
    described = files.read_json(path, hint)
    found = described.get("packages") if isinstance(described, dict) else None
    if not isinstance(found, dict) or not all(isinstance(fields, dict) for fields in found.values()):
        raise UserError(f"{path} is damaged: packages is missing or wrong", hint)
    known = [field.name for field in dataclasses.fields(Package)]
    packages = {}
    for name, fields in found.items():
        if unknown := set(fields) - set(known):
            what = f"{path}: {name} has the unknown setting '{min(unknown)}'"
            raise UserError(what, f"settings are {', '.join(known)}")
        if len({bool(fields.get(part)) for part in ("url", "tag", "commit")}) > 1:
            raise UserError(f"{path}: {name} needs url, tag and commit together", hint)
        packages[name] = schema.checked(Package, {"name": name, **fields}, path, hint)
    return packages


def choose(names: Sequence[str], folder: Path | None = None) -> list[Package | Path]:
    """[Package or folder] that the command line asks for: names, and the folder of --packages."""
    packages = load()
    if folder is not None:
        return _given(names, folder, packages)
    if not names:
        return [package for package in packages.values() if not package.url]
    return [_named(name, packages) for name in names]


def _named(name: str, packages: Mapping[str, Package]) -> Package:
    found = packages.get(name) or packages.get(f"swift-{name}")
    if not found:
        if Path(name).is_dir():
            raise BadUsage(f"no package '{name}' is described", f"for a folder: utils/run-clients --packages {name}")
        raise BadUsage(f"no package '{name}' is described", "there are " + ", ".join(packages))
    return found


def is_package(folder: Path) -> bool:
    """Whether SwiftPM takes `folder` for a package."""
    return (folder / "Package.swift").is_file()


def _given(names: Sequence[str], folder: Path, packages: Mapping[str, Package]) -> list[Package | Path]:
    """What --packages DIR has of `names`, or all in it; BadUsage for a name that neither it nor `packages` has."""
    if not folder.is_dir():
        raise UserError(f"--packages {folder}: no such folder", "give a package, or a folder that holds packages")
    folder = folder.resolve()
    if is_package(folder):
        if names:
            what = f"--packages {folder} is a package itself, and {names[0]} is named, too"
            raise BadUsage(what, "name packages where the folder holds several")
        return [folder]
    inside = {path.name: path for path in sorted(folder.iterdir()) if is_package(path)}
    if not inside:
        what = f"{folder} is no package, and holds none: no Package.swift"
        raise UserError(what, "give a package, or a folder that holds packages")
    if not names:
        return list(inside.values())
    for name in names:
        if not {name, f"swift-{name}"} & {*inside, *packages}:
            raise BadUsage(f"there is no package '{name}' in {folder}", "it holds " + ", ".join(inside))
    return [inside.get(name) or inside.get(f"swift-{name}") or _named(name, packages) for name in names]


def checkout(chosen: Package | Path, sources: Path, cache: Path) -> Checkout:
    """The Checkout of a Package, which is fetched if it has a URL, or of a folder.

    sources: the folder of the workspace's sources; cache: where fetched ones are kept.
    """
    if isinstance(chosen, Path):
        return Checkout(Package(chosen.name), chosen, False)
    if chosen.url:
        folder, stable = _fetched(chosen, cache), True
    else:
        folder, stable = sources / chosen.name, sources.parent == cache.parent
        if not is_package(folder):
            what = f"the sources have no package {chosen.name}: {folder}"
            raise UserError(what, "--checkout names a folder that has it beside swift/, --packages one with packages")
    return Checkout(chosen, folder, stable)


def _fetched(package: Package, cache: Path) -> Path:
    """The folder with `package` at its pinned commit, which is fetched if it is not there."""
    folder = cache / "checkouts" / f"{package.name}-{package.tag}-{package.commit[:12]}" / package.name
    if is_package(folder):
        return folder
    with locks.exclusive(cache):
        if is_package(folder):
            return folder
        with files.replaced(folder.parent) as partial:
            note(f"==> fetching {package.name} {package.tag}")
            place = partial / package.name
            clone = ("clone", "--quiet", "--depth=1", "--recurse-submodules", "--branch", package.tag)
            _git(package, *clone, package.url, str(place), timeout=300)
            found = _git(package, "-C", str(place), "rev-parse", "HEAD").strip()
            if found != package.commit:
                what = f"{package.name} {package.tag} is commit {found[:12]}, not the pinned {package.commit[:12]}"
                hint = "the tag was moved: look at the change, then pin it in build-script-config/clients.json"
                raise UserError(what, hint)
    return folder


def _git(package: Package, *argv: str, timeout: float = 30) -> str:
    hint = f"check the network, or give --packages DIR, which holds a checkout of {package.tag} in DIR/{package.name}"
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    command = ["git", "-c", "advice.detachedHead=false", *argv]
    try:
        done = captured(command, env=env, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise UserError(f"{package.name} {package.tag} was not fetched within {timeout} s", hint) from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if re.match("(fatal|error|remote):", line)]
        reason = said[0] if said else f"git's exit status {done.returncode}"
        raise UserError(f"{package.name} {package.tag} cannot be fetched: {reason}", hint)
    return done.stdout
