#!/usr/bin/env python3
"""damage.py WORLD: damages what a whole set-up holds, file by file. The next command makes anew
what was made from others, and refuses to work with what has to be fetched, or may hold work; doctor
names what has to be fetched, and its hint mends it. Nothing damaged is ever in use."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import tiny
from world import World

world = World(sys.argv[1])
world.works()
cache = next(world.home.glob("*/"))
before, build = next(cache.glob("before-*")), world.repo / "build"
runtime, linux = build / "runtimes", "lib/swift/linux"


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def fill(path: Path) -> None:
    path.write_bytes(b"\0\xff" * 99)


def replace(path: Path) -> None:
    remove(path)
    path.mkdir()


def mend(part: str) -> None:
    """Follows the hint that doctor has for a part of the cache."""
    status, output = world.run(("doctor",))
    lines = output.splitlines()
    found = [
        number
        for number, line in enumerate(lines)
        if line.split()[:1] == ["fault"] and re.search(rf"\b{part} +.*is not intact", line)
    ]
    assert status == 1 and found, output
    hint = lines[found[0] + 1].partition("-> ")[2]
    subprocess.run(hint, shell=True, check=True, env=world.env, cwd=world.repo, capture_output=True)


MADE = (
    (runtime / "after/runtime.json", fill),
    (runtime / "after" / linux / "libdispatch.so", remove),
    (runtime / "after" / linux / "libswiftCore.so", cut),
    (runtime / "before" / linux, remove),
    (build / "work/after/build/core/libswiftCore.so", cut),
    (build / "work/after/build", remove),
    (build / "work/after/stamp.json", cut),
    (before / "build/core/libswiftCore.so", replace),
    (before / "made.json", cut),
    (before / "stamp.json", fill),
)
for path, damage in MADE:
    damage(path)
    what = f"{damage.__name__} {path}"
    if runtime in path.parents:
        name = path.relative_to(runtime).parts[0]
        argv = ("with-runtime", name, "--", "cat", str(runtime / name / linux / "libswiftCore.so"))
        assert world.works(argv, what).endswith("whole\n"), what
    world.works(what=what)
    world.check("one")
# What others put there is not damage.
laid = runtime / "after/bin/Benchmark_O"
for text in ("one", "two"):
    laid.write_text(text)
    output = world.works(("build-runtime", "after"))
    assert laid.exists(), output
print("rebuilt")

# What may hold work is refused. git must not take the repository around it.
tiny.git(world.repo, "init", "-q")
tiny.git(world.repo, "commit", "-q", "--allow-empty", "-m", "one")
remove(build / "checkout/swift/.git")
for command in (("build-runtime", "after"), ("apply-patches",)):
    status, output = world.run(command)
    assert status == 1 and "checkout is not intact; does it hold your work?" in output, output
shutil.rmtree(build / "checkout")

FETCHED = (
    ("root", "usr/libexec/swift/bin/swiftc", remove),
    ("root", "usr/bin/sh", cut),
    ("root", "usr/bin/bash", fill),
    ("source", "swift/.git", remove),
    ("source", "swift/.git/HEAD", cut),
)
for part, name, damage in FETCHED:
    damage(cache / part / name)
    status, output = world.run()
    lines = output.splitlines()[-2:]
    assert status == 1 and [line.split()[0] for line in lines] == ["error:", "hint:"], (
        f"{damage.__name__} {name}: {output}"
    )
    mend(part)
    world.works(what=f"{damage.__name__} {name}")
    world.check("one")
print("refused, and fetched again")
