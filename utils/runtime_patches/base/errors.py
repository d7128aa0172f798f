"""The one type of error that a user sees, and the one place that prints it."""

from __future__ import annotations

import errno
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import NoReturn

DISK_FULL = (
    "the disk is full",
    "free some space, or set XDG_CACHE_HOME and TMPDIR to folders on a larger disk; then run the same command again",
)


class UserError(Exception):
    """A fault that the user can fix: `error: message`, then `hint: hint`."""

    def __init__(self, message: str, hint: str | None = None, status: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status = status


class BadUsage(UserError):
    """A fault of the command line itself: an option, a name or a number that cannot be used."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint, 2)


def report(error: UserError) -> None:
    say(f"error: {plain(error.message)}")
    if error.hint:
        say(f"hint: {plain(error.hint)}")


def say(text: str) -> None:
    """Prints to standard error. If that cannot be written, the work goes on without."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        raise
    except OSError:
        _to_null(2)


def plain(text: str) -> str:
    """`text` in one line: names in damaged files may hold anything."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def check_disk(output: str, folder: Path) -> None:
    """UserError if a program that failed with this output had no room in `folder`. The output may not say so: there
    was no room for it, or git does not tell the reason."""
    import re
    import shutil

    if re.search(r"No space left on device|Disk quota exceeded", output) or shutil.disk_usage(folder).free < 1 << 20:
        raise UserError(*DISK_FULL)


def of_system(error: OSError) -> UserError:
    """The UserError for an OSError that nobody expected."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(*DISK_FULL)
    reason = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return UserError(
            f"{error.filename or 'a file'}: {reason}",
            "check who owns it; XDG_CACHE_HOME and TMPDIR name other places for the cache and temporary files",
        )
    if error.errno == errno.ENOENT:
        from .paths import BUILD, REPO

        file = str(error.filename or "")
        if not file:
            return UserError("the current folder has been removed", "cd to another one")
        if "/" not in file:  # subprocess names the program; our own files have whole paths
            return UserError(f"{file} is not installed, or not on PATH", f"sudo apt install {file}")
        if file.startswith(f"{REPO}/") and not file.startswith(f"{BUILD}/"):
            return UserError(f"{file}: {reason}", f"git checkout -- {file}")
    return UserError(f"{error.filename}: {reason}" if error.filename else reason, "utils/doctor names what is damaged")


def of_program(error: Exception) -> UserError | None:
    """The UserError for a program that has failed, or has not ended in time; None for another exception."""
    from subprocess import CalledProcessError, TimeoutExpired  # whose import takes long

    if not isinstance(error, (CalledProcessError, TimeoutExpired)):
        return None
    argv = [str(word) for word in error.cmd]
    program = argv[argv.index("--") + 1 if "--" in argv[:-1] else 0]
    name, hint = os.path.basename(program), "utils/doctor names what is damaged"
    if isinstance(error, TimeoutExpired):
        return UserError(f"{name} did not end within {error.timeout:.0f} s", hint)
    lines = str(error.stderr or "").strip().splitlines()
    return UserError(f"{name} failed: " + (lines[-1] if lines else f"exit status {error.returncode}"), hint)


def run_main(main: Callable[[], int | None]) -> NoReturn:
    """Calls main() and turns its result, an error or Ctrl-C into an exit status."""
    _open_streams()
    try:
        status = _status(main)
    except KeyboardInterrupt:
        say("\nerror: interrupted\nhint: the same command goes on from here")
        status = 130
    except BrokenPipeError:
        # The reader has gone (`… | head`): say nothing, as other tools do.
        _to_null(1)
        _to_null(2)
        status = 128 + signal.SIGPIPE
    sys.exit(status or 0)


def _status(main: Callable[[], int | None]) -> int | str | None:
    """What main() returns, or exits with, after all of its output was written; or that of an error, which it
    reports."""
    status: int | str | None
    try:
        try:
            status = main()
        except SystemExit as error:
            status = error.code
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        raise
    except UserError as error:
        fault = error
    except OSError as error:
        fault = _of_output() or of_system(error)
    except Exception as error:
        found = of_program(error)
        if not found:
            raise
        fault = found
    _of_output()  # what was printed comes first
    report(fault)
    return fault.status


def _of_output() -> UserError | None:
    """The UserError if standard output cannot be written, else None. Nothing more is then written to it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _to_null(1)
        return UserError(f"standard output cannot be written: {error.strerror}", "the output is incomplete")
    return None


def _open_streams() -> None:
    """Opens /dev/null for the standard streams that are closed: other files would take their
    numbers, and what programs print would go into those. Any path can be printed, in any
    locale."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            _to_null(number)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))
        if number:
            getattr(sys, name).reconfigure(encoding="utf-8", errors="surrogateescape")


def _to_null(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)
    os.set_inheritable(number, True)
