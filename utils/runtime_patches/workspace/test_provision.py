"""What is checked before anything is downloaded."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from ..base import files, pins
from ..base.errors import UserError
from . import provision, sandbox


class Before(unittest.TestCase):
    def setUp(self) -> None:
        for owner, name, value in (
            (os, "geteuid", 987654),
            (os, "getuid", 987654),
            (shutil, "which", "/bin/tool"),
            (sandbox, "bwrap", "/bin/bwrap"),
            (provision, "note", None),
        ):
            patch = mock.patch.object(owner, name, return_value=value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_user_without_a_name(self) -> None:
        for error in (KeyError, OSError):
            told = self.assertRaisesRegex(UserError, "has no line for the user 987654")
            with mock.patch("getpass.getuser", side_effect=error), told:
                provision.check_tools()

    def test_room_for_temporary_files(self) -> None:
        with tempfile.TemporaryDirectory() as cache:
            root = mock.patch.object(pins, "cache_root", return_value=Path(cache))
            space = mock.patch.object(files, "free_gb", lambda path: 100.0 if str(path).startswith(cache) else 1.0)
            with root, space, self.assertRaisesRegex(UserError, "1.0 GB are free in .*, 4.5 are needed") as raised:
                provision._make()
            self.assertEqual(raised.exception.hint, "set TMPDIR to a folder on a larger disk")
