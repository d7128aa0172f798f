"""Steps of long work: what runs, and for how long."""

import os
import shutil
import sys
import threading
import time

from .errors import say

quiet = False


def note(text):
    """One line on standard error; nothing with --quiet."""
    if not quiet:
        say(text)


def coloured():
    """Whether to print colours: on a terminal, and not with NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


class Step:
    """Shows `text` with the time it takes. On a terminal the time is counting. more() tells what follows the text."""

    def __init__(self, text, more=lambda: ""):
        self.text, self.more = text, more
        self.stop = threading.Event()
        self.live = sys.stderr.isatty() and not quiet

    def _draw(self, end):
        seconds = int(time.monotonic() - self.start)
        width = shutil.get_terminal_size().columns - 10
        print(f"\r==> {(self.text + self.more())[:width]} {seconds} s", end=end, file=sys.stderr, flush=True)

    def _tick(self):
        while not self.stop.wait(1):
            self._draw("")

    def __enter__(self):
        self.start = time.monotonic()
        if self.live:
            self.thread = threading.Thread(target=self._tick, daemon=True)
            self.thread.start()
        else:
            note(f"==> {self.text}")
        return self

    def __exit__(self, kind, value, trace):
        self.stop.set()
        if self.live:
            self.thread.join()
            self._draw("\n")
