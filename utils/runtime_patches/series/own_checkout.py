"""build/checkout: a clone of the unpatched sources with the series, for users who have no checkout. It is made, and
brought up to date with patches/. Somebody's work in it is never lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..base import files
from ..base.errors import UserError
from ..base.git import Git
from ..base.paths import BUILD, shown
from ..base.progress import Step, note
from ..workspace.find import Workspace
from . import checkout, series

FOLDER = BUILD / "checkout"


def renew(ws: Workspace) -> None:
    """Makes build/checkout, or brings it up to date with patches/. Work in it is never lost."""
    stamp = FOLDER / "series.json"
    wanted = {"series": series.load().key, "patches": series.load().patches_key, "sources": str(ws.sources)}
    made = files.read_record(stamp)
    git = checkout.git_of(FOLDER)
    if FOLDER.exists() and not (made and (FOLDER / "swift" / ".git").exists() and git.has("HEAD")):
        raise UserError(f"{FOLDER} is not intact; does it hold your work?", f"save that, then rm -r '{FOLDER}'")
    if made and {k: made.get(k) for k in wanted} == wanted and "renewing" not in made:
        return
    if made and "renewing" in made:
        _keep_found(git, made)
    elif made and _holds_work(git, made, wanted):
        return
    if not made or made.get("sources") != wanted["sources"]:
        if made and checkout.kept_beside(git, "HEAD", "--remotes", "--tags"):
            what = f"{git.folder} has branches or stashes of yours, and the sources have changed"
            hint = f"keep them elsewhere: {git.command} bundle create FILE --all; then rm -r '{FOLDER}'"
            raise UserError(what, hint)
        _make_checkout(ws, wanted)
        return
    # An interruption from here on leaves the tree between two states.
    files.write_record(stamp, {**made, "renewing": True})
    git.out("reset", "-q", "--hard", checkout.State(git).base)
    checkout.apply(FOLDER)
    files.write_record(stamp, {**wanted, "head": git.line("rev-parse", "HEAD")})


def export(check: bool = False) -> list[tuple[Path, str]]:
    """Writes the commits of build/checkout back to patches/ as checkout.export does. UserError if that would throw away
    what has changed in patches/ since the two were the same."""
    changes = checkout.export(FOLDER, check=True)
    made, git = files.read_record(FOLDER / "series.json") or {}, checkout.git_of(FOLDER)
    if changes and made.get("patches") != series.load().patches_key:
        if has_work(git, made):
            raise _both_changed(git, made)
        raise UserError(f"patches/ is newer than {shown(FOLDER)}/swift", "utils/apply-patches")
    if made and not check:
        if changes:
            checkout.export(FOLDER)
        same = {"patches": series.load().patches_key, "exported": git.line("rev-parse", "HEAD")}
        files.write_record(FOLDER / "series.json", {**made, **same})
    return changes


def has_work(git: Git, made: Mapping[str, Any]) -> bool:
    """Whether build/checkout has changed since it was made or exported."""
    head = git.line("rev-parse", "HEAD")
    exported = head == made.get("exported") and not _tests_edited(git, made.get("head", head))
    return bool(checkout.edited(git)) or not (exported or head == made.get("head"))


def _both_changed(git: Git, made: Mapping[str, Any]) -> UserError:
    at = git.command
    return UserError(
        f"{git.folder} holds work that is not in patches/, and patches/ has changed",
        f"commit the work and keep it: {at} branch mine; then {at} reset --hard {made.get('head', 'HEAD')[:12]}, "
        "utils/apply-patches, and git cherry-pick what 'mine' has",
    )


def _holds_work(git: Git, made: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Whether build/checkout has work that must stay as it is; UserError if that cannot
    be used with the series of patches/."""
    if not has_work(git, made):
        return False
    exported = _exported()
    same = all(made.get(k) == wanted[k] for k in ("patches", "sources"))
    if not same and not (exported and made.get("sources") == wanted["sources"]):
        raise _both_changed(git, made)
    # Only what patches/ has may be thrown away. Our tests and benchmarks run from
    # here, so it does no harm that the checkout has older ones.
    head = git.line("rev-parse", "HEAD")
    return bool(checkout.edited(git)) or not exported or _tests_edited(git, made.get("head", head))


def _keep_found(git: Git, made: Mapping[str, Any]) -> None:
    """Moves the changes in a tree that an interruption left between two states to git's stash. They are a part of one
    of the states, or edits made since."""
    state = checkout.State(git)
    if state.commits and state.head != made.get("head") and not _exported():
        raise _both_changed(git, made)
    gitdir = Path(git.line("rev-parse", "--absolute-git-dir"))
    (gitdir / "index.lock").unlink(missing_ok=True)
    if checkout.edited(git):
        git.out("stash", "push", "-q", "-m", "found when the series was applied again")
        note(f"the checkout was half made; what was changed in it: {git.command} stash show -p")


def _make_checkout(ws: Workspace, wanted: Mapping[str, str]) -> None:
    """Replaces build/checkout by a new clone of the unpatched sources, with the series."""
    with Step("a checkout for the series"), files.replaced(FOLDER) as partial:
        source, base = checkout.unpatched(ws.sources)
        source.out("clone", "-q", "--no-checkout", str(ws.sources / "swift"), str(partial / "swift"))
        git = checkout.git_of(partial)
        # Of Swift's 23,000 tests only the folders that ours are copied to: all of them take several times as long.
        own_tests = [f"/{folder}/" for folder in series.COPIED_FOLDERS if folder.startswith("test/")]
        git.out("sparse-checkout", "set", "--no-cone", "/*", "!/validation-test/", "!/test/*/", *own_tests)
        git.out("checkout", "-q", "-B", "series", base)
        git.out("config", "user.name", "Swift Runtime Patches")
        git.out("config", "user.email", "patches@localhost")
        # Upstream's tools look for the other repositories beside swift/.
        for path in ws.sources.iterdir():
            if path.name != "swift" and path.is_dir():
                (partial / path.name).symlink_to(path)
        checkout.apply(partial)
        files.write_record(partial / "series.json", {**wanted, "head": git.line("rev-parse", "HEAD")})


def _exported() -> bool:
    """Whether patches/ has all that is committed in build/checkout."""
    try:
        return not checkout.export(FOLDER, check=True)
    except UserError:
        return False


def _tests_edited(git: Git, head: str) -> bool:
    """Whether tests or benchmarks were changed in the checkout since `head`."""
    folders = ("test", "validation-test", "benchmark")
    return not git.has(head) or bool(git.out("diff", "--name-only", head, "HEAD", "--", *folders))
