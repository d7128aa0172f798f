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


@mock.patch.object(os, "geteuid", lambda: 987654)
@mock.patch.object(os, "getuid", lambda: 987654)
@mock.patch.object(shutil, "which", lambda name, **_: f"/bin/{name}")
@mock.patch.object(sandbox, "bwrap", lambda: "/bin/bwrap")
@mock.patch.object(provision, "note", lambda text: None)
class Before(unittest.TestCase):
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
