"""What lit's --timeout uses of the module psutil, for a Python that lacks it (Linux)."""

import os
import signal
from pathlib import Path


class NoSuchProcess(Exception):
    """The process has ended."""


class Process:
    """A process by its id."""

    def __init__(self, pid):
        self.pid = int(pid)
        if not os.path.exists(f"/proc/{pid}"):
            raise NoSuchProcess(pid)

    def children(self, recursive=True):
        """The processes below this one, at all depths: lit asks for no others."""
        found = []
        for path in Path(f"/proc/{self.pid}/task").glob("*/children"):
            try:
                for child in map(Process, path.read_text().split()):
                    found += [child, *child.children()]
            except (OSError, NoSuchProcess):
                pass  # ended meanwhile
        return found

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            raise NoSuchProcess(self.pid) from None
