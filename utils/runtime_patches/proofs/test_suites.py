"""What the record of a suite holds, and how its row shows it."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ..results import environment
from . import suites

_TWO_RUNS = "1 of 2: first\n3 passed, 0 failed, 1 skipped\n2 of 2: second\n4 passed, 1 failed, 0 skipped\nmore\n"


class Suites(unittest.TestCase):
    def test_all_runs_are_counted(self) -> None:
        self.assertEqual(suites.counted(_TWO_RUNS), [7, 1, 1])
        self.assertEqual(suites.counted("no counts\n"), [None, None, None])
        line = 20 * "*"
        failure = f"{line} TEST 'a' FAILED {line}\n0 passed, 1 failed, 0 skipped\n{line}\n"
        self.assertEqual(suites.counted(failure + _TWO_RUNS), [7, 1, 1])

    def test_a_failure_is_named_once(self) -> None:
        lines = "FAIL: us :: a.swift (6 of 9, 3 of 3 attempts)\nFAIL: us :: b.swift (2 of 9)\nFAIL: us :: a.swift\n"
        self.assertEqual(suites.failed(lines), ["a.swift", "b.swift"])

    def test_a_row_tells_the_reason(self) -> None:
        state, here = environment.state(), environment.here()
        proof = suites.Proof("abi", state, "2026-01-01T00:00:00Z", 60, 1, here, failures=["a.swift"])
        told = {None: "failed: a.swift", "too slow here": "failed: a.swift (too slow here)"}
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(suites, "SAVED_RESULTS", Path(folder)):
            for proof.reason, wanted in told.items():
                suites.save("machine", proof)
                (row,) = (row for row in suites.table("machine").rows if row[0] == "abi")
                self.assertEqual(row[3], wanted)
