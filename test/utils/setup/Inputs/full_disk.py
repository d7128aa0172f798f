#!/usr/bin/env python3
"""full_disk.py WORLD: sets a world up on a disk that is too small, and again and again on the
same disk, each time a bit larger, until it is large enough. Needs a mount name space of
its own (private-mounts)."""

import subprocess
import sys

from world import World

world = World(sys.argv[1])
disk = world.path / "disk"
disk.mkdir()
full, size, status = 0, 256, 1
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", disk], check=True)
for name, place in (("cache", world.path / "cache"), ("build", world.repo / "build")):
    (disk / name).mkdir()
    place.mkdir()
    subprocess.run(["mount", "--bind", disk / name, place], check=True)
while status:
    # Its other options name a user who is not known in a name space of users.
    subprocess.run(["mount", "--options-mode", "ignore", "-o", f"remount,size={size}k", disk], check=True)
    status, output = world.run()
    world.check()
    if status:
        lines = output.splitlines()
        assert status == 1 and lines[-2:-1] == ["error: the disk is full"], output
        assert lines[-1].startswith("hint: free some space"), output
        full += 1
    size += size // 3
world.check("one")
print(f"full {full} times, and then whole")
