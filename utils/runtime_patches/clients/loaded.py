"""Proves which libraries a process has loaded: the loader writes them to a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..base.errors import UserError
from ..base.paths import UTILS
from ..runtimes.libraries import LIBRARIES, NAMES
from ..runtimes.runtime import Runtime
from ..workspace.find import Workspace


def command(ws: Workspace, runtime: Runtime, argv: Iterable[object], binds: Iterable[Path | str]) -> list[str]:
    """The command line that runs argv on a runtime, by utils/with-runtime: its process is that of the program."""
    seen = [f"--bind={folder}" for folder in binds]
    return [str(UTILS / "with-runtime"), *ws.options, *seen, runtime.name, "--", *map(str, argv)]


def environment(prefix: Path, variables: Mapping[str, str]) -> list[str]:
    """The words that start a program with `variables`, and have each process write to PREFIX.PID what it loads."""
    words = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": prefix, **variables}
    return ["env", *(f"{name}={value}" for name, value in words.items())]


def libraries(prefix: Path | str, pid: int) -> dict[str, set[str]]:
    """{library: paths} that process `pid` has loaded of the runtime's own; empty if the program was not started."""
    try:
        text = Path(f"{prefix}.{pid}").read_text(errors="replace")
    except OSError:
        return {}
    found = {}
    for path, name in re.findall(r"calling init: (.+/(\S+\.so))", text):
        if name in NAMES:
            found.setdefault(name, set()).add(path)
    return found


def check(found: Mapping[str, set[str]], what: str, runtime: Runtime) -> None:
    """UserError if the libraries `found` are not exactly those of a runtime."""
    for library in LIBRARIES:
        paths = found.get(library.name, set())
        wanted = str(runtime.library(library.name))
        if paths != {wanted} and (paths or library.always):
            what = f"{what} on {runtime} ran with {', '.join(sorted(paths)) or 'no ' + library.name}"
            raise UserError(what, f"it should have been {wanted}: is LD_PRELOAD set?")
