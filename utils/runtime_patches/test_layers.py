"""The rules of this package: imports go downwards only, and nobody edits sys.path."""

import ast
import unittest
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
# From top to bottom. A module imports its own layer and those below.
LAYERS = (
    "commands documentation installation testing benchmarks traces clients cli "
    "report proofs runtimes results series workspace base"
).split()


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """The layers that a module imports, with the line."""
    package = path.relative_to(HERE.parent).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [(*base, *node.module.split("."))] if node.module else [(*base, one.name) for one in node.names]
            for name in names:
                if len(name) > 1:
                    yield name[1], node.lineno


class Layers(unittest.TestCase):
    def test_imports_go_downwards(self) -> None:
        upwards = []
        for path in sorted(HERE.rglob("*.py")):
            layer = path.relative_to(HERE).with_suffix("").parts[0]
            if layer.startswith(("test_", "__")):
                continue
            self.assertIn(layer, LAYERS)
            upwards += [
                f"{path.relative_to(HERE)}:{line} imports {name}"
                for name, line in imported(path)
                if LAYERS.index(name) < LAYERS.index(layer)
            ]
        self.assertEqual(upwards, [])

    def test_nobody_edits_the_path(self) -> None:
        repo = HERE.parents[1]
        paths = [path for part in ("utils", "test", "benchmark") for path in (repo / part).rglob("*")]
        files = [path for path in paths if path.is_file() and path.suffix in ("", ".py") and path != Path(__file__)]
        self.assertEqual([path for path in files if b"sys.path." in path.read_bytes()], [])
