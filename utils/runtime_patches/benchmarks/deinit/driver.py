"""The benchmark program: builds it, and makes the command line that measures."""

from __future__ import annotations

from pathlib import Path

from ...base.paths import BENCHMARK, BUILD
from ...runtimes import program
from ...workspace.find import Workspace

HERE = BENCHMARK / "deinit"
HOME = BUILD / "deinit"
# Exit status of the program on a runtime that lacks what the benchmark measures.
LACKS_MODE = 3

# The program has the same names: test/benchmark/deinit/run-benchmark.test checks it.
BENCHMARKS = """
    nonisolated_array nonisolated_tree isolated_no_hop_copy_array isolated_no_hop_copy_tree
    isolated_no_hop_reset_array isolated_no_hop_reset_tree isolated_hop_copy_array isolated_hop_copy_tree
    isolated_hop_copy_tree_interleaved isolated_hop_reset_array isolated_hop_reset_tree
    isolated_hop_reset_tree_interleaved async_array async_tree async_copy_array async_copy_tree task_in_deinit_array
    task_in_deinit_tree
""".split()


def build(ws: Workspace, optimized: bool = True) -> Path:
    folder, flags = ("optimized", ["-O", "-wmo"]) if optimized else ("onone", ["-Onone"])
    c, headers = [HERE / "deinit-modes.c", HERE / "support.c"], [HERE / "support.h", HERE / "deinit-modes.h"]
    swift, flags = sorted(HERE.glob("*.swift")), [*flags, "-swift-version", "6"]
    return program.build(ws, "deinit-benchmark", HOME / folder, swift=swift, c=c, headers=headers, flags=flags)


def command(path: Path, benchmark: str, inputs: Path | str, **options: object) -> list[str]:
    """The command line that measures a benchmark and prints the dataset; options: of the program."""
    named = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return [str(path), benchmark, str(inputs), *named]
