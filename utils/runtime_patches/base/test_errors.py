"""How the failures of programs are told."""

import subprocess
import unittest

from .errors import of_program


class TestPrograms(unittest.TestCase):
    def test_messages(self) -> None:
        argv = ["bwrap", "--unshare-pid", "--", "/usr/bin/search", "--deep"]
        for error, message in (
            (subprocess.CalledProcessError(3, argv, stderr="a note\nno room\n"), "search failed: no room"),
            (subprocess.CalledProcessError(3, argv), "search failed: exit status 3"),
            (subprocess.TimeoutExpired(argv, 30), "search did not end within 30 s"),
        ):
            fault = of_program(error)
            self.assertEqual(fault and fault.message, message)

    def test_others(self) -> None:
        self.assertIsNone(of_program(ValueError("not a program's")))
