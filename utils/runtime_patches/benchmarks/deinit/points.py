"""Random input points, and the memory that points need."""

import random
from collections.abc import Iterator
from pathlib import Path

from ...base import files, memory
from ...base.errors import BadUsage

# Bytes for one input point in gen-points.py and regression.py.
_POINT = 600
# Bytes for one object: itself with malloc's overhead, and its place in an array.
_OBJECT = 72
# What waits for each object on the slow path, and for each task-local value that
# goes with it: a job, or a task.
_WAITING = {
    "isolated_hop_reset": (112, 0),
    "isolated_hop_copy": (128, 64),
    "async_copy": (1600, 64),
    "async": (1600, 0),
    "task_in_deinit": (1700, 64),
}


def for_point(benchmark: str, values: int, objects: int) -> int:
    """Bytes that a point of `benchmark` needs at most, which is if all deinits wait."""
    waiting, each_value = next((cost for name, cost in _WAITING.items() if benchmark.startswith(name)), (0, 0))
    return objects * (_OBJECT + waiting + values * each_value)


def check(values: tuple[int, int], objects: tuple[int, int], count: int) -> None:
    """UserError for more values, objects or points than can be measured."""
    if values[1] > 10_000:
        raise BadUsage(f"--values: {values[1]} task-locals at once do not fit a thread's stack", "give at most 10000")
    memory.require(objects[1] * _OBJECT, f"--objects: a point with {objects[1]:,} objects", "give a smaller maximum")
    memory.require(count * _POINT, f"points: {count:,} points", "1000 to 5000 points are enough for a fit")


def lines(values: tuple[int, int], objects: tuple[int, int], count: int, seed: int) -> Iterator[str]:
    """The lines of an inputs file: `count` random points in both closed intervals."""
    source, ranges = random.Random(seed), "--values={}:{} --objects={}:{}".format(*values, *objects)
    yield f"# gen-points.py {ranges} --seed={seed} {count}\n#\n# values objects"
    for _ in range(count):
        yield f"{source.randint(*values)}\t{source.randint(*objects)}"


def ensure(path: Path, values: tuple[int, int], objects: tuple[int, int], count: int, seed: int) -> None:
    """Writes the inputs file `path` of these values, objects, count and seed, if it is not there or holds others."""
    text = "\n".join(lines(values, objects, count, seed)) + "\n"
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text)
