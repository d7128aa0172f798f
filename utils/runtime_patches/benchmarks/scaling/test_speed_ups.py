"""What Results makes of samples whose outcome is known."""

from __future__ import annotations

import unittest

from .speed_ups import Results, lines

PLAN = {"quiet": 0.02, "rows": ["row"], "workers": [1, 2], "libraries": {"a": "", "b": ""}}
RATES = {(kind, 1): 100 for kind in ("threads", "tasks", "processes")}
RATES |= {("threads", 2): 150, ("tasks", 2): 120, ("processes", 2): 200}


def samples(shares: tuple[float, float, int] = (0, 0, 0)) -> list[dict[str, float | str]]:
    # The machine is at half its speed in the last round: the ratios stay.
    return [
        {
            "row": "row",
            "kind": kind,
            "workers": workers,
            "runtime": runtime,
            "round": number,
            "rate": rate * (0.5 if number == 2 else 1) * (1.25 if runtime == "b" else 1),
            "share": shares[number] if runtime == "a" else 0,
        }
        for (kind, workers), rate in RATES.items()
        for runtime in "ab"
        for number in range(3)
    ]


class Scaling(unittest.TestCase):
    def test_ratios(self) -> None:
        results = Results(PLAN, samples())
        self.assertEqual(results.line("row", 2, "a"), (1.5, 1.2, 2.0, 0.75, 0.5))
        self.assertEqual(results.one_worker("row", "a", "b"), 1.25)
        self.assertIsNone(results.speed_up("row", "threads", 4, "a"))

    def test_one_disturbed_sample_in_three_does_not_move_a_median(self) -> None:
        self.assertFalse(Results(PLAN, samples()).noisy("row"))
        self.assertFalse(Results(PLAN, samples((0.5, 0, 0))).noisy("row"))
        self.assertTrue(Results(PLAN, samples((0.5, 0.5, 0))).noisy("row"))

    def test_table(self) -> None:
        found = lines(Results(PLAN, samples((0.5, 0.5, 0))), {"row": "nothing"}, 2, ["a", "b"])[1]
        self.assertEqual(found, [["row (noisy)", "nothing", *["1.50", "1.20", "2.00", "0.75", "+0.50"] * 2, "1.25"]])
        found = lines(Results(PLAN, samples()), {"row": "nothing"}, 4, ["a"])[1]
        self.assertEqual(found, [["row", "nothing", *["–"] * 5]])
