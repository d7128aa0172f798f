"""Each patch is built where the one before was."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ..runtimes import runtime
from ..runtimes.runtime import upto
from .check_patches import _go_on


class GoOn(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        for name, value in (("BUILD", self.build), ("FOLDER", self.build / "runtimes")):
            patcher = mock.patch.object(runtime, name, value)
            patcher.start()
            self.addCleanup(patcher.stop)
        from ..series import series

        self.first, self.second, self.third = (upto(patch.slug) for patch in list(series.load())[:3])
        for one in (self.first, self.second):
            for path in (one.work, one.folder):
                self.assertFalse(path.exists())

    def make(self, one: runtime.Runtime) -> None:
        for path in (one.work, one.folder):
            path.mkdir(parents=True)
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
