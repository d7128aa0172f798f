"""How often equal runtimes are told apart, and how often a change is found, on samples like those of a real
machine (two speeds, some outliers)."""

import random
import unittest

from . import verdicts


def values(chance: random.Random, center: float, share: float) -> list[float]:
    found = []
    for _ in range(40):
        value = center * chance.lognormvariate(0, 0.02)
        value *= 1.5 if chance.random() < share else 1
        found.append(value * chance.uniform(1.5, 4) if chance.random() < 0.05 else value)
    return found


class Verdicts(unittest.TestCase):
    def test_false_alarms(self) -> None:
        chance, alarms, doubts, found = random.Random(2), 0, 0, 0
        for _ in range(50):
            judged = verdicts.judge(
                {
                    str(number): {
                        column: values(chance, 105 if column == "new" and not number else 100, 0.3 * (number % 2))
                        for column in verdicts.COLUMNS
                    }
                    for number in range(20)
                }
            )
            found += judged[0].verdict == "slower"
            alarms += sum(one.verdict in ("slower", "faster") for one in judged[1:])
            doubts += sum(one.verdict == "perhaps" for one in judged[1:])
        self.assertGreaterEqual(found, 45)
        self.assertLessEqual(alarms, 1)
        self.assertLessEqual(doubts, 5)

    def test_neither_the_noise_of_old_nor_three_values_are_a_certain_change(self) -> None:
        noisy: dict[str, list[float]] = {"old": [100, 101] * 10, "control": [104, 105] * 10, "new": [106, 107] * 10}
        few: dict[str, list[float]] = {"old": [100, 101, 102], "control": [101, 102, 103], "new": [200, 201, 202]}
        self.assertEqual([one.verdict for one in verdicts.judge({"noisy": noisy, "few": few})], ["same", "perhaps"])

    def test_a_small_loss_is_named(self) -> None:
        steady: dict[str, list[float]] = {"old": [100, 101] * 5, "control": [101, 102] * 5, "new": [102, 103] * 5}
        rows = {str(number): {**steady, "new": steady["old"]} for number in range(20)}
        judged = verdicts.judge({**rows, "loss": steady})
        self.assertEqual([one.verdict for one in judged if one.verdict != "same"], ["perhaps"])

    def test_quantiles_are_values(self) -> None:
        values = list(range(1, 21))
        self.assertEqual([verdicts.quantile(values, share) for share in (0.05, 0.5, 0.95, 1)], [1, 10, 19, 20])
        self.assertEqual(verdicts.quantile([7], 0.95), 7)

    def test_first_sample_does_not_count(self) -> None:
        self.assertEqual(verdicts.process_value([900, 3, 1, 2]), 2)
        self.assertEqual(verdicts.process_value([7]), 7)
