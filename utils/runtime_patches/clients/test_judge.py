from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

from . import judge
from .bundle import CRASHED, FAILED, HUNG, PASSED, Test

Runs = dict[str, list[dict[str, str]]]


class Scripted:
    """A bundle whose runs of all tests end as told, the last one again and again. Alone each test passes."""

    name = "scripted"

    def __init__(self, runs: Runs) -> None:
        self.runs = {runtime: list(outcomes) for runtime, outcomes in runs.items()}
        self.listed = [Test.of(name, "swift-testing") for name in ("a", "b")]

    def tests(self, runtime: str) -> list[Test]:
        return self.listed

    def run(self, runtime: str, tests: list[Test], show: Callable[[], None] | None = None) -> dict[str, str]:
        if len(tests) == 1:
            return {tests[0]: PASSED}
        runs = self.runs[runtime]
        return runs.pop(0) if len(runs) > 1 else runs[0]


def judged(before: list[dict[str, str]], after: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    bundle: Any = Scripted({"before": before, "after": after})
    runtimes: Any = ["before", "after"]
    found = judge.judge(bundle, runtimes)
    return list(found.lost), list(found.unsteady)


WELL = {"a": PASSED, "b": PASSED}


class BesideOthers(unittest.TestCase):
    def test_what_fails_again_is_lost(self) -> None:
        self.assertEqual(judged([WELL], [{"a": FAILED, "b": PASSED}]), (["a"], []))

    def test_once_is_unsteady(self) -> None:
        self.assertEqual(judged([WELL], [{"a": FAILED, "b": PASSED}, WELL]), ([], ["a"]))

    def test_what_fails_elsewhere_later_is_unsteady(self) -> None:
        bad = {"a": FAILED, "b": PASSED}
        self.assertEqual(judged([WELL, bad], [bad]), ([], ["a"]))

    def test_a_hang_that_takes_another_test_each_time_is_lost(self) -> None:
        runs = [{"a": HUNG, "b": PASSED}, {"a": PASSED, "b": HUNG}]
        self.assertEqual(judged([WELL], runs), (["a"], []))

    def test_the_end_of_a_process_is_lost(self) -> None:
        name = "the tests beside each other (swift-testing)"
        self.assertEqual(judged([WELL], [{**WELL, name: CRASHED}]), ([name], []))
