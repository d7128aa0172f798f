import unittest

from .targets import Samples, Target, judge


class Ratios(unittest.TestCase):
    def test_the_same_samples_have_the_ratio_1(self) -> None:
        samples = Samples()
        for value in (1, 2):
            for column in ("off", "on"):
                samples.add(("row", column), {"wall": value})
        self.assertEqual(judge(samples, [Target("row", "wall", 1.0)])[0].ratio, 1)
