#!/usr/bin/env python3
"""places.py WORLD: builds in a clone whose path has all that a path may hold, in the C locale and
with a strict umask, from a cache that another user owns; then what cannot work is refused."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from world import World

world = World(sys.argv[1])
odd = world.path / "sp ace'q\"%d$HOME`x`&\\n\né" / os.fsdecode(b"\xff")
shutil.copytree(world.repo, odd, symlinks=True)
world.env["LC_ALL"] = "C"
os.umask(0o077)


def refused(message: str, *command: str) -> None:
    status, output = world.run(command)
    lines = output.splitlines()[-2:]
    assert status == 1 and lines[0].startswith(f"error: {message}"), output
    assert lines[1].startswith("hint: "), output


world.works(("build-runtime", "before"))
sources = next(world.home.glob("*/source"))
if os.geteuid() == 0:
    subprocess.run(["chown", "-R", "12345", sources], check=True)
world.repo = odd
world.works()
world.check("one")
library = odd / "build/runtimes/after/lib/swift/linux/libswiftCore.so"
assert world.works(("with-runtime", "after", "--", "cat", str(library))).endswith("whole\n")
status, output = world.run(("doctor",))
assert "the series as commits" in output, output
(world.path / "link").symlink_to(odd)
world.repo = world.path / "link"
world.works(("apply-patches",))

world.repo = world.path / "co:lon"
(world.path / "link").rename(world.repo)
world.works(("apply-patches",))  # only the name of a link
for name in ("c:d", "c;d"):
    world.repo = world.path / name / "repo"
    shutil.copytree(odd, world.repo, symlinks=True, ignore=shutil.ignore_patterns("build"))
    refused("the path of this repository", "build-runtime", "after")
world.repo = odd
tools = world.path / "tools"
tools.mkdir()
for name in ("sh", "dirname", "readlink", "env", "python3"):
    (tools / name).symlink_to(str(shutil.which(name)))
world.env["PATH"] = str(tools)
refused("git is not installed", "build-runtime", "after")
inside = Path("/usr/share")
if not odd.is_relative_to(inside):
    world.env["TMPDIR"] = str(inside)  # the toolchain's own must not be hidden by it
    world.env["PATH"] = os.environ["PATH"]
    world.works(("with-runtime", "after", "--", "ls", "/usr/share/whole"))
print("done")
