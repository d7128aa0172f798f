"""The benchmark program: builds it, and makes the command line that runs it."""

import hashlib
import os
import subprocess
import sys

from runtime_patches import locks
from runtime_patches.errors import UserError

from . import HERE, REPO

BUILD = REPO / "build" / "deinit"
WITH_RUNTIME = str(REPO / "utils" / "with-runtime")
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
    home = BUILD / kind
    swift = sorted(HERE.glob("*.swift"))
    c = [HERE / "deinit-modes.c", HERE / "support.c"]
    headers = sorted(HERE.glob("*.h"))
    flags = ["-O", "-wmo"] if optimized else ["-Onone"]
    key = hashlib.sha256("\n".join([*flags, *workspace]).encode())
    for path in [*swift, *c, *headers]:
        key.update(path.read_bytes())
    program, stamp = home / "deinit-benchmark", home / "key"

    def fresh():
        return program.exists() and stamp.exists() and stamp.read_text() == key.hexdigest()

    if fresh():
        return program
    with locks.exclusive(home):
        if fresh():
            return program
        print(f"==> compiling the deinit benchmark ({kind})", file=sys.stderr)
        stamp.unlink(missing_ok=True)
        partial = home / "deinit-benchmark.partial"
        objects = [home / path.with_suffix(".o").name for path in c]
        for path, target in zip(c, objects):
            _run(workspace, ["clang", "-O2", "-c", str(path), "-o", str(target)])
        _run(workspace, ["swiftc", *flags, "-swift-version", "6", "-parse-as-library",
                         "-module-name", "main", "-import-objc-header", str(HERE / "support.h"),
                         *map(str, [*swift, *objects]), "-o", str(partial)])
        os.replace(partial, program)
        stamp.write_text(key.hexdigest())
    return program


def _run(workspace, argv):
    done = subprocess.run([WITH_RUNTIME, *workspace, "stock", "--", *argv], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise UserError(f"{argv[0]} failed (exit status {done.returncode})",
                        "its messages are above; utils/with-runtime stock -- "
                        f"{argv[0]} --version shows whether the toolchain works")


def command(program, runtime, benchmark, inputs, *, ballast=0, timeout=60, retry_ms=100,
            label=None, with_inputs=False, workspace=()):
    """The command line that measures `benchmark` on `runtime` and prints the dataset."""
    argv = [WITH_RUNTIME, *workspace, f"--bind={os.path.dirname(os.path.abspath(inputs))}",
            runtime, "--", str(program), benchmark, str(inputs), f"--ballast={ballast}",
            f"--runtime={runtime}", f"--timeout={timeout}", f"--retry-ms={retry_ms}"]
    if label is not None:
        argv.append(f"--label={label}")
    if with_inputs:
        argv.append("--with-inputs")
    return argv
