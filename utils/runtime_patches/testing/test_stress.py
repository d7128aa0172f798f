"""Runtime `new` fails at seed 7 with 31 operations and 3 workers, or more; or with several seeds in one process."""

import contextlib
import io
import os
import unittest
from typing import Any
from unittest import mock

from ..base.errors import UserError
from . import stress


def output(self: object, runtime: str, case: stress.Case) -> tuple[int, str]:
    fails = runtime == "new" and case.first <= 7 <= case.last and case.operations >= 31 and case.workers >= 3
    return (1, "lost") if fails else (0, "counts")


class Now:
    """Fails at seed 7 each time with 31 operations, and with fewer in one of five tries."""

    tries = 0

    def output(self, runtime: str, case: stress.Case) -> tuple[int, str]:
        self.tries += 1
        fails = runtime == "new" and case.first <= 7 <= case.last
        return (1, "lost") if fails and (case.operations >= 31 or self.tries % 10 == 0) else (0, "counts")


def together(self: object, runtime: str, case: stress.Case) -> tuple[int, str]:
    return (1, "lost") if runtime == "new" and case.first < case.last else (0, "counts")


class Failure(unittest.TestCase):
    def failure(self, program: object) -> tuple[str, UserError]:
        """(what is printed, the error) of a run that fails."""
        text = io.StringIO()
        with (
            mock.patch.object(stress.Stress, "output", program),
            mock.patch.object(stress, "_compile", lambda *_: None),
            contextlib.redirect_stdout(text),
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(UserError) as raised,
        ):
            runtimes: Any = ["old", "new"]
            ws: Any = None
            stress.run(ws, runtimes, 1, 40, 50_000, 6, None)
        return text.getvalue(), raised.exception

    def test_smallest_case_is_told(self) -> None:
        text, error = self.failure(output)
        self.assertEqual(text, "seed 7 on new: status 1\nlost\n")
        self.assertEqual(error.message, "seed 7 fails on new")
        self.assertEqual(error.hint, "replay: utils/stress --seeds 7:7 --operations 31 --workers 3 old new")

    def test_smaller_case_fails_as_often(self) -> None:
        _, error = self.failure(Now().output)
        self.assertEqual(error.hint, "replay: utils/stress --seeds 7:7 --operations 31 --workers 1 old new")

    def test_fault_of_several_seeds_is_told_in_full(self) -> None:
        with mock.patch.dict(os.environ, SWIFT_CHAOS_SEED="5"):
            text, error = self.failure(together)
        self.assertEqual(text, "seeds 1:20 on new, and not one by one: status 1\nlost\n")
        self.assertEqual(error.message, "seeds 1:20 fail now and then")
        self.assertEqual(
            error.hint, "replay: SWIFT_CHAOS_SEED=5 utils/stress --seeds 1:20 --operations 50000 --workers 6 old new"
        )
