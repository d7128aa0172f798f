"""The machine and the state of the series that a result is of."""

import os
import platform
import time
from dataclasses import dataclass, field
from typing import Any, Optional

from ..series import series


@dataclass
class Environment:
    """What the figures depend on and can be read without measuring. others, stolen: the shares of the
    processors that other programs and the host took meanwhile."""

    cpu: Optional[str] = None
    machine: Optional[str] = None
    cores: Optional[float] = None
    usable_cores: Optional[float] = None
    memory: Optional[float] = None
    kernel: Optional[str] = None
    load_before: Optional[list[float]] = None
    load_after: Optional[list[float]] = None
    others: Optional[float] = None
    stolen: Optional[float] = None
    variables: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells one machine from another."""
        return ", ".join(map(str, (self.cpu, self.cores, self.memory, self.kernel, self.machine)))

    def __str__(self) -> str:
        if not self.cores:
            return self.cpu or "unknown processor"
        used = f"{self.usable_cores} of " if self.usable_cores and self.usable_cores < self.cores else ""
        return f"{self.cpu or 'unknown processor'}, {used}{self.cores} cores"


@dataclass
class State:
    """The series that was measured: how many patches, and a name for their content."""

    patches: float
    key: str

    def __str__(self) -> str:
        return f"the series of {self.patches} patches (state {self.key})"


def here() -> Environment:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            models = [line.split(":", 1)[1].strip() for line in info if line.startswith(("model name", "Hardware"))]
        with open("/proc/meminfo", encoding="utf-8") as info:
            memory = int(info.readline().split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        models, memory = [], None
    prefixes = ("SWIFT_", "LD_", "GLIBC_", "MALLOC_", "LIBDISPATCH_")
    cpu, usable = models[0] if models else platform.processor() or "unknown", len(os.sched_getaffinity(0))
    found = Environment(cpu, platform.machine(), os.cpu_count(), usable, memory, platform.release())
    found.load_before = list(os.getloadavg())
    found.variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith(prefixes)}
    return found


def state() -> State:
    return State(len(series.load()), series.load().state)


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
