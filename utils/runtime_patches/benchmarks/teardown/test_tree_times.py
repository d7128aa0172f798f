"""What the tables say about rounds whose times are known; and which trees fit into memory."""

import unittest

from ...base.errors import UserError
from . import tree_rounds as teardown
from .tree_times import Round, Run, columns, rounds_table, summary_table

MS = 1_000_000
NAMES = ["before", "after"]


def run(variant: str, column: str, factor: float, waited: int = 0) -> Run:
    times = (30, 10, 20, 40, 15)
    rounds = [Round(ms * MS, 10 * MS, int(factor * (100 + ms) * MS), 2 * MS, MS, waited) for ms in times]
    return Run(variant, column, 18, rounds)


def runs(variant: str, *factors: float) -> list[Run]:
    return [run(variant, column, factor) for column, factor in zip(columns(NAMES), factors)]


class Teardown(unittest.TestCase):
    def test_tables(self) -> None:
        header, rows = summary_table(runs("class", 1, 1.1, 0.5), NAMES)
        times = ["20.00", "10.00", "128.25", "156.75", "20.00", "10.00", "60.00", "90.00"]
        self.assertEqual(rows, [["class", "18", *times, "0.47", "0.57", "1.10", "1.08"]])
        self.assertEqual(len(header), len(rows[0]))
        header, rows = summary_table([run("class", "before", 1)], ["before"])
        self.assertEqual(rows, [["class", "18", "20.00", "10.00", "120.00", "150.00"]])
        self.assertEqual(len(header), len(rows[0]))
        header, rows = rounds_table([run("class", "after", 1, 40 * MS)], 0.22)
        self.assertEqual(rows[0], ["class", "after", "18", "1 (noisy)", "30.00", "10.00", "130.00", "170.00", "2", "1"])
        self.assertEqual(rows[3][3], "4")
        self.assertEqual(len(header), len(rows[0]))

    def test_no_sentence_tells_what_is_in_the_noise(self) -> None:
        found = [*runs("isolated-layers", 1, 1, 0.5), *runs("isolated-one-actor", 1, 1.1, 0.95)]
        told = teardown.report(found, NAMES).summary
        self.assertEqual(told, ["Dropping a tree of isolated deinits takes 0.50 (isolated-layers) of the time."])
        self.assertEqual(teardown.report(runs("isolated-layers", 1, 1, 1), NAMES).summary, [])

    def test_trees_that_do_not_fit_are_refused(self) -> None:
        teardown.check_memory({"class": 24}, {"class": 48}, 2_000_000_000)
        with self.assertRaises(UserError) as refused:
            teardown.check_memory({"class": 26}, {"class": 48}, 2_000_000_000)
        self.assertEqual(refused.exception.message, "class with depth 26 needs about 6.4 GB of memory, 2.0 GB are free")
        self.assertEqual(refused.exception.hint, "--depth 24 fits; --filter leaves a variant out")
