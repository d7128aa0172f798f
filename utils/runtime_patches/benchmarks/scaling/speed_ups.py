"""What the samples say: speed-up, ratio and gap of each row, and the table of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import Any

KINDS = ("threads", "tasks", "processes")
NOTES = (
    "threads, tasks, processes: the work of several workers over that of one (their number is perfect); ratio: "
    "threads / processes; gap: processes - threads",
    # Of a machine with 4 fast and 4 slow cores. The benchmark was made to explain them.
    "reference figures, 4 workers: x1.859 as threads of one process, x3.637 as processes, ratio 0.51",
    "reference figures, 8 workers: x2.531 as threads of one process, x5.500 as processes, ratio 0.46",
)


class Results:
    """samples: dicts with row, kind, workers, runtime, round, rate and share."""

    def __init__(self, plan: Mapping[str, Any], samples: Iterable[Mapping[str, Any]]) -> None:
        self.plan = plan
        self.rates: dict[tuple[str, str, int, str], dict[int, float]] = {}
        self.shares: dict[tuple[str, str, int, str], list[float]] = {}
        for sample in samples:
            key = (sample["row"], sample["kind"], sample["workers"], sample["runtime"])
            self.rates.setdefault(key, {})[sample["round"]] = sample["rate"]
            self.shares.setdefault(key, []).append(sample["share"])

    def speed_up(self, row: str, kind: str, workers: int, runtime: str) -> float | None:
        """How many times the work of one worker `workers` of them do."""
        return self._over((row, kind, workers, runtime), (row, kind, 1, runtime))

    def one_worker(self, row: str, old: str, new: str) -> float | None:
        """The rate of one thread on `new` over that on `old`."""
        return self._over((row, "threads", 1, new), (row, "threads", 1, old))

    def _over(self, one: tuple[str, str, int, str], other: tuple[str, str, int, str]) -> float | None:
        """The median over the rounds, each divided by the same round; None if they were not measured."""
        rates, others = self.rates.get(one, {}), self.rates.get(other, {})
        found = [rates[number] / others[number] for number in rates if others.get(number)]
        return statistics.median(found) if found else None

    def noisy(self, row: str) -> bool:
        """Whether other programs disturbed half or more of the samples that a median in this
        row is made of, and no attempt was better."""
        return any(
            statistics.median(shares) > self.plan["quiet"] for (name, *_), shares in self.shares.items() if name == row
        )

    def line(self, row: str, workers: int, runtime: str) -> tuple[float | None, ...]:
        """(threads, tasks, processes, threads / processes, processes - threads)."""
        ups = [self.speed_up(row, kind, workers, runtime) for kind in KINDS]
        threads, _, processes = ups
        if threads is None or processes is None:
            return (*ups, None, None)
        return (*ups, threads / processes, processes - threads)


def _number(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{value:{sign}.2f}"


def lines(
    results: Results, shares: dict[str, str], workers: int, runtimes: list[str]
) -> tuple[list[str], list[list[str]]]:
    """Header and lines as lists of strings. shares: {row: what its workers share}."""
    header = ["row", "shared"]
    for runtime in runtimes:
        header += [f"{runtime}: threads", "tasks", "processes", "ratio", "gap"]
    if len(runtimes) == 2:
        header.append(f"1 thread, {runtimes[1]}/{runtimes[0]}")
    found = []
    for row in results.plan["rows"]:
        line = [row + (" (noisy)" if results.noisy(row) else ""), shares[row]]
        for runtime in runtimes:
            *ups, ratio, gap = results.line(row, workers, runtime)
            line += [_number(value) for value in (*ups, ratio)] + [_number(gap, "+")]
        if len(runtimes) == 2:
            line.append(_number(results.one_worker(row, *runtimes)))
        found.append(line)
    return header, found
