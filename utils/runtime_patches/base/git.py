"""Git without the user's configuration, hooks or work tree in the way."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import UserError, check_disk

# Output must not depend on the user's settings. If the checkout's own .git is damaged, git
# must not find one in a folder above: for build/checkout, that of this repository.
_ENV = {
    "GIT_DIR": ".git",
    "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = "core.autocrlf=false core.hooksPath=/dev/null core.quotepath=false diff.algorithm=histogram gc.auto=0"
_CONFIG = [word for setting in _SETTINGS.split() for word in ("-c", setting)]


def identity(name: str, mail: str, date: str) -> dict[str, str]:
    """The variables by which git knows who has made a commit, and when."""
    fields = {"NAME": name, "EMAIL": mail, "DATE": date}
    return {f"GIT_{who}_{field}": value for who in ("AUTHOR", "COMMITTER") for field, value in fields.items()}


class Git:
    """The checkout whose top folder is `folder`; `index` names an index file to use instead
    of its own."""

    def __init__(self, folder: Path, index: Path | str | None = None) -> None:
        self.folder = folder
        # A hook's variables name the repository that it runs for.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k == "GIT_EXEC_PATH"} | _ENV
        if index:
            self.env["GIT_INDEX_FILE"] = str(index)

    @property
    def command(self) -> str:
        """How people call it, for hints."""
        return f"git -C {shlex.quote(str(self.folder))}"

    def call(
        self, *args: object, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """subprocess.run of git with its output captured as text."""
        argv, env = ["git", *_CONFIG, *map(str, args)], {**self.env, **(env or {})}
        options = {"capture_output": True, "text": True, "errors": "surrogateescape", **options}
        return subprocess.run(argv, cwd=self.folder, env=env, **options)

    def out(self, *args: object, **options: Any) -> str:
        """The standard output of git; UserError if git fails."""
        done = self.call(*args, **options)
        if done.returncode:
            check_disk(done.stderr, self.folder)
            reason = (done.stderr.strip().splitlines() or ["no message"])[0]
            hint = f"look at it with: {self.command} status; utils/doctor names what is damaged"
            raise UserError(f"git {args[0]} failed in {self.folder}: {reason}", hint)
        return done.stdout

    def line(self, *args: object, **options: Any) -> str:
        """As out(), without the line's end."""
        return self.out(*args, **options).strip()

    def has(self, revision: str) -> bool:
        return self.call("rev-parse", "-q", "--verify", revision + "^{commit}").returncode == 0
