"""One set-up or build at a time: others wait, and say for whom."""

import contextlib
import fcntl
import os
import sys

from .progress import note


@contextlib.contextmanager
def exclusive(folder):
    """Holds FOLDER/.lock; the kernel drops it when the process ends, however that is."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another command"
            note(f"waiting for {holder}, which is setting up or building")
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        lock.truncate()
        lock.write(f"{os.path.basename(sys.argv[0])} (process {os.getpid()})")
        lock.flush()
        try:
            yield
        finally:
            lock.seek(0)
            lock.truncate()
