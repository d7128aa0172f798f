#!/usr/bin/env python3
"""kill_setup.py WORLD TIMES SEED: kills the set-up and build of a world (make_world.py) at random
moments, in TIMES rounds, and starts it again at once. Whatever is in use is intact at any
time, and the last run of each round ends well. Prints how many rounds did."""

import random
import shutil
import sys
import time
from typing import Any

import tiny
from world import World

world, times = World(sys.argv[1]), int(sys.argv[2])
chance = random.Random(int(sys.argv[3]))


def kill_one(longest: float) -> None:
    """Starts the command, and ends it, or it and all that it started, at some moment."""
    process = world.start()
    time.sleep(chance.uniform(0, longest))
    world.kill(process, chance)
    world.require_nobody(process)
    world.check()


def kill_deaf() -> None:
    """Kills the set-up while mmdebstrap ignores TERM: that one must end, too, and the next run
    remove its temporary files."""
    world.env["FAKE_ARCHIVE"] = "deaf"
    process = world.start()
    while not (files := [*world.home.glob("*/temporary/*")]):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    files = [path.resolve() for path in files]
    process.kill()
    world.require_nobody(process)
    del world.env["FAKE_ARCHIVE"]
    world.works()
    left = [path for path in (*files, *world.home.glob("*/temporary")) if path.exists()]
    assert not left, f"left over: {left}"
    print("nobody was left")


def one_round(word: str, longest: float) -> Any:
    """Some parts anew, another series, one to three kills, and a run to the end."""
    for path in (world.home, world.repo / "build"):
        if chance.random() < 0.4:
            shutil.rmtree(path, ignore_errors=True)
    tiny.lay_series(world.repo, word)
    for _ in range(chance.choice((1, 1, 2, 3))):
        kill_one(longest)
    world.works()
    world.check(word)


kill_deaf()
begin = time.monotonic()
for path in (world.home, world.repo / "build"):
    shutil.rmtree(path)
world.works()
longest = time.monotonic() - begin
recovered = 0
for number in range(times):
    try:
        one_round(f"word{number}", longest)
        recovered += 1
    except AssertionError as error:
        print(f"round {number}: {error}")
print(f"{recovered} of {times} recovered")
