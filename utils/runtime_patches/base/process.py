"""Runs long programs with their output in a log, and ends them with the command."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import locks
from .errors import UserError, check_disk
from .paths import BUILD
from .progress import note

_GUARD = Path(__file__).parent / "guard"


def captured(argv: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """subprocess.run with its output as text, and nothing to read."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    return subprocess.run(argv, **streams, **options)


def start(argv: Sequence[str | Path], **options: Any) -> subprocess.Popen[str]:
    """subprocess.Popen of what leads a session of its own (see end), writes text, and has nothing to read."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "text": True, "errors": "replace", **options}
    return subprocess.Popen(argv, start_new_session=True, **streams)


def run_logged(
    argv: Sequence[str | Path],
    name: str,
    *,
    failed: str,
    hints: Iterable[tuple[str, str, str]] = (),
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
) -> Path:
    """Runs argv with its output in build/logs/NAME.log.

    A failure is UserError(failed), with the first of `hints` [(regular expression, message,
    hint)] that matches the output, or else its last lines. argv keeps the locks of this
    process: what it writes stays guarded until it has ended, too.
    """
    logs = BUILD / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{name}.log"
    with open(log, "wb") as out:
        # If this process is killed, the kernel sends the guard a signal.
        guarded = ["setpriv", "--pdeathsig", "TERM", _GUARD, str(os.getpid()), *argv]
        told: dict[str, Any] = {"stdout": out, "stderr": subprocess.STDOUT, "pass_fds": locks.held()}
        status, _ = ended(start(guarded, cwd=cwd, env=env, **told))
    if status == 0:
        return log
    text = log.read_text(errors="replace")
    check_disk(text, logs)
    for pattern, message, hint in hints:
        if re.search(pattern, text):
            raise UserError(message, hint)
    tail = [line for line in text.splitlines() if line.strip()][-15:]
    note("\n".join("    " + line for line in tail))
    raise UserError(f"{failed} (exit status {status})", f"its whole output is in {log}")


def ending(status: int, output: str = "") -> str:
    """How a process ended whose exit status is `status`, with the last line of its output. bubblewrap and shells
    turn a signal into 128 + its number."""
    number, known = -status if status < 0 else status - 128, {one.value: one.name for one in signal.Signals}
    died = status < 0 or number in known
    said = [f" ({line.strip()[:150]})" for line in output.splitlines() if line.strip()][-1:]
    how = f"died of {known.get(number, f'signal {number}')}" if died else f"ended with status {status}"
    return how + "".join(said)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """While the block runs, a signal that ends this process raises an exception, so that the block can end what it has
    started."""

    def stop(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    def lost(unraisable: sys.UnraisableHookArgs) -> None:
        # The signal came in a finalizer, out of which no exception gets: it comes once more.
        error = unraisable.exc_value
        if not isinstance(error, (KeyboardInterrupt, SystemExit)):
            hook(unraisable)
            return
        number = signal.SIGINT if isinstance(error, KeyboardInterrupt) else int(str(error.code)) - 128
        threading.Timer(0.01, os.kill, (os.getpid(), number)).start()

    hook = sys.unraisablehook
    old = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in old.items():
        if handler == signal.SIG_DFL:  # nohup ignores one
            signal.signal(number, stop)
    sys.unraisablehook = lost
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in old.items():
            signal.signal(number, handler)


def ended(process: subprocess.Popen[Any]) -> tuple[int, Any]:
    """(status, standard error) of a child that leads a session of its own. It ends with this process."""
    try:
        _, errors = process.communicate()
    except BaseException:
        end(process)
        raise
    return process.returncode, errors


def end(process: subprocess.Popen[Any]) -> None:
    """Ends a child that leads a session of its own, politely first."""
    for sig, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sig)
        except ProcessLookupError:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            return
