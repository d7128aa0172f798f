"""Steps of long work: what runs, for how long, and where its output went."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from .errors import UserError
from .pins import BUILD

quiet = False


def note(text):
    """One line on standard error; nothing with --quiet."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)


def coloured(stream=None):
    """Whether to write colours to `stream` (standard output): on a terminal, and not with
    NO_COLOR."""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR")


class Step:
    """Shows `text` with the time it takes; on a terminal the time is counting."""

    def __init__(self, text):
        self.text = text
        self.stop = threading.Event()
        self.live = sys.stderr.isatty() and not quiet

    def _draw(self, end):
        seconds = int(time.monotonic() - self.start)
        width = shutil.get_terminal_size().columns - 10
        print(f"\r==> {self.text[:width]} {seconds} s", end=end,
              file=sys.stderr, flush=True)

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


def run_logged(argv, name, *, failed, hints=(), cwd=None, env=None, **popen):
    """Runs argv with its output in build/logs/NAME.log.

    A failure is UserError(failed), with the first of `hints` [(regular
    expression, hint)] that matches the output, or else its last lines.
    """
    logs = BUILD / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{name}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, cwd=cwd, env=env,
                                   start_new_session=True, **popen)
        try:
            status = process.wait()
        except BaseException:
            end(process)
            raise
    if status == 0:
        return log
    text = log.read_text(errors="replace")
    for pattern, message, hint in hints:
        if re.search(pattern, text):
            raise UserError(message, hint)
    tail = [line for line in text.splitlines() if line.strip()][-15:]
    note("\n".join("    " + line for line in tail))
    raise UserError(f"{failed} (exit status {status})", f"its whole output is in {log}")


def end(process):
    """Ends a child that leads a session of its own, politely first."""
    for sig, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sig)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            pass
