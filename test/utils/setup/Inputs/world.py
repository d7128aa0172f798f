"""A world that make_world.py made: starts its commands, ends them, and looks at what they left."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from runtime_patches.base import git, process

COMMAND = ("build-runtime", "before", "after")


class World:
    """repo: its copy of this repository; home: its cache, of all pins."""

    def __init__(self, path: Path | str) -> None:
        # A shell's background job ignores it, and what that starts would do so, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.path = Path(path).resolve()
        self.repo = self.path / "repo"
        self.home = self.path / "cache" / "swift-runtime-patches"
        self.env = {
            **os.environ,
            "XDG_CACHE_HOME": str(self.path / "cache"),
            "PATH": f"{self.path}/bin:{os.environ['PATH']}",
        }

    def start(self, command: Sequence[str] = COMMAND) -> subprocess.Popen[str]:
        """The process of a command, which leads a session of its own."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "surrogateescape"}
        return process.start([self.repo / "utils" / command[0], *command[1:]], env=self.env, **streams)

    def kill(self, child: subprocess.Popen[str], chance: random.Random) -> None:
        """Ends a command, or it and its group, by some signal."""
        sent = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
        with contextlib.suppress(ProcessLookupError):  # it had ended
            chance.choice((os.kill, os.killpg))(child.pid, sent)

    def require_nobody(self, child: subprocess.Popen[str]) -> None:
        """Waits for a command that was ended. AssertionError if a process still works in this world after 60 s. (The
        guard's looks at all processes take 8 s on a machine full of work, and 0.2 s of its own time.)"""
        assert child.stdout
        child.stdout.close()
        child.wait()
        end = time.monotonic() + 60
        while left := self._processes():
            assert time.monotonic() < end, f"still there: {left}"
            time.sleep(0.1)

    def _processes(self) -> list[str]:
        """Command lines of the processes whose folder, root or cache lies in this world."""
        found, here = [], os.fsencode(self.path)
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                places = [os.fsencode(os.readlink(entry / name)) for name in ("cwd", "root")]
                places += [
                    word.partition(b"=")[2]
                    for word in (entry / "environ").read_bytes().split(b"\0")
                    if word.startswith(b"XDG_CACHE_HOME=")
                ]
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue  # it has ended, or is somebody else's
            if int(entry.name) != os.getpid() and any(
                place == here or place.startswith(here + b"/") for place in places
            ):
                found.append(f"{entry.name}: {line.decode(errors='replace')[:200]}")
        return found

    def run(self, command: Sequence[str] = COMMAND, patience: float = 120) -> tuple[int, str]:
        """(exit status, output) of a command. AssertionError for a traceback."""
        child = self.start(command)
        output, _ = child.communicate(timeout=patience)
        assert "Traceback" not in output, output
        return child.returncode, output

    def works(self, command: Sequence[str] = COMMAND, what: str = "") -> str:
        """The output of a command. AssertionError, which names `what`, if it fails."""
        status, output = self.run(command)
        assert status == 0, f"{what or command[0]}, exit status {status}: {output}"
        return output

    def check(self, word: str | None = None) -> None:
        """AssertionError where a part that the commands take for ready is half made, or (with
        `word`) `after` is not that of this series."""
        for cache in self.home.glob("*/"):
            root = cache / "root"
            assert (root / "usr/share/whole").exists() or not root.is_dir(), "root is half made"
            if (cache / "source").is_dir():
                done = git.Git(cache / "source/swift").call("status", "--porcelain")
                assert done.returncode == 0 and not done.stdout, f"the sources are half made: {done}"
                assert not (cache / "source/download").exists(), "a download in the sources"
        for record in (self.repo / "build/runtimes").glob("*/runtime.json"):
            name = record.parent.name
            if name.endswith(".partial"):
                continue
            core, concurrency = (
                (record.parent / "lib/swift/linux" / library).read_text()
                for library in ("libswiftCore.so", "libswift_Concurrency.so")
            )
            assert core == concurrency and core.endswith("whole\n"), f"{name} is half made"
            if word:
                assert (f"\n{word}\n" in core) == (name == "after"), f"{name}: another series"
