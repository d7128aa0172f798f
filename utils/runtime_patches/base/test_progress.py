import contextlib
import io
import time
import unittest

from .progress import Step


class InAFile(unittest.TestCase):
    def test_a_long_step_tells_that_it_goes_on(self) -> None:
        class Fast(Step):
            every = 0.02

        with contextlib.redirect_stderr(io.StringIO()) as written, Fast("builds", lambda: ": 3 of 7"):
            for _ in range(200):
                if written.getvalue().count("\n") >= 2:
                    break
                time.sleep(0.05)
        lines = written.getvalue().splitlines()
        self.assertEqual(lines[0], "==> builds")
        self.assertEqual(lines[1], "==> builds: 3 of 7, after 0 s")

    def test_a_short_one_has_one_line(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as written, Step("builds"):
            pass
        self.assertEqual(written.getvalue(), "==> builds\n")
