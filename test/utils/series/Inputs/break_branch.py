#!/usr/bin/env python3
"""break_branch.py FOLDER [OPTION…]: what check-patches --configurations prints of a series that
breaks Actor.cpp where actors are locks, and nowhere else. FOLDER gets its sources; the options are those that name a
workspace."""

import subprocess
import sys
from pathlib import Path

from runtime_patches.base import errors
from runtime_patches.commands import check_patches
from runtime_patches.runtimes import build, configurations
from runtime_patches.runtimes.runtime import parse
from workspace_of import workspace

_BREAK = "#if SWIFT_CONCURRENCY_ACTORS_AS_LOCKS\nint broken = missing;\n#endif\n"


def main() -> None:
    ws = workspace(sys.argv[2:])
    build.ensure(ws, parse("before"))
    before, after = build.home(ws, parse("before")), Path(sys.argv[1])
    after.mkdir()
    # Links, which the workspace resolves: it sees the unpatched sources at their own path.
    subprocess.run(["cp", "-as", before / "source", after], check=True)
    for part in ("build", "config"):
        (after / part).symlink_to(before / part)
    for part in ("stdlib/public", "Runtimes/Core"):
        file = after / "source" / part / "Concurrency" / "Actor.cpp"
        text = file.read_text()
        file.unlink()
        file.write_text(text + _BREAK)
    real = build.home
    build.home = lambda ws, runtime: after if runtime.name == "after" else real(ws, runtime)
    check_patches.show(configurations.check(ws, ["pthreads", "task-to-thread"]))


errors.run_main(main)
