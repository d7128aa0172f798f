"""Compiles the program of a harness, where its sources or its build have changed."""

import hashlib
import os
import subprocess
import sys

from runtime_patches import locks, progress
from runtime_patches.errors import UserError

from . import REPO, cli

WITH_RUNTIME = str(REPO / "utils" / "with-runtime")
# C sources of several programs.
NATIVE = REPO / "benchmark" / "tools" / "native"


def build(name, home, *, swift=(), c=(), headers=(), bridging=None, flags=("-O", "-wmo"), link=(),
          workspace=()):
    """The path of program `name` in folder `home`.

    swift, c: source files; c alone makes a C program. headers: files that these include;
    bridging: the one that Swift imports. flags: of swiftc; link: of clang, for a C program.
    workspace: options of utils/with-runtime that choose another toolchain.
    """
    swift, c = list(swift), list(c)
    key = hashlib.sha256("\n".join([name, *flags, *link, *workspace]).encode())
    for path in [*swift, *c, *headers]:
        key.update(path.read_bytes())
    program, stamp = home / name, home / f"{name}.key"

    def fresh():
        return program.exists() and stamp.exists() and stamp.read_text() == key.hexdigest()

    if fresh():
        return program
    with locks.exclusive(home):
        if fresh():
            return program
        progress.note(f"==> compiling {name}")
        stamp.unlink(missing_ok=True)
        partial = home / f"{name}.partial"
        objects = [str(home / f"{name}-{path.stem}.o") for path in c]
        includes = [f"-I{folder}" for folder in sorted({str(path.parent) for path in headers})]
        for path, target in zip(c, objects):
            _run(workspace, ["clang", "-O2", "-fPIC", *includes, "-c", str(path), "-o", target])
        if swift:
            _run(workspace, ["swiftc", *flags, "-parse-as-library", "-module-name", "main",
                             *(["-import-objc-header", str(bridging)] if bridging else []),
                             *(word for include in includes for word in ("-Xcc", include)),
                             *map(str, swift), *objects, "-o", str(partial)])
        else:
            _run(workspace, ["clang", *objects, *link, "-o", str(partial)])
        os.replace(partial, program)
        stamp.write_text(key.hexdigest())
    return program


def rows(path, pattern, what, workspace=(), hidden=()):
    """{row: what program `path` says of it} of the rows that the regular expression
    `pattern` finds; UserError where there is none.

    what: a row stands for; hidden: {row: what is said of it} of rows that are not listed,
    and that only their whole name finds.
    """
    done = subprocess.run([WITH_RUNTIME, *workspace, "stock", "--", str(path), "--list"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    known = dict(line.split("\t") for line in done.stdout.splitlines())
    if pattern in hidden:
        known[pattern] = hidden[pattern]
    return {name: known[name] for name in cli.matching(known, pattern, what)}


def library_path(runtime, workspace=()):
    """The folder of a runtime's libraries, as it is called inside the workspace. Builds
    the runtime where that is needed."""
    done = subprocess.run([WITH_RUNTIME, *workspace, runtime, "--", "sh", "-c",
                           'echo "$LD_LIBRARY_PATH"'],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        # utils/with-runtime has said why, and what helps.
        sys.exit(done.returncode)
    return done.stdout.strip().split(":")[0]


def _run(workspace, argv):
    done = subprocess.run([WITH_RUNTIME, *workspace, "stock", "--", *argv], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise UserError(f"{argv[0]} failed (exit status {done.returncode})",
                        "its messages are above; utils/with-runtime stock -- "
                        f"{argv[0]} --version shows whether the toolchain works")
