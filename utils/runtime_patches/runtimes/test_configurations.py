"""Which files are compiled in other configurations, and whose errors count as the series'."""

from __future__ import annotations

import tempfile
import unittest
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from . import configurations
from .configurations import Compiled


class Tree(configurations._Tree):
    """A runtime's sources, with known errors: {file: [message]}; those of x.h are in all files."""

    def __init__(
        self, folder: Path | None = None, found: dict[str, list[str]] | None = None, files: Iterable[str] = ()
    ) -> None:
        self.folder, self.seen, self.found = folder or Path(), "/seen", found or {}
        self.commands: dict[str, list[str]] = {file: [] for file in files}

    def errors(self, file: str, flags: Sequence[str]) -> dict[tuple[str, str], str]:
        places = [(place, text) for place in (file, "x.h") for text in self.found.get(place, ())]
        return {(place, text): f"{place}:1: {text}" for place, text in places}


def row(after: dict[str, list[str]], before: dict[str, list[str]]) -> Compiled:
    with ThreadPoolExecutor(1) as pool:
        return configurations._row("c11", (), list("abc"), Tree(found=before), Tree(found=after), pool)


class Configurations(unittest.TestCase):
    def test_errors_that_are_there_without_the_series_are_upstreams(self) -> None:
        found = row({"b": ["old"], "c": ["old", "new"]}, {"b": ["old"], "c": ["old"]})
        self.assertEqual(found, Compiled("c11", 1, {"b": "b:1: old"}, {"c": "c:1: new"}))
        self.assertEqual(row({}, {}), Compiled("c11", 3, {}, {}))

    def test_one_error_of_all_files_is_the_reason(self) -> None:
        header = {"x.h": ["missing"]}
        self.assertEqual(row(header, header), Compiled("c11", reason="x.h:1: missing"))

    def test_functions_that_no_object_defines(self) -> None:
        symbols = {
            "a": "0010 T swift::one()\n U swift::two(int)\n U swift_one\n",
            "b": " U swift::one()\n U std::x()\n",
        }
        tree = Tree(files=[f"/Concurrency/{file}.cpp" for file in symbols])
        with mock.patch.object(tree, "_symbols", lambda file, flags: symbols[file[-5]]), ThreadPoolExecutor(1) as pool:
            self.assertEqual(tree.missing((), pool), {"swift::two(int)"})

    def test_files_that_changed_or_include_what_changed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trees = []
            for name, header in (("before", "old"), ("after", "new")):
                place = Path(folder, name)
                (place / "stdlib/public").mkdir(parents=True)
                for file, text in (
                    ("A.h", header),
                    ("one.cpp", '#include "swift/A.h"'),
                    ("two.cpp", '#include "BA.h"'),
                    ("three.cpp", header),
                ):
                    (place / "stdlib/public" / file).write_text(text)
                files = [f"/seen/stdlib/public/{file}.cpp" for file in ("one", "two", "three")]
                trees.append(Tree(place, files=[*files, "/seen/stdlib/public/A.h"]))
            self.assertEqual(configurations._files(*trees), [files[0], files[2]])
