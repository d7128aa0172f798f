"""A fault is made smaller: here runtime `new` fails at seed 7 with 31 operations and 3 workers, or more."""

import contextlib
import io
import unittest
from unittest import mock

from ..base.errors import UserError
from . import stress


def output(self, runtime, case):
    fails = runtime == "new" and case.first <= 7 <= case.last and case.operations >= 31 and case.workers >= 3
    return (1, "lost") if fails else (0, "counts")


class Shrink(unittest.TestCase):
    def test_smallest_case_is_told(self):
        text = io.StringIO()
        with (
            mock.patch.object(stress.Stress, "output", output),
            mock.patch.object(stress, "_compile", lambda *_: None),
            mock.patch.object(stress.build, "ensure", lambda *_: None),
            contextlib.redirect_stdout(text),
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(UserError) as raised,
        ):
            stress.run(None, ["old", "new"], 1, 40, 50_000, 6, None)
        self.assertEqual(text.getvalue(), "seed 7 on new: status 1\nlost\n")
        self.assertEqual(raised.exception.message, "seed 7 fails on new")
        self.assertEqual(raised.exception.hint, "replay: utils/stress --seeds 7:7 --operations 31 --workers 3 old new")
