import os
import signal
import time
import unittest
import weakref

from . import process


class InAFinalizer(unittest.TestCase):
    def get_signal(self, number: int) -> None:
        """The signal comes while a finalizer runs, out of which no exception gets."""
        # A job in the background of a shell ignores SIGINT.
        handler = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        self.addCleanup(signal.signal, number, signal.signal(number, handler))
        with process.terminable():
            dying = {number}
            reference = weakref.ref(dying, lambda _: os.kill(os.getpid(), number))
            del dying
            self.assertIsNone(reference())
            for _ in range(500):
                time.sleep(0.01)

    def test_sigterm_ends_the_block(self) -> None:
        with self.assertRaises(SystemExit) as raised:
            self.get_signal(signal.SIGTERM)
        self.assertEqual(raised.exception.code, 128 + signal.SIGTERM)

    def test_an_interrupt_ends_the_block(self) -> None:
        with self.assertRaises(KeyboardInterrupt):
            self.get_signal(signal.SIGINT)
