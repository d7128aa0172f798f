"""Memory that a command would need, estimated before it begins."""

from __future__ import annotations

from .errors import UserError
from .text import size


def available() -> int:
    """Bytes that programs can get without swapping."""
    with open("/proc/meminfo", encoding="ascii") as info:
        fields = dict(line.split(":", 1) for line in info)
    return int(fields["MemAvailable"].split()[0]) * 1024


def require(needed: float, what: str, hint: str) -> None:
    """UserError if `what` would need more than four fifths of the bytes that are free."""
    free = available()
    if needed > free * 0.8:
        raise UserError(f"{what} would need about {size(needed)} of memory; {size(free)} are free", hint)
