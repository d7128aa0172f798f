"""Which rows are measured, and how: by default ours and upstream's concurrency entries."""

from __future__ import annotations

import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from ...base.errors import UserError
from ...results.comparison import Side, Sides
from . import binary, compare

MAIN = """import TestsUtils
import DriverUtils
import AsyncTree
import Other
  register(AsyncTree.benchmarks)
  register(Other.benchmarks)
main()
"""
DEFAULT = {"Ours": ["concurrency"], "Ours.Unstable": ["concurrency", "unstable"]}
SUITE = {**DEFAULT, "Other": ["Array"]}


class Choose(unittest.TestCase):
    def choose(self, pattern: str | None = None, everything: bool = False) -> dict[str, list[str]]:
        listings = {"old": {}, "new": {"Ours.Added": ["concurrency"]}}
        with (
            mock.patch.multiple(
                binary,
                suite=lambda ws: SUITE,
                default=lambda suite: DEFAULT,
                build=lambda ws, chosen: chosen,
                may_match=lambda module, pattern: True,
            ),
            mock.patch.object(compare, "_listing", lambda ws, side, binary: {**binary, **listings[side.name]}),
        ):
            ws: Any = None
            found = compare.choose(ws, Sides(Side("old"), Side("new")), pattern, everything)
        return {row.name: row.columns for row in found.rows}

    def test_a_row_that_one_side_lacks_is_compared_with_nothing(self) -> None:
        both = ["old", "control", "new"]
        self.assertEqual(self.choose(), {"Ours": both, "Ours.Added": ["new"]})
        self.assertEqual(self.choose(everything=True), {"Other": both, "Ours": both, "Ours.Added": ["new"]})
        self.assertEqual(self.choose("Ours$"), {"Ours": both})
        self.assertEqual(self.choose("Unst"), {"Ours.Unstable": both})
        self.assertEqual(self.choose("O.her"), {"Other": both})

    def test_no_row_matches(self) -> None:
        for everything in (False, True):
            with self.assertRaisesRegex(UserError, "no benchmark matches 'nope'"):
                self.choose("nope", everything)

    def test_names_come_from_the_sources(self) -> None:
        with TemporaryDirectory() as folder:
            source = Path(folder, "One.swift")
            module = binary.Module("One", [source])
            for text, pattern, wanted in (
                ('BenchmarkInfo(name: "One.Two")', r"^One\.T", True),
                ('name: "One.Two"', "one", False),
                (r'name: "One.\(kind).10"', "One.Two.10", True),
                (r'name: "One.\(kind)"', "no-such", False),
                ('name: label, "Three"', "Three", True),
                ('name: label, "Three"', "no", True),
            ):
                source.write_text(text)
                self.assertEqual(binary.may_match(module, pattern), wanted, (text, pattern))

    def test_main_registers_what_is_chosen(self) -> None:
        text = binary.main_text(MAIN, ["AsyncTree", "Ours"])
        imports = ["import Ours", "import TestsUtils", "import DriverUtils", "import AsyncTree"]
        calls = ["register(AsyncTree.benchmarks)", "register(Ours.benchmarks)", "main()"]
        self.assertEqual([line.strip() for line in text.splitlines()], imports + calls)
