"""Wrong types are found: mypy, with the settings of this repository, on a copy of its Python with faults."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .base.paths import BUILD, REPO

PACKAGE = "utils/runtime_patches"
# (file, its text, what stands there with the fault, a part of what mypy says). The text is there once.
FAULTS = (
    (f"{PACKAGE}/base/memory.py", "free = available()", "free = avialable()", 'Name "avialable" is not defined'),
    (f"{PACKAGE}/base/once.py", "path.parent", "path.paernt", '"Path" has no attribute "paernt"'),
    (
        f"{PACKAGE}/series/own_checkout.py",
        "_make_checkout(ws, wanted)\n        return",
        "_make_checkout(ws)\n        return",
        "Missing",
    ),
    (
        f"{PACKAGE}/runtimes/runtime.py",
        "_series().check(name[len(_UPTO) :])",
        "_series().check(5)",
        'incompatible type "int"; expected "str"',
    ),
    (
        f"{PACKAGE}/results/environment.py",
        "return State(len(series.load()), series.load().state)",
        "return 1",
        'got "int"',
    ),
    (f"{PACKAGE}/benchmarks/smoke/loop.py", "row.samples = counted", "row.smaples = counted", 'no attribute "smaples"'),
    (f"{PACKAGE}/benchmarks/deinit/fits.py", "[name].interval(", "[name].intervall(", 'no attribute "intervall"'),
    (f"{PACKAGE}/clients/judge.py", "Judgement(bundle.name,", "Judgement(bundle,", "incompatible type"),
    ("test/utils/Inputs/tiny.py", 'make_sources(path / "sources")', "make_sources()", "Missing"),
    (
        f"{PACKAGE}/workspace/provision.py",
        "    assert made\n    return made",
        "    return made",
        'got "Workspace | None"',
    ),
)


def _mypy() -> list[str]:
    """The command of mypy, of .ci/run or of this Python; empty if there is none."""
    own = BUILD / "lint" / "bin" / "mypy"
    if own.exists():
        return [str(own)]
    return [sys.executable, "-m", "mypy"] if importlib.util.find_spec("mypy") else []


class Types(unittest.TestCase):
    def test_each_fault_is_found(self) -> None:
        mypy = _mypy()
        if not mypy:
            self.skipTest("mypy is not installed: .ci/run installs it in build/lint")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            for part in (PACKAGE, "test"):
                for path in (REPO / part).rglob("*.py"):
                    target = copy / path.relative_to(REPO)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, target)
            for file, text, fault, _ in FAULTS:
                content = (copy / file).read_text(encoding="utf-8")
                self.assertIn(text, content)
                (copy / file).write_text(content.replace(text, fault, 1), encoding="utf-8")
            argv = [*mypy, "--config-file", str(REPO / "pyproject.toml"), "--cache-dir", str(Path(folder, "cache"))]
            done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if ": error: " in line]
        for file, _, fault, message in FAULTS:
            with self.subTest(file, fault=fault):
                found = [line for line in lines if line.startswith(f"{file}:") and message in line]
                self.assertTrue(found, done.stdout + done.stderr)
        self.assertEqual(len(lines), len(FAULTS), done.stdout)
