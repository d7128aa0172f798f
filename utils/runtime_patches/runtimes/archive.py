"""Packs what is shipped: the same files give the same bytes, on any machine."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Union

from ..base import files, pins
from ..base.architectures import Architecture
from ..base.errors import UserError
from ..base.paths import BUILD, REPO, SHIPPED
from ..base.progress import Step, note
from ..series import dispatch, series
from ..workspace import sysroot
from ..workspace.find import Workspace
from . import elf, gates
from .package import Package

FOLDER = BUILD / "package"
# Of all files: 2026-01-01. tar warns of files from 1970.
_TIME = 1767225600


def make(package: Package) -> tuple[Path, Path]:
    """Checks the finished files of a built Package and packs them; returns the archive, and that of debug symbols."""
    if package.edits:
        hint = "utils/export-patches, or git stash in the checkout; utils/build-runtime package builds it as it is"
        raise UserError(f"the checkout has what patches/ has not: {package.edits}", hint)
    name = name_for(package.architecture)
    with Step("checks"):
        stock = package.target.lib / "swift" / "linux"
        built = {str(path.relative_to(package.out)): path for path in package.out.glob("*/*")}
        found = list(gates.folders(built, (REPO, package.ws.cache)))
        found += gates.faults(package.ws, package.libraries(), stock, package.architecture, sysroot.LIMITS)
        for line in found:
            note(f"    {line}")
        if found:
            raise UserError(f"the libraries cannot be shipped: {found[0]}", "the lines above name all that is wrong")
    with Step(f"archives in {FOLDER}"):
        FOLDER.mkdir(parents=True, exist_ok=True)
        made = _pack(package.ws, name, _content(package))
        debug = {f"debug/{path.name}": path for path in sorted((package.out / "debug").iterdir())}
        extra = _pack(package.ws, f"{name}-debug", debug)
        sums = "".join(f"{files.sha256(path)}  {path.name}\n" for path in sorted(FOLDER.glob("*.tar.gz")))
        files.write(FOLDER / "SHA256SUMS", sums)
    return made, extra


def name_for(architecture: Architecture) -> str:
    """The name of the archive, without .tar.gz, and of the folder in it."""
    return f"swift-runtime-patches-{series.load().version}-{architecture.name}"


def _content(package: Package) -> dict[str, Path | bytes]:
    content: dict[str, Union[Path, bytes]] = {
        "LICENSE": REPO / "LICENSE",
        "bin/swift-runtime-check": SHIPPED / "swift-runtime-check",
        "install.sh": SHIPPED / "install.sh",
    }
    for part in ("lib", "static"):
        content |= {f"{part}/{path.name}": path for path in sorted((package.out / part).iterdir())}
    return with_lists(content, _facts(package))


def with_lists(content: Mapping[str, Path | bytes], facts: Mapping[str, Any]) -> dict[str, Path | bytes]:
    """The content of a package with its manifest.json, which tells `facts`, and SHA256SUMS."""
    listed = {path: _sum(what) for path, what in sorted(content.items())}
    manifest = json.dumps({**facts, "files": listed}, indent=2) + "\n"
    content = {**content, "manifest.json": manifest.encode()}
    sums = "".join(f"{_sum(what)}  {path}\n" for path, what in sorted(content.items()))
    return dict(sorted({**content, "SHA256SUMS": sums.encode()}.items()))


def _facts(package: Package) -> dict[str, Any]:
    """What manifest.json tells. install.sh reads it, a value in a line."""
    read = [elf.read(package.ws, path) for path in package.libraries().values()]
    compiler = package.ws.output(["swiftc", "--version"]).splitlines()
    return {
        "format": 1,
        "swift": pins.load().swift.version,
        "version": series.load().version,
        "series": series.load().state,
        "patches": package.state.applied,
        "dispatch": dispatch.load().names,
        "architecture": package.architecture.name,
        "processor": package.architecture.processor,
        "compiler": next(line for line in compiler if "Swift version" in line),
        "system": f"Debian {sysroot.SUITE}",
        **{family: elf.newest(read, family) for family in sysroot.LIMITS},
        "rule": "all shared libraries together, or none; so the static ones",
    }


def _sum(what: Path | bytes) -> str:
    return hashlib.sha256(what).hexdigest() if isinstance(what, bytes) else files.sha256(what)


def _pack(ws: Workspace, name: str, content: Mapping[str, Path | bytes]) -> Path:
    """Writes {path: file, or bytes} to FOLDER/NAME.tar.gz, below a folder NAME."""
    target, partial = FOLDER / f"{name}.tar.gz", FOLDER / f"{name}.tar.gz.partial"
    with tempfile.TemporaryFile() as tar, open(partial, "wb") as out:
        write_tar(tar, name, content)
        tar.seek(0)
        # The workspace's gzip: others compress to other bytes.
        ws.run(["gzip", "-n", "-9"], stdin=tar, stdout=out)
    partial.replace(target)
    return target


def write_tar(out: IO[bytes], name: str, content: Mapping[str, Path | bytes]) -> None:
    """Writes {path: file, or bytes} as a tar file: sorted, of nobody, with one time."""
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        folders = {str(parent) for path in content for parent in Path(name, path).parents if str(parent) != "."}
        for folder in sorted(folders):
            tar.addfile(_entry(folder, 0o755, tarfile.DIRTYPE))
        for path, what in sorted(content.items()):
            data = what if isinstance(what, bytes) else what.read_bytes()
            is_program = path.endswith((".so", ".sh")) or path.startswith("bin/")
            entry = _entry(f"{name}/{path}", 0o755 if is_program else 0o644, tarfile.REGTYPE)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


def _entry(path: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path)
    entry.mode, entry.type, entry.mtime = mode, kind, _TIME
    return entry
