"""A world that make-world made: starts its commands, and looks at what they left."""

import os
import subprocess
from pathlib import Path

COMMAND = ("build-runtime", "before", "after")


class World:
    """repo: its copy of this repository; home: its cache, of all pins."""

    def __init__(self, path):
        self.path = Path(path).resolve()
        self.repo = self.path / "repo"
        self.home = self.path / "cache" / "swift-runtime-patches"
        self.env = {**os.environ, "XDG_CACHE_HOME": str(self.path / "cache"),
                    "PATH": f"{self.path}/bin:{os.environ['PATH']}"}

    def start(self, command=COMMAND):
        """The process of a command, which leads a session of its own."""
        return subprocess.Popen([self.repo / "utils" / command[0], *command[1:]], env=self.env,
                                start_new_session=True, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, command=COMMAND):
        """(exit status, output) of a command. AssertionError for a traceback."""
        process = self.start(command)
        output, _ = process.communicate(timeout=120)
        assert "Traceback" not in output, output
        return process.returncode, output

    def change_series(self, word):
        """Another version of the first patch; `word` gets into the libraries."""
        subprocess.run([Path(__file__).parent / "change-series", self.repo, word], check=True)

    def check(self, word=None):
        """AssertionError where a part that the commands take for ready is half made, or (with
        `word`) `after` is not that of this series."""
        for cache in self.home.glob("*/"):
            if (cache / "root").is_dir():
                assert (cache / "root/usr/share/whole").exists(), "root is half made"
            if (cache / "source").is_dir():
                out = subprocess.run(
                    ["git", "-c", "safe.directory=*", "-C", cache / "source/swift", "status",
                     "--porcelain"], capture_output=True, text=True)
                assert out.returncode == 0 and not out.stdout, f"the sources are half made: {out}"
                assert not (cache / "source/download").exists(), "a download in the sources"
        for record in (self.repo / "build/runtimes").glob("*/runtime.json"):
            name = record.parent.name
            if name.endswith(".partial"):
                continue
            core, concurrency = ((record.parent / "lib/swift/linux" / library).read_text()
                                 for library in ("libswiftCore.so", "libswift_Concurrency.so"))
            assert core == concurrency and core.endswith("whole\n"), f"{name} is half made"
            if word:
                assert (f"\n{word}\n" in core) == (name == "after"), f"{name}: another series"
