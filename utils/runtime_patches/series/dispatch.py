"""The series of libdispatch: patches/dispatch, and build/dispatch, a checkout of the unpatched sources with it. They
are plain files without a history. Somebody's work in the checkout is never lost."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..base import files, locks
from ..base.errors import UserError
from ..base.git import Git
from ..base.paths import BUILD, PATCHES, shown
from ..base.progress import Step
from ..workspace.find import Workspace
from . import checkout, checks
from .series import Series

FOLDER = BUILD / "dispatch"
NAME = "swift-corelibs-libdispatch"


def load() -> Series:
    """The patches in their order."""
    return Series(PATCHES / "dispatch")


def renew(ws: Workspace) -> None:
    """Makes the checkout, or brings it up to date with the patches, if the workspace has libdispatch's sources."""
    if not (ws.sources / NAME).is_dir():
        return
    listed = load()
    wanted = {"patches": listed.patches_key, "sources": str(ws.sources)}
    made = _made()
    if made and {key: made.get(key) for key in wanted} == wanted:
        return
    git = Git(FOLDER)
    if made and (
        checkout.edited(git) or git.line("rev-parse", "HEAD") != made["head"] or checkout.kept_beside(git, "HEAD")
    ):
        what = f"{shown(FOLDER)} holds work, and patches/dispatch or the sources have changed"
        raise UserError(what, f"keep it elsewhere, then rm -r '{FOLDER}'")
    if FOLDER.exists() and not made:
        raise UserError(f"{FOLDER} is not intact; does it hold your work?", f"save that, then rm -r '{FOLDER}'")
    with Step("a checkout of libdispatch for its series"), files.replaced(FOLDER) as partial:
        # Not the repository of the sources, if they have one: it may be the user's.
        ignore = shutil.ignore_patterns(".git")
        shutil.copytree(ws.sources / NAME, partial, dirs_exist_ok=True, symlinks=True, ignore=ignore)
        git = Git(partial)
        git.out("init", "-q")
        git.out("config", "user.name", "Swift Runtime Patches")
        git.out("config", "user.email", "patches@localhost")
        git.out("add", "--all", "--force")
        commit = checkout.commit_index(git, None, f"The sources of {NAME}\n", "", "")
        for patch in listed:
            done = git.call("apply", "--index", "--whitespace=nowarn", "-", input=patch.diff)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[0].removeprefix("error: ")
                raise UserError(f"{patch.path} does not apply to {NAME}: {reason}", "the checkout was not made")
            commit = checkout.commit_index(git, commit, patch.message, patch.author, patch.date)
        git.out("reset", "-q", "--hard", commit)
        files.write_record(partial / ".git" / "series.json", {**wanted, "head": commit})


def export(check: bool = False) -> list[tuple[Path, str]]:
    """Writes the commits of the checkout back to patches/dispatch, as checkout.export does."""
    made, git = _made(), Git(FOLDER)
    if not made:
        return []
    listed = load()
    changes = checkout.write_series(listed, git, checkout.State(git), check=True)
    if changes and made["patches"] != listed.patches_key:
        raise UserError(f"patches/dispatch has changed since {shown(FOLDER)} was made", "utils/apply-patches")
    if changes and not check:
        checkout.write_series(listed, git, checkout.State(git), check=False)
        head = git.line("rev-parse", "HEAD")
        record = {**made, "patches": load().patches_key, "head": head}
        files.write_record(FOLDER / ".git" / "series.json", record)
    return changes


def applies(ws: Workspace) -> list[tuple[str, str]]:
    """(file, fault) for each patch that does not apply at its exact lines."""
    with locks.exclusive(BUILD):
        renew(ws)
    if not _made():
        return []
    git = Git(FOLDER)
    return checks.apply_exactly(git, checkout.State(git).base, load())


def edited() -> list[str]:
    """What git says of each file whose changes are not committed."""
    return checkout.edited(Git(FOLDER)) if _made() else []


def _made() -> dict[str, str] | None:
    return files.read_record(FOLDER / ".git" / "series.json")
