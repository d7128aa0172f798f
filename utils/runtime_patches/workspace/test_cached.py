import os
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from . import cached


def one(place: Path) -> None:
    (place / "file").write_text("one")


def other(place: Path) -> None:
    (place / "file").write_text("other")


class Folders(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.ws: Any = SimpleNamespace(cache=Path(scratch.name))
        self.made: list[object] = []

    def folder(self, fill: Callable[[Path], object], *values: object) -> Path:
        def counted(place: Path) -> None:
            self.made.append(fill)
            fill(place)

        return cached.folder(self.ws, "system-x", "", counted, fill, *values)

    def test_another_recipe_has_another_folder(self) -> None:
        first = self.folder(one, "libc6")
        self.assertEqual(first, self.folder(one, "libc6"))
        self.assertEqual(self.made, [one])
        second, third = self.folder(other, "libc6"), self.folder(one, "libc6", "libgcc")
        self.assertEqual(len({first, second, third}), 3)
        self.assertEqual([(place / "file").read_text() for place in (first, second, third)], ["one", "other", "one"])

    def test_what_is_damaged_is_rebuilt(self) -> None:
        (self.folder(one) / "file").unlink()
        self.assertEqual((self.folder(one) / "file").read_text(), "one")

    def test_old_are_all_but_the_newest(self) -> None:
        places = [self.folder(one), self.folder(other), self.ws.cache / "system-x", self.ws.cache / "system-y"]
        for path in (*places[2:], self.ws.cache / "system-x.partial"):
            path.mkdir()
        for time, path in enumerate(places):
            os.utime(path, (time, time))
        os.utime(places[1], (9, 9))
        kept, old = cached.kept(self.ws.cache)
        self.assertEqual([path for path, _ in kept], sorted([places[1], places[3]]))
        self.assertEqual(sorted(old), sorted([places[0], places[2]]))
