import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..series.patch import Patch
from . import figures

TEXT = """From: Tester <tester@localhost>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] [Runtime] Do it

Why.

Benchmark: before/after in us, 2 cores: Casts.Class 9/8 (no change), Casts.Fails
  7/6, Casts.Old 6/5, Isolated 5/4, Casts.Third 3/2, Casts.Fourth 2/1
Upstream-Status: Pending [made up]

diff --git a/a b/a
+Benchmark: Casts.Class 1/1
"""


class Figures(unittest.TestCase):
    def test_three_rows_of_the_records(self) -> None:
        names = ("Casts.Class", "Casts.Fails", "Casts.Third", "Casts.Fourth")
        kinds = ("faster", "same", "faster", "slower")
        rows = [SimpleNamespace(name=one, old=180.13, new=73.1, verdict=kind) for one, kind in zip(names, kinds)]
        result: Any = SimpleNamespace(verdicts=rows, one_sided=[])
        patch = Patch("x", TEXT, Path("x.patch"))
        text = figures.header(patch, result, "vm")
        assert text
        wanted = (
            "Benchmark: before/after the whole series in us (vm/smoke.json): Casts.Fourth\n"
            "  180.1/73.10, Casts.Class 180.1/73.10, Casts.Fails 180.1/73.10 (in the noise)\n"
        )
        self.assertIn(wanted, text)
        self.assertTrue(text.endswith("+Benchmark: Casts.Class 1/1\n"))
        self.assertEqual(figures.header(Patch("x", text, Path("x.patch")), result, "vm"), text)

    def test_rows_that_before_lacks(self) -> None:
        sides = {"Casts.Class": "old", "Casts.Fails": "new"}
        single = [SimpleNamespace(name=name, side=side, values=[3.0, 180.13, 200]) for name, side in sides.items()]
        result: Any = SimpleNamespace(verdicts=[], one_sided=single)
        text = TEXT.replace("before/after in us, 2 cores: Casts.Class 9/8", "after in us: Casts.Class 9")
        written = figures.header(Patch("x", text.replace("7/6", "7"), Path("x.patch")), result, "vm")
        wanted = "Benchmark: after, since before lacks these rows, in us (vm/smoke.json):\n  Casts.Fails 180.1\n"
        self.assertIn(wanted, written or "")
        self.assertEqual(figures.header(Patch("x", written or "", Path("x.patch")), result, "vm"), written)

    def test_names_that_leave_out_the_first_word(self) -> None:
        known = ("Casts.Cast.Class", "Casts.Cast.Fails", "Other.Row")
        self.assertEqual(figures.rows("Casts.Cast.Class 1/2, Cast.Fails 3/4; Other.Row 5,000/6", known), list(known))
        self.assertEqual(figures.rows("none: Casts.Cast.Class does not change", known), [])
