"""Compiles small programs, if their sources or their options have changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import once, progress
from ..base.errors import UserError
from ..base.paths import BENCHMARK
from ..workspace.find import Workspace
from .runtime import Runtime, stock

# What several programs need of the machine, in C.
MACHINE, MACHINE_HEADER = (BENCHMARK / "native" / f"machine.{suffix}" for suffix in "ch")


def build(
    ws: Workspace,
    name: str,
    home: Path,
    *,
    runtime: Runtime | None = None,
    swift: Sequence[Path] = (),
    c: Sequence[Path] = (),
    headers: Sequence[Path] = (),
    flags: Sequence[str] = ("-O", "-wmo"),
    link: Sequence[str] = (),
) -> Path:
    """The path of program `name` in the folder `home`.

    runtime: a variant whose compiler is to be used; swift, c: source files (c alone makes a C
    program); headers: files that these include, the one first that Swift imports; flags: of
    swiftc; link: of clang, for a C program.
    """
    runtime = runtime or stock()
    compiler = runtime.folder / "bin" / "swiftc"

    def make(partial: Path) -> None:
        progress.note(f"==> compiling {name}")
        objects = [str(home / f"{name}-{path.stem}.o") for path in c]
        includes = [f"-I{folder}" for folder in sorted({str(path.parent) for path in headers})]
        for path, target in zip(c, objects):
            _run(ws, runtime, ["clang", "-O2", "-fPIC", *includes, "-c", str(path), "-o", target])
        if swift:
            imported = ["-import-objc-header", str(headers[0])] if headers else []
            imported += [word for include in includes for word in ("-Xcc", include)]
            argv = ["swiftc", *flags, *"-parse-as-library -module-name main".split(), *imported, *map(str, swift)]
            _run(ws, runtime, [*argv, *objects, "-o", str(partial)])
        else:
            _run(ws, runtime, ["clang", *objects, *link, "-o", str(partial)])

    parts: list[str | Path] = [name, ws.toolchain_key, *flags, *link, *([compiler] if compiler.exists() else [])]
    return once.file(home / name, [*parts, *swift, *c, *headers], make)


def _run(ws: Workspace, runtime: Runtime, argv: Sequence[str]) -> None:
    # The compiler does not run on the libraries of the runtime.
    env = {name: value for name, value in runtime.environment(ws).items() if name == "PATH"}
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = ws.run(argv, env=env, check=False, text=True, errors="replace", **streams)
    if done.returncode:
        sys.stderr.write(done.stdout)
        hint = f"utils/with-runtime stock -- {argv[0]} --version shows whether the toolchain works"
        raise UserError(f"{argv[0]} failed (exit status {done.returncode})", f"its messages are above; {hint}")
