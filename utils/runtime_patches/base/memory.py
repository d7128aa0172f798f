"""Memory that a command would need, estimated before it begins."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from .errors import UserError
from .text import size

# {controllers in /proc/self/cgroup: (limit, use, how names in memory.stat begin)}: of version 2, and of version 1.
_GROUPS = {
    "": ("memory.max", "memory.current", ""),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
}


def available(root: Path = Path("/")) -> int:
    """Bytes that programs can get without swapping, and without more than a container may have. root: that of /proc
    and /sys."""
    return max(0, min([_fields(root / "proc/meminfo")["MemAvailable"] * 1024, *_in_groups(root)]))


def _in_groups(root: Path) -> Iterator[int]:
    """What is left in each control group of this process that has a limit."""
    with contextlib.suppress(OSError):  # a kernel without groups
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in _GROUPS:
                limit, use, prefix = _GROUPS[controllers]
                own = root / "sys/fs/cgroup" / controllers / path.lstrip("/")
                for folder in (own, *own.parents):  # a container sees its own group as the outermost one
                    with contextlib.suppress(OSError, ValueError):  # none, or "max"
                        most, used = (int((folder / name).read_text(encoding="ascii")) for name in (limit, use))
                        cache = _fields(folder / "memory.stat")
                        yield most - used + sum(cache.get(f"{prefix}{name}_file", 0) for name in ("active", "inactive"))


def _fields(path: Path) -> dict[str, int]:
    """{name: number} of a file with one in each line."""
    lines = [line.replace(":", " ").split() for line in path.read_text(encoding="ascii").splitlines()]
    return {line[0]: int(line[1]) for line in lines}


def require(needed: float, what: str, hint: str) -> None:
    """UserError if `what` would need more than four fifths of the bytes that are free."""
    free = available()
    if needed > free * 0.8:
        raise UserError(f"{what} would need about {size(needed)} of memory; {size(free)} are free", hint)
