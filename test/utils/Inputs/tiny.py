"""A Swift of a few lines, and a series of three small patches for it: tests of the tools use them, so that a
change of the real series breaks none.

tiny.py DIR            DIR/repo, a copy of this repository with that series; DIR/sources/swift, the checkout
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
SOURCES = {
    "utils/build_swift/build_swift/defaults.py": "SWIFT_USER_VISIBLE_VERSION = Version('6.2.3')\n",
    "stdlib/public/Concurrency/Task.cpp": "".join(f"task {n}\n" for n in range(30)),
    "stdlib/public/core/Core.swift": "".join(f"core {n}\n" for n in range(9)),
    "benchmark/CMakeLists.txt": "set(SWIFT_BENCH_MODULES\n    single-source/Array\n)\n",
    "benchmark/utils/main.swift": "import Array\nregister(Array.benchmarks)\nmain()\n",
    **{f"{part}/part.txt": "part\n" for part in ("Runtimes", "include", "cmake", "lib")},
}
HEADER = """From: Tester <tester@localhost>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] [Concurrency] Change a line for {name}

A line is changed, and nothing else. The reason takes thirty words in a header
of this series, so that a reader knows why; here it is that the tests of the
tools need a patch which stays the same while the real series changes.

ABI: none.
Memory: none.
Test: test/Runtime/{name}.swift{guard}
Benchmark: Ours.Row 65.2/51.5
Upstream-Status: {status}
Patch-Name: {name}

diff --git a/{file} b/{file}
--- a/{file}
+++ b/{file}
@@ -{line},3 +{line},3 @@
 {word} {before}
-{word} {line}
+{new}
 {word} {after}
"""
_PENDING = "Pending [made up for the tests of the tools]"
_TASK = ("stdlib/public/Concurrency/Task.cpp", "task")
# Name: line, file and word, further field, status.
SERIES = {
    "first": (5, _TASK, "\nGuard: test/Runtime/both.swift", _PENDING),
    "second": (15, _TASK, "", _PENDING),
    "third": (4, ("stdlib/public/core/Core.swift", "core"), "", "Backport [PR 1: upstream has it]"),
}


def write(path: Path, text: str = "x", mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def lay_series(repo: Path, first: str = "first") -> None:
    """Writes the series to patches/ of a repository."""
    for path in (repo / "patches").glob("*.patch"):
        path.unlink()
    for name, (line, (file, word), guard, status) in SERIES.items():
        texts = {"name": name, "file": file, "word": word, "guard": guard, "status": status}
        numbers = {"before": line - 1, "line": line, "after": line + 1}
        new = first if name == "first" else name
        write(repo / "patches" / f"{name}.patch", HEADER.format(**texts, **numbers, new=new))
    write(repo / "patches/series", "# The order.\n" + "".join(f"{name}\n" for name in SERIES))


def make_repo(target: Path) -> None:
    """A copy of this repository's files, whose series, tests and benchmark entries are the small ones."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for part in ("utils", "patches", "test", "benchmark", "build-script-config", "liveness", "package"):
        shutil.copytree(REPO / part, target / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("test/Concurrency", "test/Runtime", "test/programs", "benchmark/single-source"):
        shutil.rmtree(target / part)
    write(target / "benchmark/single-source/Ours.swift", '// ours\nlet name = "Ours.Row"\n')
    for name in SERIES:
        write(target / f"test/Runtime/{name}.swift", f"// XFAIL: without_{name}\n")
    write(target / "test/Runtime/both.swift", "// passes with and without\n")
    lay_series(target)


def git(folder: Path, *words: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    argv = ["git", "-C", str(folder), "-c", "user.name=T", "-c", "user.email=t@t", *words]
    return subprocess.run(argv, check=True, env=env, stdout=subprocess.PIPE, text=True).stdout.strip()


def make_sources(target: Path) -> None:
    """The sources, with upstream's tag."""
    for path, text in SOURCES.items():
        write(target / "swift" / path, text)


def main(path: Path) -> None:
    make_repo(path / "repo")
    make_sources(path / "sources")
    swift = path / "sources" / "swift"
    for words in (
        ["init", "-q", "-b", "work"],
        ["config", "user.name", "Tester"],
        ["config", "user.email", "tester@localhost"],
        ["add", "-A"],
        ["commit", "-qm", "swift"],
        ["tag", "swift-6.2.3-RELEASE"],
    ):
        git(swift, *words)
    # As export-patches writes them.
    for command in ("apply-patches", "export-patches"):
        subprocess.run(
            [path / "repo/utils" / command, "--checkout", path / "sources"], check=True, stdout=subprocess.DEVNULL
        )
    git(swift, "reset", "-q", "--hard", "swift-6.2.3-RELEASE")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
