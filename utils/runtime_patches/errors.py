"""The one type of error that a user sees, and the one place that prints it."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys

DISK_FULL = ("the disk is full", "free some space, or set XDG_CACHE_HOME and TMPDIR to folders "
             "on a larger disk; then run the same command again")


class UserError(Exception):
    """Something that the user can mend: `error: message`, then `hint: hint`."""

    def __init__(self, message, hint=None, status=1):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status = status


def report(error):
    """Prints one line of error and one of hint on standard error."""
    sys.stdout.flush()
    print(f"error: {_plain(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"hint: {_plain(error.hint)}", file=sys.stderr)


def _plain(text):
    """`text` in one line: names in damaged files may hold anything."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def check_disk(output, folder):
    """UserError if a program, which failed with this output, had no room in `folder`. Its
    message may have found no room, too, or git keeps the reason to itself."""
    if re.search(r"No space left on device|Disk quota exceeded", output) \
            or shutil.disk_usage(folder).free < 1 << 20:
        raise UserError(*DISK_FULL)


def of_system(error):
    """The UserError for an OSError that nobody expected."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(*DISK_FULL)
    reason = error.strerror or str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return UserError(f"{error.filename or 'a file'}: {reason}",
                         "check who owns it; XDG_CACHE_HOME and TMPDIR name other places for the "
                         "cache and temporary files")
    return UserError(f"{error.filename}: {reason}" if error.filename else reason,
                     "utils/doctor says what is not whole")


def of_program(error):
    """The UserError for a subprocess.CalledProcessError."""
    argv = [str(word) for word in error.cmd]
    program = argv[argv.index("--") + 1 if "--" in argv[:-1] else 0]
    lines = str(error.stderr or "").strip().splitlines()
    return UserError(f"{os.path.basename(program)} failed: "
                     + (lines[-1] if lines else f"exit status {error.returncode}"),
                     "utils/doctor says what is not whole")


def run_main(main):
    """Calls main() and turns its result, an error or Ctrl-C into an exit status."""
    try:
        try:
            status = main()
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except UserError as error:
            status = error.status
            report(error)
        except OSError as error:
            status = 1
            report(of_system(error))
        except subprocess.CalledProcessError as error:
            status = 1
            report(of_program(error))
    except KeyboardInterrupt:
        print("\nerror: interrupted\nhint: the same command goes on from here",
              file=sys.stderr)
        status = 130
    except BrokenPipeError:
        # The reader has gone (`… | head`): say nothing, as other tools do.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + signal.SIGPIPE
    sys.exit(status or 0)
