"""The one type of error that a user sees, and the one place that prints it."""

import os
import signal
import sys


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
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


def run_main(main):
    """Calls main() and turns its result, a UserError or Ctrl-C into an exit status."""
    try:
        try:
            status = main()
            sys.stdout.flush()
        except UserError as error:
            status = error.status
            report(error)
    except KeyboardInterrupt:
        print("\nerror: interrupted\nhint: the same command goes on from here",
              file=sys.stderr)
        status = 130
    except BrokenPipeError:
        # The reader has gone (`… | head`): say nothing, as other tools do.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 128 + signal.SIGPIPE
    sys.exit(status or 0)
