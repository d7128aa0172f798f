"""Memory that a command would need, estimated before it begins."""

import os
import re

from ...base.errors import UserError

# Bytes for one input point in gen-points.py and regression.py.
PER_POINT = 600

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


def for_point(benchmark, values, objects):
    """Bytes that a point of `benchmark` needs at the worst, when all deinits wait."""
    waiting, each_value = next((cost for name, cost in _WAITING.items() if benchmark.startswith(name)), (0, 0))
    return objects * (_OBJECT + waiting + values * each_value)


def available():
    """Bytes that a new process can use."""
    try:
        with open("/proc/meminfo", encoding="ascii") as info:
            return int(re.findall(r"MemAvailable: +(\d+) kB", info.read())[0]) << 10
    except (OSError, IndexError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _readable(size):
    for unit in ("MB", "GB", "TB", "PB"):
        size /= 1024 if unit != "MB" else 1 << 20
        if size < 1024 or unit == "PB":
            return f"{size:,.0f} {unit}" if size >= 10 else f"{size:.1f} {unit}"
    return None


def require(size, what, hint):
    """UserError when `what` would need more bytes than four fifths of what is free."""
    free = available()
    if size > free * 0.8:
        raise UserError(f"{what} would need about {_readable(size)} of memory; {_readable(free)} are free", hint)
