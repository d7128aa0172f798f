"""Steps of long work: what runs, and for how long."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable

from .errors import say

quiet = False


def note(text: str) -> None:
    """One line on standard error; nothing with --quiet."""
    if not quiet:
        say(text)


def coloured() -> bool:
    """Whether to print colours: on a terminal, and not with NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


class Step:
    """Shows `text` with the time it takes. On a terminal the time is counting; elsewhere a line shows it each minute.
    more() tells what follows the text."""

    every = 60.0  # seconds between two lines in a file

    def __init__(self, text: str, more: Callable[[], str] = lambda: "") -> None:
        self.text, self.more = text, more
        self.stop = threading.Event()
        self.live = sys.stderr.isatty() and not quiet

    def _draw(self, end: str) -> None:
        seconds = int(time.monotonic() - self.start)
        width = shutil.get_terminal_size().columns - 10
        print(f"\r==> {(self.text + self.more())[:width]} {seconds} s", end=end, file=sys.stderr, flush=True)

    def _tick(self) -> None:
        while not self.stop.wait(1 if self.live else self.every):
            if self.live:
                self._draw("")
            else:
                note(f"==> {self.text}{self.more()}, after {time.monotonic() - self.start:.0f} s")

    def __enter__(self) -> Step:
        self.start = time.monotonic()
        if not self.live:
            note(f"==> {self.text}")
        self.thread = threading.Thread(target=self._tick, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join()
        if self.live:
            self._draw("\n")
