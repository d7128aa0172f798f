"""Verdicts: which rows changed, judged against the noise of before against before.

A value is what one process measured: the median of its samples without the first.
Samples of one process are not independent of each other (they share one memory
layout and one set of threads), so the rank test gets one value a process.
"""

import math
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..base.schema import Positive

# A row counts as changed when both hold.
LEVEL = 0.01  # the rank test's p, adjusted for the number of rows
FACTOR = 2.0  # the change is more than this many times the noise floor
LEAST_FLOOR = 0.01  # no row's noise floor is taken to be below this
# Slower by a weaker measure: nobody should have to find such a row in the samples.
PERHAPS_LEVEL, PERHAPS_FACTOR = 0.05, 1.0
# perhaps: perhaps slower.
Kind = Literal["slower", "perhaps", "faster", "same"]
FEWEST = 5  # with fewer values a side no rank test can reach LEVEL
COLUMNS = ("old", "control", "new")  # of what is judged; control: old again


def process_value(samples: Sequence[float]) -> float:
    """The value of one process (microseconds an iteration) from its samples in order."""
    return statistics.median(samples[1:] if len(samples) > 1 else samples)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed; no estimate between two of them."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def rank_test(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p of the Mann-Whitney U test (normal approximation, with the
    corrections for ties and continuity). From FEWEST values on it is cautious: never
    below the exact p if the samples do not overlap."""
    n, m, pooled = len(one), len(other), sorted([*one, *other])
    rank_sum = sum((bisect_left(pooled, value) + 1 + bisect_right(pooled, value)) / 2 for value in one)
    ties = sum(count**3 - count for count in Counter(pooled).values())
    distance = abs(rank_sum - n * (n + 1) / 2 - n * m / 2)
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance <= 0:
        return 1.0
    z = max(0.0, distance - 0.5) / math.sqrt(variance)
    return min(1.0, math.erfc(z / math.sqrt(2)))


def adjust(ps: Sequence[float]) -> list[float]:
    """Benjamini-Hochberg: the p values as false discovery rates, in the same order."""
    order = sorted(range(len(ps)), key=lambda i: ps[i], reverse=True)
    adjusted, least = [0.0] * len(ps), 1.0
    for position, index in enumerate(order):
        least = min(least, ps[index] * len(ps) / (len(ps) - position))
        adjusted[index] = least
    return adjusted


def floors(pairs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> list[float]:
    """The noise floor of each row from (old, control) values, as a fraction.

    The difference of the two medians of one and the same runtime; but not below the
    median of all rows' differences, for a small one can be luck.
    """
    differences = [abs(_difference(old, control)) for old, control in pairs]
    usual = max(LEAST_FLOOR, statistics.median(differences)) if differences else 0.0
    return [max(usual, difference) for difference in differences]


def _difference(old: Sequence[float], new: Sequence[float]) -> float:
    return statistics.median(new) / statistics.median(old) - 1


@dataclass
class Verdict:
    """old, new: medians; adjusted: p for all rows together; floor: of the noise of the row; noise: control/old - 1."""

    name: str
    old: Positive
    new: Positive
    p: float
    adjusted: float
    floor: Positive
    noise: float
    verdict: Kind

    @property
    def ratio(self) -> float:
        return self.new / self.old

    @property
    def delta(self) -> float:
        return self.ratio - 1

    @property
    def speedup(self) -> float:
        return self.old / self.new


def judge(rows: Mapping[str, Mapping[str, list[float]]]) -> list[Verdict]:
    """[Verdict] of rows {name: {"old", "control", "new": [value of a process]}}, in their order."""
    values = list(rows.values())
    ps = [rank_test(v["new"], v["old"] + v["control"]) for v in values]
    limits = floors([(v["old"], v["control"]) for v in values])
    found = []
    for name, v, p, adjusted, floor in zip(rows, values, ps, adjust(ps), limits):
        old, new = statistics.median(v["old"] + v["control"]), statistics.median(v["new"])
        speed = math.log(new / old)
        verdict: Kind = "same"
        if adjusted < LEVEL and abs(speed) > FACTOR * math.log1p(floor):
            verdict = "slower" if speed > 0 else "faster"
        elif adjusted < PERHAPS_LEVEL and speed > PERHAPS_FACTOR * math.log1p(floor):
            verdict = "perhaps"
        noise = _difference(v["old"], v["control"])
        found.append(Verdict(name, old, new, p, adjusted, floor, noise, verdict))
    return found
