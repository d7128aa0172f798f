"""Builds the tests of a package, with the toolchain's own runtime.

A package is built from a copy of its folder that consists of links, so that nothing is written there. Only its
manifests are real files: a few lines at their end take dependencies from folders of this machine.
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base import files, locks
from ..base.errors import UserError
from ..base.paths import BUILD
from ..base.process import run_logged
from ..base.progress import Step, note
from ..runtimes import variants
from ..runtimes.runtime import Runtime
from ..workspace.find import Workspace
from .description import Checkout, is_package

# libswiftCore needs libm, but ld.bfd wants it to be named where code that imports no C module rounds a number.
_MATHEMATICS = ("-Xlinker", "-lm")
_TELLS_DEPENDENCIES = (5, 6)  # the first tools version whose manifests can read their dependencies
_VERSION = 2  # of what this file does: if it changes, packages are built again
_MANIFEST = """

// From here on: added by utils/run-clients. Dependencies that lie on this machine are taken from there.
do {
  let local: [String: String] = %s
  func identity(_ location: String) -> String {
    let last = location.split(separator: "/").last.map(String.init) ?? location
    return (last.hasSuffix(".git") ? String(last.dropLast(4)) : last).lowercased()
  }
  var found: [Package.Dependency] = []
  for dependency in package.dependencies {
    switch dependency.kind {
    case .sourceControl(_, let location, _):
      if let path = local[identity(location)] {
        found.append(.package(path: path%s))
      } else if identity(location) != "swift-docc-plugin" {
        found.append(dependency)
      }
    case .fileSystem(let name, let path):
      let whole = path.hasPrefix("/") ? path : %s + "/" + path
      let place = local[identity(whole)] ?? whole
      if let name {
        found.append(.package(name: name, path: place%s))
      } else {
        found.append(.package(path: place%s))
      }
    default:
      found.append(dependency)
    }
  }
  package.dependencies = found
}
"""


def flavour(runtime: Runtime) -> str:
    """What the programs that run on `runtime` are compiled with: "", "asan" or "tsan"."""
    return runtime.variant if runtime.variant in variants.SANITIZERS else ""


def tests(ws: Workspace, checkout: Checkout, kind: str, locals_: Sequence[Path]) -> Path:
    """The path of the test bundle of a Checkout, compiled as `kind` (see flavour) wants it.

    locals_: folders that hold packages, the first first: dependencies are taken from there.
    """
    home = _home(ws, checkout, kind, locals_)
    # What the user may edit is built each time.
    stable = checkout.stable and all(folder.parent == ws.cache for folder in locals_)
    with locks.exclusive(home):
        if stable and files.is_intact(home / files.MADE):
            return _bundle(checkout, home)
        for old in [home / files.MADE, *(home / "build" / "debug").glob("*.xctest")]:
            old.unlink(missing_ok=True)
        build(ws, home, checkout, ["--build-tests"], locals_, kind=kind)
        bundle = _bundle(checkout, home)
        if stable:
            files.write_intact(home / files.MADE, {"package": checkout.name, "kind": kind}, [bundle])
    return bundle


def build(
    ws: Workspace,
    home: Path,
    checkout: Checkout,
    options: Sequence[str],
    locals_: Sequence[Path],
    *,
    kind: str = "",
    configuration: str = "debug",
) -> None:
    """Runs SwiftPM on a Checkout in folder `home`; UserError with the first error of the build."""
    package = overlay(home, checkout, locals_)
    if locals_ and (old := _too_old(checkout.folder)):
        note(
            f"note: the dependencies of {checkout.name} are fetched: its manifest has tools version {old}, and "
            "--packages and --offline can give them from 5.6 on"
        )
    tools = home / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    flags = [*_MATHEMATICS, *_stub(ws, tools)]
    if kind:
        flags += [f"--sanitize={variants.SANITIZERS[kind]}", *variants.LINK_OPTIONS]
    argv = ["swift", "build", *options, "--package-path", str(package), "--scratch-path", str(home / "build")]
    argv += ["--configuration", configuration, "--disable-sandbox", "--disable-dependency-cache"]
    for name in ("cache", "config", "security"):
        argv += [f"--{name}-path", str(home / "swiftpm" / name)]
    is_of_workspace = ws.sources and checkout.folder.parent == ws.sources
    env = ws.environment({"SWIFTCI_USE_LOCAL_DEPS": "1"} if is_of_workspace else {})
    log = f"clients-{checkout.name}{'-' * bool(kind)}{kind}"
    minutes = f" ({checkout.package.minutes:g} min)" if checkout.package.minutes >= 2 else ""
    what = "tests" if "--build-tests" in options else "programs"
    path = BUILD / "logs" / f"{log}.log"
    with Step(f"building the {what} of {checkout.name}{' for ' * bool(kind)}{kind}{minutes}", lambda: _progress(path)):
        try:
            command = ws.command([*argv, *flags], cwd=package, binds=[home, checkout.folder, *locals_])
            run_logged(command, log, env=env, failed=f"package {checkout.name} does not build")
        except UserError as error:
            raise _reason(error, checkout, package, path) from None


def _progress(path: Path) -> str:
    """What SwiftPM says in its log of its progress, as in `[12/345]`."""
    try:
        with open(path, "rb") as log:
            log.seek(max(0, os.path.getsize(path) - 4096))
            found = re.findall(r"(?m)^\[(\d+)/(\d+)\]", log.read().decode(errors="replace"))
    except OSError:
        found = []
    return ": {} of {}".format(*found[-1]) if found else ""


def _reason(error: UserError, checkout: Checkout, package: Path, log: Path) -> UserError:
    """The UserError that names the first error in `log`."""
    text = log.read_text(errors="replace") if log.exists() else ""
    # An error in a file tells more than that a command has failed.
    found = re.search(r"(?m)^(.+?:\d+:\d+): error: (.+)$", text)
    found = found or re.search(r"(?m)^(?:<unknown>:0: )?()error: ((?!.*: Invalid manifest \().+)$", text)
    if not found:
        return error
    if re.search(r"Could not resolve host|Failed to clone|Couldn.t fetch|unable to access|Network is unreach", text):
        if old := _too_old(checkout.folder):
            hint = f"its tools version is {old}: --packages and --offline can give dependencies from 5.6 on"
        else:
            hint = "check the network; --packages DIR with the dependencies in DIR, and --offline, need none"
        what = f"a dependency of {checkout.name} cannot be fetched: {found[2]}"
        return UserError(what, f"{hint}; the whole output is in {log}")
    where = f"{found[1].replace(str(package), str(checkout.folder))}: " if found[1] else ""
    return UserError(f"package {checkout.name} does not build: {where}{found[2]}", f"its whole output is in {log}")


def _home(ws: Workspace, checkout: Checkout, kind: str, locals_: Sequence[Path]) -> Path:
    name = f"{checkout.name}{'-' * bool(kind)}{kind}"
    if not checkout.stable:
        # The same name elsewhere is another package.
        place = files.digest(str(checkout.folder))[:8]
        return BUILD / "clients" / f"{name}-{place}"
    package = checkout.package
    parts = [_VERSION, str(checkout.folder), str(ws.toolchain), list(map(str, locals_))]
    parts += [package.edits] if package.edits else []
    key = files.digest(json.dumps(parts))[:12]
    return ws.cache / "clients" / f"{name}-{key}"


def overlay(home: Path, checkout: Checkout, locals_: Sequence[Path]) -> Path:
    """A folder like that of a Checkout, whose manifest takes dependencies from `locals_`."""
    places = home / "packages"
    local = {}
    for folder in locals_:
        for path in sorted(folder.iterdir()):
            if is_package(path) and path.resolve() != checkout.folder.resolve():
                local.setdefault(path.name.lower(), path)
    paths = {identity: places / path.name for identity, path in local.items()}
    for identity, path in local.items():
        _link(path, paths[identity], paths)
    _link(checkout.folder, places / checkout.name, paths)
    for name, (old, new) in checkout.package.edits.items():
        _edit(checkout.folder, places / checkout.name, Path(name), old, new)
    return places / checkout.name


def _edit(folder: Path, target: Path, name: Path, old: str, new: str) -> None:
    """Makes the link `name` in `target` a file of its own, with `new` instead of `old`."""
    for parent in reversed(list(name.parents)[:-1]):
        if (target / parent).is_symlink():
            (target / parent).unlink()
            (target / parent).mkdir()
            for path in (folder / parent).iterdir():
                (target / parent / path.name).symlink_to(path)
    text = (folder / name).read_text(encoding="utf-8")
    (target / name).unlink(missing_ok=True)
    (target / name).write_text(text.replace(old, new), encoding="utf-8")


def _link(folder: Path, target: Path, local: Mapping[str, Path]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    entries = {path.name: path for path in folder.iterdir() if path.name not in (".build", ".git", ".swiftpm")}
    for path in target.iterdir():
        if path.is_symlink() and (path.name not in entries or os.readlink(path) != str(entries[path.name])):
            path.unlink()
    for name, path in entries.items():
        if re.fullmatch(r"Package(@swift-[\d.]+)?\.swift", name):
            _manifest(path, target / name, local)
        elif name == "Package.resolved":
            if not (target / name).exists():
                (target / name).write_bytes(path.read_bytes())
        elif not os.path.lexists(target / name):
            (target / name).symlink_to(path)


def _manifest(path: Path, target: Path, local: Mapping[str, Path]) -> None:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    version = _tools_version(text)
    if version >= _TELLS_DEPENDENCIES:
        pairs = ", ".join(f"{json.dumps(name)}: {json.dumps(str(place))}" for name, place in sorted(local.items()))
        traits = ", traits: dependency.traits" if version >= (6, 1) else ""
        text += _MANIFEST % (f"[{pairs or ':'}]", traits, json.dumps(str(path.parent)), traits, traits)
    if not target.is_file() or target.read_text(encoding="utf-8", errors="surrogateescape") != text:
        target.unlink(missing_ok=True)
        target.write_text(text, encoding="utf-8", errors="surrogateescape")


def _tools_version(manifest: str) -> tuple[int, int]:
    found = re.match(r"\s*//\s*swift-tools-version:\s*(\d+)(?:\.(\d+))?", manifest)
    return (int(found[1]), int(found[2] or 0)) if found else (3, 1)


def _too_old(folder: Path) -> str:
    """The tools version of a package that wants others and whose manifest cannot be told where they are; or ""."""
    text = (folder / "Package.swift").read_text(encoding="utf-8", errors="replace")
    version = _tools_version(text)
    wants = re.search(r"\.package\s*\(\s*(name:[^,]*,\s*)?url:", text)
    return "{}.{}".format(*version) if wants and version < _TELLS_DEPENDENCIES else ""


def _stub(ws: Workspace, tools: Path) -> list[str]:
    """Options for the linker. The toolchain's Testing may ask for a library that the toolchain lacks."""
    libraries = ws.outside(ws.toolchain / "lib" / "swift" / "linux")
    if (libraries / "lib_Testing_Foundation.so").exists() or not (libraries / "libTesting.so").exists():
        return []
    archive = tools / "lib_Testing_Foundation.a"
    if not archive.exists():
        archive.write_bytes(b"!<arch>\n")  # an archive without members
    return ["-Xlinker", f"-L{tools}"]


def _bundle(checkout: Checkout, home: Path) -> Path:
    found = sorted((home / "build" / "debug").glob("*.xctest"))
    if not found:
        raise UserError(f"package {checkout.name} has no tests", "a package with a test target can be judged")
    return max(found, key=lambda path: path.stat().st_mtime)
