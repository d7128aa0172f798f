"""What a campaign leaves out, and what it may not: a fit whose process has ended."""

from __future__ import annotations

import subprocess
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from ...base import process
from ...base.errors import UserError
from . import fit, fits


def _popen(argv: list[str], env: dict[str, str]) -> subprocess.Popen[Any]:
    child = process.start(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.wait()
    return child


class Failures(unittest.TestCase):
    def model(self, count: int) -> fit.Fit | None:
        workspace: Any = SimpleNamespace(popen=_popen)
        experiment: Any = SimpleNamespace(params="o,1")
        found = SimpleNamespace(values=[0] * count, objects=[*range(count)]), [float(time) for time in range(count)]
        with mock.patch.object(fits, "points", return_value=found), fit.Fitter(lambda: workspace) as fitter:
            campaign: Any = SimpleNamespace(fitter=fitter)
            return fits.model(campaign, experiment, "T", "after")

    def test_too_few_points(self) -> None:
        self.assertIsNone(self.model(3))

    def test_a_process_that_has_ended(self) -> None:
        with self.assertRaisesRegex(UserError, "the fit failed in the workspace"):
            self.model(9)
