import unittest

from ..base.paths import BENCHMARK, TEST, UTILS
from .harnesses import HARNESSES


class Harnesses(unittest.TestCase):
    def test_one_name_everywhere(self) -> None:
        packages = UTILS / "runtime_patches" / "benchmarks"
        others = {packages: {"harness", "smoke"}, TEST / "benchmark": {"smoke"}}
        for folder, more in others.items():
            found = {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("__")}
            self.assertEqual(found, {*HARNESSES, *more}, folder)
        for name in HARNESSES:
            for path in (BENCHMARK / name).iterdir():
                if path.stat().st_mode & 0o111 and path.is_file():
                    module = packages / name / f"{path.name.partition('.')[0].replace('-', '_')}.py"
                    self.assertTrue(module.exists(), module)
