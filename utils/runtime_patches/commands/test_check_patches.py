"""Each patch is built where the one before was."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .check_patches import _go_on


class GoOn(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        place, names = Path(folder.name), ("first", "second", "third")
        made: Any = [SimpleNamespace(name=one, work=place / f"work-{one}", folder=place / one) for one in names]
        self.first, self.second, self.third = made

    def make(self, one: Any) -> None:
        for path in (one.work, one.folder):
            path.mkdir()
            (path / "name").write_text(one.name)

    def test_the_last_one_is_removed(self) -> None:
        self.make(self.first)
        self.assertEqual(_go_on(self.first, self.second), self.second)
        self.assertEqual((self.second.work / "name").read_text(), self.first.name)
        self.assertFalse(self.first.work.exists() or self.first.folder.exists())

    def test_what_was_there_stays(self) -> None:
        self.make(self.first)
        self.make(self.second)
        self.assertIsNone(_go_on(self.first, self.second))
        self.assertEqual((self.second.work / "name").read_text(), self.second.name)
        self.assertEqual(_go_on(None, self.third), self.third)
        self.assertTrue(self.second.work.exists())
