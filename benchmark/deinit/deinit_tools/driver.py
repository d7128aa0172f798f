"""The benchmark program: builds it, and makes the command line that runs it."""

import os

from harness import program
from harness.program import WITH_RUNTIME

from . import HERE, REPO

BUILD = REPO / "build" / "deinit"
# Exit status of the program on a runtime that lacks what the benchmark measures.
LACKS_MODE = 3

# The program has the same names: test/utils/deinit/names.test checks it.
BENCHMARKS = [
    "nonisolated_array", "nonisolated_tree",
    "isolated_no_hop_copy_array", "isolated_no_hop_copy_tree",
    "isolated_no_hop_reset_array", "isolated_no_hop_reset_tree",
    "isolated_hop_copy_array", "isolated_hop_copy_tree", "isolated_hop_copy_tree_interleaved",
    "isolated_hop_reset_array", "isolated_hop_reset_tree", "isolated_hop_reset_tree_interleaved",
    "async_array", "async_tree", "async_copy_array", "async_copy_tree",
    "task_in_deinit_array", "task_in_deinit_tree",
]


def build(optimized=True, workspace=()):
    """The benchmark program, compiled where its sources or its build have changed.

    workspace: options of utils/with-runtime that choose another toolchain.
    """
    kind = "optimized" if optimized else "onone"
    return program.build("deinit-benchmark", BUILD / kind, swift=sorted(HERE.glob("*.swift")),
                         c=[HERE / "deinit-modes.c", HERE / "support.c"],
                         headers=sorted(HERE.glob("*.h")), bridging=HERE / "support.h",
                         flags=["-O", "-wmo", "-swift-version", "6"] if optimized
                         else ["-Onone", "-swift-version", "6"], workspace=workspace)


def command(path, runtime, benchmark, inputs, *, ballast=0, timeout=60, retry_ms=100,
            label=None, with_inputs=False, workspace=()):
    """The command line that measures `benchmark` on `runtime` and prints the dataset."""
    argv = [WITH_RUNTIME, *workspace, f"--bind={os.path.dirname(os.path.abspath(inputs))}",
            runtime, "--", str(path), benchmark, str(inputs), f"--ballast={ballast}",
            f"--runtime={runtime}", f"--timeout={timeout}", f"--retry-ms={retry_ms}"]
    if label is not None:
        argv.append(f"--label={label}")
    if with_inputs:
        argv.append("--with-inputs")
    return argv
