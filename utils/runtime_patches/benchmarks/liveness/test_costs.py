"""What the tables say about an output of Google Benchmark that is known."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any

from ..harness import jobs
from . import costs


def entry(
    name: str, threads: int, time: float, cpu: float, unit: str = "ns", aggregate: str | None = None, **more: Any
) -> dict[str, str | float | None]:
    kind = "aggregate" if aggregate else "iteration"
    names = {"run_name": name, "run_type": kind, "aggregate_name": aggregate, "threads": threads}
    return {**names, "real_time": time, "cpu_time": cpu, "time_unit": unit, **more}


ROWS = costs.rows(
    {
        "benchmarks": [
            entry("BM_Checkpoint/threads:4", 4, 2, 2),
            entry("BM_Checkpoint/threads:4", 4, 38, 9),
            entry("BM_Checkpoint/threads:4", 4, 1, 1),
            entry("BM_Checkpoint/threads:4", 4, 99, 99, aggregate="mean"),
            entry("BM_Job/threads:1", 1, 17.25, 17.5),
            entry("BM_Scan/1024", 1, 0.7, 0.75, "us"),
            entry("BM_Detection/20/iterations:10/manual_time", 1, 25.25, 0.1, "ms", worst_ms=26.5),
            entry("BM_Detection/20/iterations:10/manual_time", 1, 24.25, 0.1, "ms", worst_ms=25.5),
        ]
    }
)


class Liveness(unittest.TestCase):
    def test_tables(self) -> None:
        threads, looks, reports = (rows for _, rows in costs.tables(ROWS).values())
        self.assertEqual(
            threads, [["BM_Checkpoint", "4", "0.50", "2.00", "13", "51"], ["BM_Job", "1", "17.25", "17.50", "", ""]]
        )
        self.assertEqual((looks, reports), ([["1024", "750"]], [["20", "24.8", "26.5"]]))
        self.assertEqual(list(costs.tables(ROWS[:1])), ["Threads at once"])

    def test_summary_needs_all_of_its_rows(self) -> None:
        self.assertIsNone(costs.summary(ROWS))
        seen = [("BM_JobWithMonitor", 18.25), ("BM_Checkpoint", 1), ("BM_ConcurrentCreateDelete", 11)]
        more = costs.rows({"benchmarks": [entry(f"{name}/threads:1", 1, cpu, cpu) for name, cpu in seen]})
        self.assertEqual(
            costs.summary([*ROWS, *more]),
            "The liveness monitor costs 0.8 ns a job while it is on, "
            "1.0 ns a checkpoint, 11.0 ns a scope; it looks at 1,024 threads in 750 ns.",
        )

    def test_jobs(self) -> None:
        rows = [
            SimpleNamespace(name=name, old=100, new=new, ratio=new / 100, noise=noise)
            for name, new, noise in (("One", 104, 0.01), ("Two", 102, -0.02), ("Three", 99, 0))
        ]
        self.assertEqual(jobs.table(rows)[1][0], ["One", "100", "104", "1.04", "1.01"])
        self.assertEqual(
            jobs.summary(rows)[1],
            [["on / off", 3, "1.020", "1.04", "One"], ["off again / off, either way", 3, "1.010", "1.02", "Two"]],
        )

    def test_curves(self) -> None:
        curves = costs.curves(ROWS, "BM_Checkpoint")
        self.assertEqual((curves["CPU"], curves["time"]), ([(4, 2)], [(4, 0.5)]))
        self.assertIn((1024, 59), curves["CPU, reference"])
        self.assertNotIn(1024, dict(curves["time, reference"]))  # 0 there, in whole ns
