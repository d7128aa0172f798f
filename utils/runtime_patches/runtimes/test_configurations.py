"""Which files are compiled in other configurations, and whose errors count as the series'."""

import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import configurations
from .configurations import Row


class Tree:
    """A runtime's sources, with known errors: {file: [message]}; those of x.h are in all files."""

    def __init__(self, folder=None, found=None, files=()):
        self.folder, self.seen, self.found, self.commands = folder, "/seen", found or {}, dict.fromkeys(files)

    def errors(self, file, flags):
        places = [(place, text) for place in (file, "x.h") for text in self.found.get(place, ())]
        return {(place, text): f"{place}:1: {text}" for place, text in places}


def row(after, before):
    with ThreadPoolExecutor(1) as pool:
        return configurations._row("c11", (), list("abc"), Tree(found=before), Tree(found=after), pool)


class Configurations(unittest.TestCase):
    def test_errors_that_are_there_without_the_series_are_upstreams(self):
        found = row({"b": ["old"], "c": ["old", "new"]}, {"b": ["old"], "c": ["old"]})
        self.assertEqual(found, Row("c11", 1, {"b": "b:1: old"}, {"c": "c:1: new"}))
        self.assertEqual(row({}, {}), Row("c11", 3, {}, {}))

    def test_one_error_of_all_files_is_the_reason(self):
        header = {"x.h": ["missing"]}
        self.assertEqual(row(header, header), Row("c11", reason="x.h:1: missing"))

    def test_files_that_changed_or_include_what_changed(self):
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
