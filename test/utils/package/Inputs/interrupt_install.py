#!/usr/bin/env python3
"""interrupt_install.py DIR: ends install.sh of the package in DIR/package before and after each command that
changes files, while it installs and while it undoes. If it is killed, --undo must undo what is left. If it is
interrupted, as by Ctrl-C, it must leave nothing, or undo all the same. In the end it must install as ever."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

place = Path(sys.argv[1]).resolve()
target, count, tools = place / "over", place / "count", place / "tools"
install = [place / "package" / "install.sh", "--into", target, "--swift", place / "usr/lib/swift/linux"]
undo = [place / "package" / "install.sh", "--into", target, "--undo"]
MESSAGE = "error: interrupted\nhint: nothing was changed; the same command begins again\n"
tools.mkdir()
for name in ("mkdir", "cp", "ln", "mv", "rm", "rmdir"):
    (tools / name).write_text(f"""#!/bin/sh
count() {{ echo >>{quote(str(count))}; [ "$(wc -l <{quote(str(count))})" -ne $STEP ] || kill -$SIGNAL 0; }}
count && {shutil.which(name)} "$@"; status=$?; count; exit $status
""")
    (tools / name).chmod(0o755)


def start(argv: Sequence[object], step: int = 0, number: signal.Signals = signal.SIGKILL) -> Any:
    """Runs argv, and ends it by a signal at a step, if one is given; returns its status and its errors."""
    count.unlink(missing_ok=True)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "STEP": str(step), "SIGNAL": number.name[3:]}
    done = subprocess.run(
        [str(word) for word in argv],
        env=env if step else None,
        start_new_session=True,
        # What was started in the background of a shell would ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def lay(kind: str) -> None:
    """The folder as it was before: none, or files of others, one of them as the package has it."""
    shutil.rmtree(target, ignore_errors=True)
    if kind == "files":
        target.mkdir()
        (target / "libswiftCore.so").write_text("mine")
        shutil.copy(place / "package/lib/libswift_Concurrency.so", target)
        (target / "libswiftSynchronization.so").symlink_to("nowhere")


def content() -> Any:
    return {
        str(path.relative_to(target)): path.readlink() if path.is_symlink() else path.is_file() and path.read_bytes()
        for path in target.rglob("*")
    }


for kind in ("none", "files"):
    lay(kind)
    before = content()
    if start(install)[0]:
        sys.exit("it does not install")
    installed = place / "installed"
    shutil.rmtree(installed, ignore_errors=True)
    subprocess.run(["cp", "-a", target, installed], check=True)
    for is_undo, ended in ((False, install), (True, undo)):
        steps = 0
        for number in (signal.SIGKILL, signal.SIGINT):
            step, reached = 1, True
            while reached:
                lay(kind)
                if is_undo:
                    shutil.rmtree(target, ignore_errors=True)
                    subprocess.run(["cp", "-a", installed, target], check=True)
                status, errors = start(ended, step, number)
                reached = len(count.read_text().splitlines()) >= step
                what = f"{kind}, {'undo' if is_undo else 'install'}, {number.name} at step {step}"
                left = content()
                if number == signal.SIGINT and reached:
                    good = (0, "") if is_undo else (130, MESSAGE)
                    if (status, errors) != good:
                        sys.exit(f"{what}: it ended with {status}: {errors}")
                    if left != before:
                        sys.exit(f"{what}: {left} is left")
                elif status not in (0, -9):
                    sys.exit(f"{what}: it ended with {status}")
                # Before anything is changed, and after all is done, there is nothing to undo.
                elif start(undo)[0] and left != before:
                    sys.exit(f"{what}: cannot be undone, {left} is left")
                if content() != before:
                    sys.exit(f"{what}: undo leaves {content()}, not {before}")
                step += 1
            steps = step - 2
        print(f"{what[: what.index(', SIG')]}: {steps} steps")
    if start(install)[0]:
        sys.exit(f"{kind}: it does not install any more")
