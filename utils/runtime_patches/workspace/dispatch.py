"""libdispatch for the older system. Users have it from their own toolchain; the distribution's needs a newer C library
than what is packed."""

from __future__ import annotations

from pathlib import Path

from ..base import files
from ..base.process import run_logged
from . import cached
from .find import Workspace
from .target import Target


def ensure(ws: Workspace, target: Target) -> Path:
    """The folder with libdispatch of a Target: shared/ has shared libraries, static/ archives."""
    name = target.architecture.name
    return cached.folder(
        ws,
        f"dispatch-{name}",
        f"libdispatch for {name} (40 s)",
        lambda place: _build(ws, target, place),
        *(_build, ws.toolchain, target.system.name),
    )


def _build(ws: Workspace, target: Target, place: Path) -> None:
    lines, ends = [], {"shared": (".so", "YES"), "static": (".a", "NO")}
    for kind, (_, shared) in ends.items():
        lines.append(
            f"cmake -G Ninja -S '{ws.sources}/swift-corelibs-libdispatch' -B build-{kind} -DCMAKE_BUILD_TYPE=Release"
            f" -DBUILD_SHARED_LIBS={shared} -DENABLE_SWIFT=NO -DBUILD_TESTING=NO -DENABLE_TESTING=NO"
            f" -DCMAKE_SYSROOT={target.places[0][1]} -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"
            " -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_BUILD_WITH_INSTALL_RPATH=YES"
            " '-DCMAKE_INSTALL_RPATH=$ORIGIN' -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER"
            f" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR={target.architecture.processor}"
            f" -DCMAKE_C_COMPILER={ws.toolchain}/bin/clang -DCMAKE_CXX_COMPILER={ws.toolchain}/bin/clang++"
            f" -DCMAKE_C_COMPILER_TARGET={target.triple} -DCMAKE_CXX_COMPILER_TARGET={target.triple}"
        )
        lines.append(f"ninja -C build-{kind} dispatch BlocksRuntime")
    run_logged(
        ws.command(["sh", "-c", " && ".join(lines)], cwd=place, fixed=target.places, binds=[place]),
        f"dispatch-{target.architecture.name}",
        env=ws.environment(),
        failed="libdispatch does not build",
    )
    for kind, (suffix, _) in ends.items():
        (place / kind).mkdir()
        for path in (place / f"build-{kind}").rglob(f"lib*{suffix}"):
            path.rename(place / kind / path.name)
        files.remove(place / f"build-{kind}")
