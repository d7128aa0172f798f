#!/usr/bin/env python3
"""demonstrate.py DIR SYSTEM [--checkout DIR --toolchain DIR]: runs the demonstration on the packed libraries, linked
dynamically and statically, with nothing but the root file system of a release of the distribution; or for the
architecture SYSTEM, emulated, with the C and the C++ library that its package was built against. Where the toolchain's
Foundation runs, so does a program with it.
"""

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

from runtime_patches.base.architectures import ARCHITECTURES
from runtime_patches.runtimes import archive
from runtime_patches.workspace import sandbox, sysroot, target
from workspace_of import workspace

place, system, ws = Path(sys.argv[1]).resolve(), sys.argv[2], workspace(sys.argv[3:])
architecture = ARCHITECTURES.get(system, ARCHITECTURES["x86_64"])
emulator = architecture.emulator
made = target.Target(ws, architecture)
root = made.system if emulator else sysroot.release(ws, system)
name = archive.name_for(architecture)
inputs = Path(__file__).resolve().parent

shutil.rmtree(place, ignore_errors=True)
place.mkdir(parents=True)
with tarfile.open(archive.FOLDER / f"{name}.tar.gz") as tar:
    tar.extractall(place)
package = place / name


def run(*argv: object, **env: str) -> None:
    """Runs argv with nothing but the system; ends with its status if it fails."""
    words: list[object] = [sandbox.bwrap(), *"--clearenv --proc /proc --dev /dev --tmpfs /tmp".split()]
    words += ["--bind", place, place, "--ro-bind", made.lib, made.lib]
    for part in (*root.glob("lib*"), *root.glob("bin"), *root.glob("usr")):
        shown = ["--symlink", part.readlink()] if part.is_symlink() else ["--ro-bind", part]
        words += [*shown, f"/{part.name}"]
    for variable, value in {"PATH": "/usr/bin:/bin", **env}.items():
        words += ["--setenv", variable, value]
    if emulator:
        words += ["--ro-bind", emulator, "/emulator", "/emulator"]
    sys.stdout.flush()
    if status := subprocess.run([str(word) for word in [*words, *argv]], timeout=120).returncode:
        raise SystemExit(status)


def compile(target: Path, words: Iterable[object], source: str = "demonstration") -> None:
    argv = ["swiftc", "-O", "-parse-as-library", *words, inputs / f"{source}.swift", "-o", target]
    done = ws.run(argv, fixed=made.places, binds=[place], check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{target.name} does not compile:\n{done.stdout}{done.stderr}")


def link(target: Path, sources: Iterable[Path]) -> None:
    target.mkdir(parents=True)
    for path in sources:
        (target / path.name).symlink_to(path)


# Dynamically: beside the package's libraries are those that a container has.
others, into = place / "others", package / "lib"
others.mkdir()
for path in made.lib.glob("swift/linux/*.so"):
    shutil.copy(path, others)
if not emulator:
    into = place / "into"
    run(package / "install.sh", "--into", into, "--swift", others)
search = f"{into}:{others}"
compile(place / "dynamic", made.swift())
for pool in "01":
    run(place / "dynamic", LD_LIBRARY_PATH=search, SWIFT_POOL=pool)
if not emulator:
    run(package / "bin" / "swift-runtime-check", place / "dynamic", LD_LIBRARY_PATH=search)
if system in ("sid", "trixie"):  # it asks for glibc 2.38
    compile(place / "foundation", made.swift(), "foundation")
    for pool in "01":
        run(place / "foundation", LD_LIBRARY_PATH=search, SWIFT_POOL=pool)

# Statically: a toolchain of copies, into which the package's archives are laid.
usr = place / "usr" / "lib" / "swift_static"
link(usr, [path for path in (made.lib / "swift_static").iterdir() if path.name not in ("linux", "clang")])
(usr / "clang").symlink_to((made.lib / "swift_static" / "clang").resolve())
link(usr / "linux", (path for path in (made.lib / "swift_static" / "linux").iterdir() if path.suffix != ".a"))
for path in made.lib.glob("swift_static/linux/*.a"):
    shutil.copy(path, usr / "linux")
if emulator:
    shutil.copytree(package / "static", usr / "linux", dirs_exist_ok=True)
else:
    run(package / "install.sh", "--static", place / "usr")
compile(place / "static", ["-static-stdlib", *made.swift(usr)])
ws.run(["llvm-strip", "--strip-all", place / "static"], binds=[place])
for pool in "01":
    run(place / "static", SWIFT_POOL=pool)
if not emulator:
    run(package / "bin" / "swift-runtime-check", place / "static")
