import unittest

from ..base.paths import REPO
from . import lit

RUNTIME = REPO / "test" / "Runtime"


class StdlibUnittest(unittest.TestCase):
    def test_is_made_for_those_that_import_it_only(self) -> None:
        importing = [path for path in RUNTIME.glob("*.swift") if "import StdlibUnittest" in path.read_text()]
        self.assertTrue(importing)
        self.assertFalse(lit.import_unittest([RUNTIME / "cast_dlclose.swift"]))
        self.assertTrue(lit.import_unittest([RUNTIME / "cast_dlclose.swift", importing[0]]))
        self.assertTrue(lit.import_unittest([RUNTIME]))
