from __future__ import annotations

import importlib.util
import os
import resource
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import bytecode


class Keep(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "made_up.py"
        self.source.write_text("VALUE = 1\n")
        spec = importlib.util.spec_from_file_location("made_up", self.source)
        assert spec and spec.cached
        self.cached = Path(spec.cached)
        module = importlib.util.module_from_spec(spec)
        for patch in (mock.patch.object(bytecode, "_PACKAGE", "made_up"), mock.patch.dict(sys.modules, made_up=module)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_what_is_current_is_kept(self) -> None:
        bytecode.keep()
        made = self.cached.stat().st_ino
        bytecode.keep()
        self.assertEqual(self.cached.stat().st_ino, made)
        os.utime(self.source, (1, 1))
        bytecode.keep()
        self.assertNotEqual(self.cached.stat().st_ino, made)
        spec = importlib.util.spec_from_file_location("again", self.cached)
        assert spec and spec.loader
        spec.loader.exec_module(again := importlib.util.module_from_spec(spec))
        self.assertEqual(again.VALUE, 1)

    def test_no_file_is_cut_off(self) -> None:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
        try:
            bytecode.keep()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertEqual(list(self.cached.parent.iterdir()), [])
