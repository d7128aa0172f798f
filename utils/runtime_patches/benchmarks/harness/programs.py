"""The programs of harnesses: their rows, one process of them, and their report."""

import signal
import subprocess

from ... import report
from ...base.errors import UserError
from ...runtimes.runtime import stock

NO_PART = "there is no table of a part; --filter leaves a row out"


def rows(ws, program):
    """{row: what the program says of it}."""
    done = stock().run(ws, [str(program), "--list"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return dict(line.split("\t") for line in done.stdout.splitlines())


def output(ws, runtime, argv, what, hint=NO_PART, **options):
    """The standard output of one process on a runtime; UserError if it fails. what: it is, in the error."""
    done = runtime.run(ws, argv, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise UserError(
            f"{what} on {runtime} {ending(done.returncode)}" + (f" ({lines[0].strip()[:150]})" if lines else ""), hint
        )
    return done.stdout


def ending(status):
    """How a process ended whose exit status is `status`; bubblewrap turns a signal into 128 + its number."""
    number = -status if status < 0 else status - 128
    if status < 0 or number in set(signal.Signals):
        return f"died of {signal.Signals(number).name}"
    return f"ended with status {status}"


def show(outcome, folder, left=1):
    """Prints the tables and the notes of an Outcome, writes it to `folder`, and renews the page of all results."""
    for table in outcome.tables:
        print(table.text(left), end="\n\n")
    for note in outcome.notes:
        print(note)
    outcome.write(folder)
    report.renew(folder)
    print(folder / "report.md")
