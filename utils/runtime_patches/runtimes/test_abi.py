"""What is made of differences, in made-up layouts and values."""

import unittest

from . import abi

JOB = ["0 | class swift::Job", "0 | int a", "8 | int b"]
OTHER = ["0 | class swift::Stated", "0 | int a"]


class Abi(unittest.TestCase):
    def test_values(self) -> None:
        self.assertEqual(
            abi.values({"size": 8, "same": 1}, {"size": 16, "same": 1}), [("debug value", "size 8 -> 16", None)]
        )

    def test_layouts_that_a_patch_states_have_a_reason(self) -> None:
        rows = abi.records(
            {"swift::Job": JOB, "swift::Stated": OTHER},
            {"swift::Job": [*JOB[:2], "16 | int b"], "swift::Stated": OTHER[:1]},
            {"Stated": "patch"},
        )
        self.assertEqual(
            rows,
            [("layout", "swift::Job\n-8 | int b\n+16 | int b", None), ("layout", "swift::Stated\n-0 | int a", "patch")],
        )
