import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from ..base.errors import UserError
from . import trace


class Reader(unittest.TestCase):
    def show(self, status: int) -> int:
        ws = SimpleNamespace(run=lambda argv, **_: SimpleNamespace(returncode=status))
        options: Any = SimpleNamespace(perfetto=None, json=None, rows=8)
        with mock.patch.object(trace, "ready", return_value=ws):
            return trace._show(options, "trace")

    def test_one_that_was_killed_is_told(self) -> None:
        self.assertEqual((self.show(0), self.show(1)), (0, 1))
        with self.assertRaisesRegex(UserError, "was killed"):
            self.show(137)
