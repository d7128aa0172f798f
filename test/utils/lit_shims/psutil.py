"""What lit's --timeout uses of the module psutil, for a Python that lacks it (Linux)."""

import os
import signal


class NoSuchProcess(Exception):
    """The process has ended."""


class Process:
    """A process by its id."""

    def __init__(self, pid):
        self.pid = pid
        if not os.path.exists(f"/proc/{pid}"):
            raise NoSuchProcess(pid)

    def children(self, recursive=False):
        """The processes below this one; at all depths where `recursive`."""
        parents = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    # The name, in parentheses, may hold spaces and parentheses.
                    parents[int(entry)] = int(stat.read().rpartition(")")[2].split()[1])
            except OSError:
                pass  # ended meanwhile
        found, level = [], [self.pid]
        while level:
            level = [pid for pid, parent in parents.items() if parent in level]
            found += level
            if not recursive:
                break
        return [_at(pid) for pid in found]

    def kill(self):
        """Sends SIGKILL."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            raise NoSuchProcess(self.pid) from None


def _at(pid):
    process = object.__new__(Process)
    process.pid = pid
    return process
