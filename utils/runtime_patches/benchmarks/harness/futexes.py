"""Futex calls of a process, counted by perf. Unlike strace, it does not make each of them slow, which would change how
many there are."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
from pathlib import Path

from ...base import process

_EVENT = "syscalls:sys_enter_futex"


@functools.cache
def are_counted() -> bool:
    """Whether perf is installed, and may count them."""
    if not shutil.which("perf"):
        return False
    return subprocess.run(["perf", "stat", "-e", _EVENT, "true"], capture_output=True).returncode == 0


class Watch:
    """Looks at process `pid` while the block runs. calls: their number, after the block; None if are_counted() is
    false. folder: for its file."""

    def __init__(self, pid: int, folder: Path) -> None:
        self.pid, self.file = pid, folder / "futexes"
        self.counter: subprocess.Popen[str] | None = None
        self.calls: int | None = None

    def __enter__(self) -> Watch:
        self.file.unlink(missing_ok=True)
        if are_counted():
            (order, give_order), (answer, give_answer) = os.pipe(), os.pipe()
            argv = ["perf", "stat", "-x,", "-e", _EVENT, "-o", str(self.file), "-p", str(self.pid)]
            argv += ["--delay=-1", f"--control=fd:{order},{give_answer}"]
            quiet = subprocess.DEVNULL
            self.counter = process.start(argv, stdout=quiet, stderr=quiet, pass_fds=(order, give_answer))
            os.close(order)
            os.close(give_answer)
            with contextlib.suppress(BrokenPipeError):  # it has ended, as the process has
                os.write(give_order, b"enable\n")
            os.read(answer, 100)  # `ack`, when it counts; or nothing, when it has ended
            os.close(give_order)
            os.close(answer)
        return self

    def __exit__(self, *_: object) -> None:
        if self.counter:
            self.counter.send_signal(signal.SIGINT)  # then it writes
            try:
                self.counter.wait(10)
            except subprocess.TimeoutExpired:
                process.end(self.counter)
            lines = self.file.read_text().splitlines() if self.file.exists() else []
            counted = [line.split(",")[0] for line in lines if _EVENT in line]
            self.calls = int(counted[0]) if counted and counted[0].isdigit() else None
