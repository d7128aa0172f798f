"""utils/with-runtime NAME -- CMD…: any command, on the chosen runtime.

Starts in well under 50 ms, so it imports little and checks only what is cheap.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

from ..base.errors import BadUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

HELP = """\
usage: utils/with-runtime [--bind DIR] [--checkout DIR --toolchain DIR] NAME [--] CMD [ARG ...]

Runs CMD with the toolchain (swiftc, clang, FileCheck, lit) on PATH and with the
libraries of runtime NAME first in LD_LIBRARY_PATH: stock, before, after, upto:PATCH,
package, or a variant (asan, tsan, ubsan, debug, chaos; before-asan, …). On one with a sanitizer swiftc
compiles with it: a program without it cannot load the libraries. TSAN_OPTIONS and
LSAN_OPTIONS, where they are not set, name the reports to leave out
(test/tsan-suppressions.txt, test/lsan-suppressions.txt).

CMD runs in this folder and sees it, the repository and the temporary folder at
their own paths; the rest of the system is the toolchain's. It replaces this
process: standard streams, signals and the exit status are its own.

options:
  --bind DIR       also show DIR (can be repeated)
  --checkout DIR, --toolchain DIR
                   the workspace to use instead of the distribution's packages
  -h, --help       this text

examples:
  utils/with-runtime after -- swiftc -O hello.swift
  utils/with-runtime after -- ./hello
  utils/with-runtime before -- valgrind --tool=callgrind ./hello

exit status: that of CMD; 126 or 127 when it cannot be run; 1 when the runtime
cannot be made; 2 bad usage.
"""


def _parse(args: list[str]) -> tuple[SimpleNamespace, str, list[str]]:
    """(options, the name of the runtime, the command); BadUsage if one is missing or wrong."""
    options = SimpleNamespace(checkout=None, toolchain=None, bind=[])
    while args and args[0].startswith("-") and args[0] != "--":
        option, equals, value = args.pop(0).partition("=")
        if option in ("-h", "--help"):
            print(HELP, end="")
            sys.exit(0)
        if option not in ("--bind", "--checkout", "--toolchain"):
            raise BadUsage(f"unknown option '{option}'", "utils/with-runtime --help")
        if not equals:
            if not args:
                raise BadUsage(f"{option} needs a folder", "utils/with-runtime --help")
            value = args.pop(0)
        if not os.path.isdir(value):
            raise BadUsage(f"{option}: no folder '{value}'", "give an existing folder")
        if option == "--bind":
            options.bind.append(os.path.abspath(value))
        else:
            setattr(options, option[2:], value)
    if not args or args[0] in ("", "--"):
        raise BadUsage("no runtime is named", "utils/with-runtime after -- CMD")
    name = args.pop(0)
    if args and args[0] == "--":
        args.pop(0)
    if not args:
        raise BadUsage("no command is given", f"utils/with-runtime {name} -- CMD")
    return options, name, args


def start(arguments: Iterable[str]) -> NoReturn:
    options, name, argv = _parse(list(arguments))
    from ..base import paths
    from ..runtimes.runtime import parse
    from ..workspace import find, sandbox

    ws, runtime = find.find(options.checkout, options.toolchain), parse(name)
    if not ws or not runtime.is_laid:
        from ..runtimes import build
        from ..workspace import provision

        ws = provision.ready(options)
        build.ensure(ws, runtime)
    cwd = os.getcwd()
    if os.access(paths.BUILD, os.W_OK):
        paths.MODULE_CACHE.mkdir(parents=True, exist_ok=True)
    env = ws.environment(runtime.environment(ws))
    sandbox.become(ws.root, argv, binds=ws.binds([cwd, *options.bind]), cwd=cwd, env=env)
