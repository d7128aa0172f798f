"""Names of runtimes."""

import unittest
from unittest import mock

from ..base.errors import UserError
from ..base.paths import PATCHES
from ..series import series
from . import runtime


class Series:
    names = ["first", "second"]
    check = series.Series.check
    order = PATCHES / "series"


@mock.patch.object(series, "load", Series)
class Names(unittest.TestCase):
    def test_names(self) -> None:
        for name, wanted in {
            "stock": ("stock", None, None),
            "after": ("after", None, None),
            "asan": ("after", None, "asan"),
            "before-tsan": ("before", None, "tsan"),
            "upto:second": ("upto", "second", None),
        }.items():
            found = runtime.parse(name)
            self.assertEqual((found.base, found.patch, found.variant), wanted)
            self.assertEqual((found.name, ":" in found.folder.name), (name, False))

    def test_what_is_no_runtime(self) -> None:
        for name in ("", "nope", "-asan", "after-asan", "upto:", "upto:third", "before-", "stock-asan"):
            with self.assertRaises(UserError):
                runtime.parse(name)

    def test_steps(self) -> None:
        self.assertEqual(runtime.steps(), {"first": ("before", "upto:first"), "second": ("upto:first", "upto:second")})
