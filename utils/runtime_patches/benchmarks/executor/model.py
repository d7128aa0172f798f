"""What a pool's shared parts let many processors do, from the costs measured on few.

The model is a closed queueing network, solved by mean value analysis. Each processor is a customer: it works on
a job of its own for some time, and visits the parts that all processors share: a lock or a word that one processor
has at a time. These are its assumptions:

- A visit takes what two threads that fight for a lock or a word measure here, times `far` for processors that do not
  share a cache. On real machines this grows with the distance; the cost is the same for all here.
- Visits come at random times (exponential times of service). Regular visits queue less, bursts more.
- A thread that waits neither sleeps nor spins away the time of others.
- How often a job visits a part is given in Load. It follows from the design, not from a measurement: a job that
  a task of the same worker enqueues visits nothing; a job of another thread visits the injection queue once to come,
  and its share of a batch to go; a wake visits the lock of the sleepers three times, and the counts four times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

PROCESSORS = (1, 2, 8, 16, 32, 64)
GOOD = 0.8  # the efficiency at which a part is said to scale
_BATCH = 16
_MOST_SHARDS = 64


@dataclass(frozen=True)
class Costs:
    """Nanoseconds, as the floor program prints them: a cache line one way; an operation on a word, and under a
    lock, that two threads fight for; a futex one way."""

    line: float
    word: float
    lock: float
    futex: float

    def times(self, far: float) -> Costs:
        """The same where lines come from `far` times as far."""
        return Costs(self.line * far, self.word * far, self.lock * far, self.futex)


@dataclass(frozen=True)
class Load:
    """work: ns of a job; foreign: the share of the jobs that other threads enqueue; wakes: of a worker, a job."""

    name: str
    work: float
    foreign: float
    wakes: float


LOADS = (
    Load("1 us, made by tasks", 1e3, 0, 0.0005),
    Load("1 us, from other threads", 1e3, 1, 0.01),
    Load("20 us, from other threads", 20e3, 1, 0.05),
    Load("5 us, a wake for every second job", 5e3, 0, 0.5),
)


@dataclass(frozen=True)
class Part:
    """What one processor has at a time. visits: of a job; service: ns of a visit."""

    name: str
    visits: float
    service: float

    @property
    def demand(self) -> float:
        """ns of a job."""
        return self.visits * self.service


def dispatch(load: Load, costs: Costs) -> tuple[list[Part], float]:
    """(parts, ns of a job that nobody else has to wait for) with one queue for all: a job comes and goes."""
    return [Part("queue", 2, costs.lock)], load.work + load.wakes * costs.futex


def pool(load: Load, costs: Costs, shards: int = 1) -> tuple[list[Part], float]:
    """The same with a queue a worker, and an injection queue of so many shards, in which a worker looks
    for jobs one after the other."""
    injected = load.foreign * (1 + 1 / _BATCH)
    parts = [Part("injection", injected / shards, costs.lock)] * shards
    parts += [Part("sleepers", 3 * load.wakes, costs.lock), Part("counts", 4 * load.wakes, costs.word)]
    looks = load.foreign / _BATCH * (shards - 1) / 2 * costs.line
    return parts, load.work + load.wakes * costs.futex + looks


def rate(parts: list[Part], alone: float, processors: int) -> float:
    """Jobs a nanosecond of so many processors: exact mean value analysis."""
    queued = [0.0] * len(parts)
    found = 0.0
    for customers in range(1, processors + 1):
        times = [part.demand * (1 + waiting) for part, waiting in zip(parts, queued)]
        found = customers / (alone + sum(times))
        queued = [found * time for time in times]
    return found


def efficiency(made: tuple[list[Part], float], processors: int) -> float:
    """The jobs of so many processors, over as many times those of one."""
    parts, alone = made
    return rate(parts, alone, processors) / rate(parts, alone, 1) / processors


def bottleneck(made: tuple[list[Part], float]) -> Part:
    """The part that limits the number of jobs."""
    return max(made[0], key=lambda part: part.demand)


def shards_needed(load: Load, costs: Costs, processors: int) -> Optional[int]:
    """How many shards the injection queue needs for that efficiency; None if no number suffices."""
    shards = 1
    while shards <= _MOST_SHARDS:
        if efficiency(pool(load, costs, shards), processors) >= GOOD:
            return shards
        shards *= 2
    return None


def lines(costs: Costs, far: tuple[float, float] = (1.0, 3.0)) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) of the table: efficiency by the number of processors."""
    rows = []
    for load in LOADS:
        for factor in far:
            there = costs.times(factor)
            for name, made in (("one queue", dispatch(load, there)), ("pool", pool(load, there))):
                shards = shards_needed(load, there, PROCESSORS[-1]) if name == "pool" else None
                rows.append(
                    [
                        load.name,
                        f"{factor:g}",
                        name,
                        *(f"{efficiency(made, count):.2f}" for count in PROCESSORS),
                        bottleneck(made).name,
                        ("none" if shards is None else str(shards)) if name == "pool" else "",
                    ]
                )
    return [
        "jobs",
        "distance",
        "executor",
        *(f"{count} processors" for count in PROCESSORS),
        "limited by",
        f"shards for {GOOD:g} at {PROCESSORS[-1]}",
    ], rows


NOTE = (
    "A model, not a measurement: the work of so many processors over as many times that of one. distance: how "
    "many times as far lines come from as between the two measured processors; shards: of the injection queue."
)
