"""Fits of known data: by the definition, with confidence, and to the median. Left out where there is no statsmodels:
test/benchmark/deinit/regression.test runs it in the workspace."""

import random
import unittest

from ...base.errors import UserError
from . import fit

try:
    from .estimate import estimate
except ImportError as error:
    raise unittest.SkipTest("there is no statsmodels") from error

from collections.abc import Callable, Mapping
from typing import Any

CHANCE = random.Random(7)
POINTS = [(CHANCE.randint(0, 200), CHANCE.randint(1, 5000)) for _ in range(300)]
V, O = zip(*POINTS)


def times(formula: Callable[..., Any], noise: float = 0.0) -> list[float]:
    return [formula(v, o) + CHANCE.gauss(0, noise) for v, o in POINTS]


class Here(fit.Fitter):
    """Estimates in this process."""

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return estimate(**request)


NOBODY: Any = None  # the workspace is not needed
HERE = Here(NOBODY)


class Fits(unittest.TestCase):
    def test_exact(self) -> None:
        y = times(lambda v, o: 2e-3 * v * o * o + 5 * v * o + 7 * v + 0.25 * o * o + 3 * o + 11)
        model = HERE.fit(["vo2", "vo", "v", "o2", "o", "1"], V, O, y)
        for param, wanted in zip(model.params, (2e-3, 5, 7, 0.25, 3, 11)):
            self.assertAlmostEqual(model[param] / wanted, 1, 3)
        self.assertAlmostEqual(model.r_squared, 1)
        self.assertAlmostEqual(sum(model.shares(200, 5000)), 1)

    def test_parameters_that_cannot_be_told_apart(self) -> None:
        with self.assertRaises(UserError):
            HERE.fit(["o", "1"], [1, 2, 3, 4], [5, 5, 5, 5], [1, 2, 3, 4])

    def test_definition(self) -> None:
        y = times(lambda v, o: 100 * o, 50_000)
        model = HERE.fit(["o"], V, O, y)
        slope, mean = sum(o * t for o, t in zip(O, y)) / sum(o * o for o in O), sum(y) / len(y)
        ratio = sum((t - slope * o) ** 2 for o, t in zip(O, y)) / sum((t - mean) ** 2 for t in y)
        self.assertAlmostEqual(model["o"], slope, 6)
        self.assertAlmostEqual(model.r_squared, 1 - ratio, 9)
        self.assertAlmostEqual(model.adjusted, 1 - ratio * (len(y) - 1) / (len(y) - 2), 9)
        low, high = model.interval("o")
        self.assertTrue(low < 100 < high and high - low < 10)

    def test_intervals_hold_the_value_about_19_times_in_20(self) -> None:
        for robust in (False, True):
            held = 0
            for _ in range(40):
                low, high = HERE.fit(["o", "1"], V, O, times(lambda v, o: 100 * o, 9000), robust).interval("o")
                held += low < 100 < high
            self.assertGreaterEqual(held, 34)

    def test_bursts_hardly_count_for_the_median(self) -> None:
        y = [t * (100 if n % 10 == 0 else 1) for n, t in enumerate(times(lambda v, o: 100 * o + 9 * v * o, 1000))]
        robust = HERE.fit(["vo", "o"], V, O, y, True)
        self.assertAlmostEqual(robust["vo"], 9, 0)
        self.assertLess(abs(robust["o"] - 100), 5)
        self.assertGreater(HERE.fit(["vo", "o"], V, O, y)["vo"], 20)
