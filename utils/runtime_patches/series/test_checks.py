"""check-patches finds each kind of fault in a header; the series and its patches are read as they are written."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ..base.errors import UserError
from ..base.paths import PATCHES
from . import checks, patch, series

TEXT = """From: Tester <tester@localhost>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] [Concurrency] Change a line for
 the tests

A line is changed, and nothing else. The reason takes thirty words in a header
of this series, so that a reader knows why; here it is that the tests of the
tools need a patch which stays the same while the real series changes.

ABI: none.
Memory: none
  in any shape.
Test: test/a.swift
Guard: test/b.swift
Benchmark: none: it is made up
Upstream-Status: Pending [made up for the tests]
Patch-Name: name
---
 notes

diff --git a/one.cpp b/one.cpp
--- a/one.cpp
+++ b/one.cpp
@@ -3,3 +3,3 @@
 context
-old
+new
@@ -9 +9 @@
-old
+new
"""


def of(text: str) -> patch.Patch:
    return patch.Patch("name", text, PATCHES / "name.patch")


class Header(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repo = Path(folder.name)
        (self.repo / "test").mkdir()
        (self.repo / "test/a.swift").write_text("// RUN: x\n// XFAIL: without_name, OS=other\n")
        (self.repo / "test/b.swift").write_text("// RUN: x\n")
        replaced = mock.patch.object(checks, "REPO", self.repo)
        replaced.start()
        self.addCleanup(replaced.stop)

    def faults(self, *pairs: tuple[str, str]) -> list[str]:
        text = TEXT
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return checks.of_patch(of(text))

    def test_fields(self) -> None:
        made = of(TEXT)
        self.assertEqual(made.subject, "[Concurrency] Change a line for the tests")
        self.assertEqual(made.fields["Memory"], "none in any shape.")
        self.assertEqual((made.tests, made.guards, made.files), (["test/a.swift"], ["test/b.swift"], ["one.cpp"]))
        self.assertEqual(made.upstream, ("Pending", "[made up for the tests]"))
        self.assertNotIn("notes", made.message)
        self.assertEqual([made.hunk_at("one.cpp", line) for line in (3, 9, 4)], [1, 2, None])

    def test_each_fault_is_found(self) -> None:
        self.assertEqual(self.faults(), [])
        for wanted, *pairs in (
            ("the header has no 'ABI:'", ("ABI: none.\n", "")),
            ("the fields are not each there once", ("ABI: none.\n", ""), ("Patch-Name", "ABI: none.\nPatch-Name")),
            ("is neither a field nor indented", ("  in any", "in any")),
            ("'Test:' names test/no.swift, which does not exist", ("test/a.swift", "test/no.swift")),
            ("'Guard:' names test/no.swift, which does not exist", ("test/b.swift", "test/no.swift")),
            ("which has no 'XFAIL: without_name'", ("test/a.swift", "test/b.swift")),
            ("which says 'without_name'", ("test/b.swift", "test/a.swift")),
            ("'Test:' names no file", ("test/a.swift", "a.swift")),
            ("'Test:' is 'none', but the reason", ("test/a.swift", "none: short")),
            ("'Benchmark:' is 'none', but the reason", ("none: it is made up", "none: short")),
            ("needs its [reason]", (" [made up for the tests]", "")),
            ("is none of Pending", ("Pending", "Later")),
            ("names Row.One, which no suite entry has", ("none: it is made up", "Row.One 1/2")),
            ("has no figures", ("none: it is made up", "faster")),
            ("does not say why", ("in a header\nof this series, so that a reader knows why; here it is that", "")),
            ("'name2', not the file's name", ("Patch-Name: name", "Patch-Name: name2")),
            ("without a full stop", ("the tests\n\nA", "the tests.\n\nA")),
            ("tests and benchmarks stand in this", ("a/one.cpp b/one.cpp", "a/test/one b/test/one")),
            ("ends in white space", ("+new", "+new ")),
            ("not plain ASCII", ("made up", "m\u00e4de up")),
        ):
            self.assertIn(wanted, "\n".join(self.faults(*pairs)), pairs)
        self.assertEqual(self.faults(("test/a.swift\nGuard", "none: it is only faster\nGuard")), [])

    def test_what_is_no_patch(self) -> None:
        for text in ("", "garbage", TEXT.partition("diff")[0]):
            with self.assertRaisesRegex(UserError, "is not a patch in mail format"):
                of(text)

    def test_tests_name_the_missing_patch(self) -> None:
        for line, count in (
            ("// XFAIL: runtime_before", 1),
            ("// UNSUPPORTED: a, runtime_before", 1),
            ("// XFAIL: runtime_before-asan", 0),
            ("// runtime_before", 0),
        ):
            (self.repo / "test/c.swift").write_text(line)
            with mock.patch.object(series, "copied_files", lambda: {"test/c.swift": self.repo / "test/c.swift"}):
                self.assertEqual(len(checks.tests()), count, line)


class Order(unittest.TestCase):
    def test_order(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "name.patch").write_text(TEXT)
            Path(folder, "unlisted.patch").write_text(TEXT)
            for order, wanted in (
                ("# x\nname  # y\n\n", None),
                ("name\nname\n", "is listed twice"),
                ("Name\n", "is not a patch name"),
            ):
                Path(folder, "series").write_text(order)
                if wanted:
                    with self.assertRaisesRegex(UserError, wanted):
                        series.Series(folder)
            Path(folder, "series").write_text("name\nabsent\n")
            listed = series.Series(folder)
            self.assertEqual(listed.names, ["name", "absent"])
            self.assertEqual(listed.patch("name").slug, "name")
            faults = dict(checks.headers(listed))
            self.assertEqual(faults["unlisted.patch"], "is not listed in patches/series")
            self.assertIn("does not exist", faults["absent.patch"])
            with self.assertRaisesRegex(UserError, "no patch 'other'"):
                listed.select(["other"])

    def test_version(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "series").write_text("")
            for text, right in (
                ("6.2.3-rp1\n", True),
                ("6.2.3-rp12", True),
                ("6.2.3-rp0", False),
                ("6.3.0-rp1", False),
            ):
                (Path(folder) / "version").write_text(text)
                faults = checks.headers(series.Series(folder))
                self.assertEqual(faults == [], right, f"{text}: {faults}")
