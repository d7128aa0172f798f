"""What is made of a file of callgrind, and of counts, whose content is known."""

import unittest

from . import allocations, callgrind
from .counts import Counts

FILE = """# callgrind format
events: Ir
summary: 1064

ob=(1) /bin/program
fl=(1) ???
fn=(1) main
0 10
+3 4
cob=(2) /lib/libswiftCore.so
cfn=(2) swift_retain
calls=3 0
* 1000
fn=(3) another
-2 5

ob=(2)
fn=(2)
0 1000
cob=(1)
cfn=(3)
calls=1 7
+1 5
ob=(3)
fn=(4)
7 45
totals: 1064
"""
FOUND = {
    ("row", "old"): [(2000, 1000), (2001, 1000), (1999, 1000)],
    ("row", "new"): [(1000, 0), (1500, 0), (900, 0)],
    ("only", "old"): [None] * 3,
    ("only", "new"): [(7, 3)] * 3,
}


class Instructions(unittest.TestCase):
    def test_callgrind(self) -> None:
        self.assertEqual(
            callgrind.by_object(FILE.splitlines(keepends=True)),
            {"/bin/program": 19, "/lib/libswiftCore.so": 1000, "": 45},
        )

    def test_counts(self) -> None:
        both = Counts(FOUND, ["row", "only"], ["old", "new"])
        columns, lines = both.table()
        self.assertEqual(
            columns[1:], ["old: all", "in the runtime", "new: all", "in the runtime", "all, new/old", "in the runtime"]
        )
        self.assertEqual(
            lines,
            [["row", "2,000", "1,000", "1,000 (varies)", "0", "0.50", "0.00"], ["only", "-", "-", "7", "3", "-", "-"]],
        )
        self.assertEqual(both.unsteady, {("row", "new")})
        self.assertEqual(Counts(FOUND, ["row"], ["old"]).table()[1], [["row", "2,000", "1,000"]])

    def test_allocations(self) -> None:
        found = allocations.read("Task {}\t3.0\t2.5\t100.25\t120\nGroup\t0\t0\t0\t0\n")
        self.assertEqual(found, {"Task {}": [3.0, 2.5, 100.25, 120.0], "Group": [0.0] * 4})
        self.assertEqual([allocations.cell(one) for one in (0.00005, 2.0, 4.019, 1384.4)], ["0", "2", "4.02", "1,384"])
