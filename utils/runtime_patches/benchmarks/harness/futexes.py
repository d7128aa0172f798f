"""Futex calls of a process, counted from outside with strace."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from ...base import process


class Watch:
    """Looks at process `pid` while the block runs. calls: their number, after the block; None where strace is not
    installed, or may not look. folder: for its file."""

    def __init__(self, pid: int, folder: Path) -> None:
        self.pid, self.file = pid, folder / "futexes"
        self.tracer: subprocess.Popen[str] | None = None
        self.calls: int | None = None

    def __enter__(self) -> Watch:
        self.file.unlink(missing_ok=True)
        if shutil.which("strace"):
            self.tracer = subprocess.Popen(
                ["strace", "-f", "-c", "-e", "trace=futex", "-o", str(self.file), "-p", str(self.pid)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            # `strace: Process 7 attached with 5 threads`, or why not.
            self.attached = "attached" in (self.tracer.stderr.readline() if self.tracer.stderr else "")
        return self

    def __exit__(self, *_: object) -> None:
        if self.tracer:
            process.end(self.tracer)
            if self.attached:
                found = re.search(r"(?m)^\s*\S+\s+\S+\s+\S+\s+(\d+)\s+(?:\d+\s+)?futex$", self.file.read_text())
                self.calls = int(found[1]) if found else 0
