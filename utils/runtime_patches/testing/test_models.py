"""Tests of what reads atomic operations and compares them with the models."""

import tempfile
import unittest
from unittest import mock

from ..base.errors import UserError
from . import models

_PATCH = """\
Subject: words like Count.load(std::memory_order_relaxed) before the patch

diff --git a/a.cpp b/a.cpp
--- a/a.cpp
+++ b/a.cpp
@@ -1,9 +1,14 @@ void before(int a) {
 static void take(Slot *slot)
 {
-  slot->store(1, std::memory_order_release);
+  // slot->store(1, std::memory_order_relaxed) is not here.
+  while (!slot->compare_exchange_weak(
           old, 1,
           std::memory_order_acq_rel,
+          std::memory_order_acquire))
+    ;
   Other.load(std::memory_order_acquire);
+retry:
+  fence();
+  if (Count.load(SWIFT_MEMORY_ORDER_CONSUME))
+    Count.load(std::memory_order::seq_cst);
 }
@@ -30,2 +40,3 @@ int unlock(int *lock) {
+  return __atomic_exchange_n(lock, 0, __ATOMIC_ACQ_REL);
 }
diff --git a/b.swift b/b.swift
--- a/b.swift
+++ b/b.swift
@@ -1,2 +1,9 @@ extension Lock {
   func lock() {
+    guard storage.compareExchange(
+      expected: 0, desired: 1,
+      successOrdering: .acquiring, failureOrdering: .relaxed).exchanged else { return }
+    Builtin.atomicload_monotonic_Int8(Builtin.addressof(&word))
   }
"""


class Operations(unittest.TestCase):
    def test_all_that_a_patch_adds_or_changes(self) -> None:
        found = [(o.function, o.name, o.orders) for o in models.operations("p", _PATCH)]
        self.assertEqual(
            found,
            [
                ("take", "slot.compare_exchange_weak", "acq_rel/acquire"),
                ("take", "Count.load", "consume"),
                ("take", "Count.load#2", "seq_cst"),
                ("unlock", "__atomic_exchange_n(lock)", "acq_rel"),
                ("lock", "storage.compareExchange", "acquire/relaxed"),
                ("lock", "Builtin.atomicload_Int8(Builtin.addressof)", "relaxed"),
            ],
        )


_TABLE = """\
# comment
[p]
take    slot.compare_exchange_weak  acq_rel/acquire  claim
take    Count.load                  relaxed          - a hint
gone    x.load                      relaxed          look
"""


class Table(unittest.TestCase):
    def test_differences(self) -> None:
        found = models.operations("p", _PATCH)[:3]
        self.assertEqual(
            models.differences(models.read_table(_TABLE), found),
            [
                "p: gone x.load: not in the series",
                "p: take Count.load: consume, but orders.txt has relaxed",
                "p: take Count.load#2 seq_cst: not in orders.txt",
            ],
        )

    def test_rows_that_are_none(self) -> None:
        for row in ("f x.load relaxed", "f x.load relaxed - ", "f x.load relaxed look more", ""):
            text = f"[p]\n{row}\n" if row else "f x.load relaxed look\n"
            with self.assertRaises(UserError):
                models.read_table(text)

    def test_a_parameter_has_one_order(self) -> None:
        rows = models.read_table("[p]\nf x.load relaxed look\nf y.load acquire look\n")
        with self.assertRaises(UserError):
            models.parameters(rows, "p")
        self.assertEqual(models.parameters(rows, "q"), {})


class Answers(unittest.TestCase):
    def test_a_question_is_asked_once_for_each_key(self) -> None:
        asked = []

        def ask() -> str:
            asked.append("")
            return f"answer {len(asked)}"

        with tempfile.TemporaryDirectory() as home, mock.patch.dict("os.environ", XDG_CACHE_HOME=home):
            found = [models.Answers(key).get(what, ask) for key, what in ("aa", "aa", "ab", "ba", "ab")]
        self.assertEqual([text[-1] for text in found], ["1", "1", "2", "3", "2"])


class Mutations(unittest.TestCase):
    def test_each_single_weakening(self) -> None:
        self.assertEqual(
            models.weakenings("acq_rel/acquire"), ["acquire/acquire", "release/acquire", "acq_rel/relaxed"]
        )
        self.assertEqual(models.weakenings("seq_cst"), ["acq_rel"])
        self.assertEqual(models.weakenings("relaxed/relaxed"), [])

    def test_all_that_is_weaker(self) -> None:
        self.assertEqual(models.all_weaker("seq_cst"), ["acq_rel", "acquire", "relaxed", "release"])
        self.assertEqual(models.all_weaker("seq_cst", "load"), ["acquire", "relaxed"])

    def test_what_no_line_speaks_of(self) -> None:
        own = {"look": "seq_cst", "drop": "acq_rel"}
        expected = {"drop=acquire", "look=acquire"}
        self.assertEqual(
            models.missing(own, ["-wake"], {"look": "load"}, expected),
            ["no line about drop=release", "no line about -wake"],
        )

    def test_lines_of_a_model(self) -> None:
        faults, unneeded = models.expectations(
            "// FAULT a=relaxed: DATA RACE\n// NOT NEEDED -b: it is so.\n// NOT SEEN c=release: why\n// FAULTY\n"
        )
        self.assertEqual(faults, {"a=relaxed": "DATA RACE"})
        self.assertEqual(unneeded, {"-b": "NOT NEEDED: it is so.", "c=release": "NOT SEEN: why"})
