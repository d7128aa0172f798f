"""What the tables say about rounds whose times are known; and which trees fit into memory."""

from __future__ import annotations

import unittest

from ...base.errors import UserError
from . import tree_rounds as teardown
from .tree_times import Round, Run, rounds_table, summary_table

MS = 1_000_000


def run(runtime: str, factor: float, waited: int = 0) -> Run:
    rounds = [Round(number * MS, 10 * MS, int(factor * 100 * MS), 2 * MS, 1 * MS, waited) for number in (30, 10, 20)]
    return Run("class", runtime, 18, rounds)


class Teardown(unittest.TestCase):
    old, new = run("before", 1), run("after", 0.5, 40 * MS)

    def test_medians(self) -> None:
        self.assertEqual((self.old.median("generate"), self.old.median("total")), (20 * MS, 130 * MS))
        self.assertEqual((self.old.waited, self.new.waited), (0, 40 / 70))

    def test_tables(self) -> None:
        columns, rows = summary_table([self.old, self.new], ["before", "after"])
        self.assertEqual(
            rows,
            [["class", "18", "20.00", "10.00", "100.00", "130.00", "20.00", "10.00", "50.00", "80.00", "0.50", "0.62"]],
        )
        self.assertEqual(len(columns), len(rows[0]))
        columns, rows = rounds_table([self.old, self.new], 0.03)
        self.assertEqual(rows[0], ["class", "before", "18", "1", "30.00", "10.00", "100.00", "140.00", "2", "1"])
        self.assertEqual(rows[3][3], "1 (noisy)")
        self.assertEqual(len(columns), len(rows[0]))

    def test_trees_that_do_not_fit_are_refused(self) -> None:
        teardown.check_memory({"class": 24}, {"class": 48}, 2_000_000_000)
        with self.assertRaises(UserError) as refused:
            teardown.check_memory({"class": 26}, {"class": 48}, 2_000_000_000)
        self.assertEqual(refused.exception.message, "class with depth 26 needs about 6.4 GB of memory, 2.0 GB are free")
        self.assertEqual(refused.exception.hint, "--depth 24 fits; --filter leaves a variant out")
