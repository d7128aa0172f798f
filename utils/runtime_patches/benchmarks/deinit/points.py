"""Random input points."""

import random
import secrets

from ...base.errors import UserError
from . import memory


def new_seed():
    """A seed that nobody chose."""
    return secrets.randbelow(10**6)


def check(values, objects, count):
    """UserError for more values, objects or points than can be measured."""
    if values[1] > 10_000:
        raise UserError(f"--values: {values[1]} task-locals at once do not fit a thread's stack", "give at most 10000")
    memory.require(objects[1] * 72, f"--objects: a point with {objects[1]:,} objects", "give a smaller maximum")
    memory.require(count * memory.PER_POINT, f"points: {count:,} points", "1000 to 5000 points are enough for a fit")


def lines(values, objects, count, seed):
    """The lines of an inputs file: `count` points, even in both closed intervals."""
    source = random.Random(seed)
    yield (
        f"# gen-points.py --values={values[0]}:{values[1]} --objects={objects[0]}:{objects[1]} --seed={seed} {count}"
    )
    yield "#"
    yield "# values objects"
    for _ in range(count):
        yield f"{source.randint(*values)}\t{source.randint(*objects)}"
