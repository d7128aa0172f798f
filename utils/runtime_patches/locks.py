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


def holder(folder):
    """Who holds FOLDER/.lock, or None."""
    try:
        with open(folder / ".lock", encoding="utf-8", errors="replace") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.read().strip() or "another command"
    except OSError:
        pass
    return None
