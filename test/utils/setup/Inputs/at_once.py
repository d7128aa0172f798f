#!/usr/bin/env python3
"""at_once.py WORLD N COMMAND…: starts a command of a world N times at once; prints the output and
the exit status of each."""

import sys

from world import World

world = World(sys.argv[1])
started = [world.start(sys.argv[3:]) for _ in range(int(sys.argv[2]))]
for process in started:
    output, _ = process.communicate(timeout=200)
    print(f"{output}exit status {process.returncode}")
world.check("one" if sys.argv[3] == "build-runtime" else None)
