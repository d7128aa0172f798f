"""Locks: one set-up or build runs at a time. Others wait, and say for which command."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .progress import note

_held: list[int] = []


def held() -> tuple[int, ...]:
    """The file descriptors of the locks that this process holds. A child that has them
    holds the locks, too. If this process is killed, others wait for the child."""
    return tuple(_held)


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Holds FOLDER/.lock. The kernel drops it when this process and the children with held()
    have ended, however they end."""
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
        _held.append(lock.fileno())
        try:
            yield
        finally:
            _held.remove(lock.fileno())
            lock.seek(0)
            lock.truncate()
            fcntl.flock(lock, fcntl.LOCK_UN)


def holder(folder: Path) -> str | None:
    """Who holds FOLDER/.lock, or None."""
    with contextlib.suppress(OSError), open(folder / ".lock", encoding="utf-8", errors="replace") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return lock.read().strip() or "another command"
    return None
