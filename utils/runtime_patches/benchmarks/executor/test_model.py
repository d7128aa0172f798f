"""The model agrees with what is known without it; the targets are judged by the right figures."""

from __future__ import annotations

import unittest

from . import model, results

COSTS = model.Costs(line=30, word=40, lock=100, futex=10_000)


class Model(unittest.TestCase):
    def test_one_processor_waits_for_nobody(self) -> None:
        parts, alone = model.pool(model.LOADS[1], COSTS)
        self.assertAlmostEqual(1 / model.rate(parts, alone, 1), alone + sum(part.demand for part in parts))

    def test_the_busiest_part_is_the_limit(self) -> None:
        parts, alone = model.dispatch(model.Load("", 1000, 0, 0), COSTS)
        self.assertLessEqual(model.rate(parts, alone, 64), 1 / 200)
        self.assertGreater(model.rate(parts, alone, 64), 0.95 / 200)

    def test_nothing_shared_scales(self) -> None:
        made = model.pool(model.Load("", 1000, 0, 0), COSTS)
        self.assertAlmostEqual(model.efficiency(made, 64), 1)

    def test_shards_help_the_injection_queue_only(self) -> None:
        foreign, woken = model.LOADS[1], model.Load("", 1000, 0, 1)
        few = model.efficiency(model.pool(foreign, COSTS), 64)
        self.assertGreater(model.efficiency(model.pool(foreign, COSTS, 8), 64), 2 * few)
        self.assertIsNone(model.shards_needed(woken, COSTS, 64))
        self.assertEqual(model.shards_needed(model.Load("", 1000, 0, 0), COSTS, 64), 1)

    def test_table(self) -> None:
        columns, rows = model.lines(COSTS)
        self.assertTrue(all(len(row) == len(columns) for row in rows))


class Results(unittest.TestCase):
    def test_figures(self) -> None:
        self.assertEqual(results.figures("wall\t1.5\nlibrary\t/a/b.so\nno tab\n"), {"wall": 1.5})

    def test_judge(self) -> None:
        samples = results.Samples()
        for value in range(20):
            samples.add(("task", "off"), {"wall": 1000, "cpu": 1000})
            samples.add(("task", "on"), {"wall": 400 + value, "cpu": 400 if value < 10 else 2000})
        samples.add(results.GO, {"wall": 410}, "spawn.")
        targets = [
            results.Target("task", "wall", 1.0, "Go spawn.wall"),
            results.Target("task", "cpu", 0.45),
            results.Target("task", "cpu", 0.45, share=results.NEARLY_ALL),
            results.Target("task", "wall", 12, "floor line"),
            results.Target("other", "wall", 1),
        ]
        judged = results.judge(samples, targets)
        self.assertEqual([one.is_met for one in judged], [True, True, False, None])
        columns, lines = results.target_lines(judged)
        self.assertTrue(all(len(line) == len(columns) for line in lines))
        columns, figures = results.distribution_lines(samples)
        self.assertTrue(all(len(line) == len(columns) for line in figures))
