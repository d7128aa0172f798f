"""The series as commits: what is applied on a checkout, applying, exporting.

Everything is prepared in an index of its own and written as commits that nobody
sees; only when all of it worked do HEAD, index and work tree move, in one step.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from ..base import files, pins
from ..base.errors import UserError
from ..base.git import Git, identity
from ..base.text import plural
from . import patch as patches
from . import series
from .patch import Patch
from .series import Series

_TESTS_SUBJECT = "[test] Add the tests and benchmarks of the patch series"
_TESTS_NAME = "tests-and-benchmarks"
_PART = "A part of the series: apply-patches --only."
_AUTHOR = ("Swift Runtime Patches", "patches@localhost", "2026-01-01T00:00:00+00:00")


class State:
    """What a checkout holds: base (commit below the series), applied (slugs from
    first to last), commits {slug: commit}, head; unnamed (commits in or above the series
    that have no name) and twice (slugs of several commits)."""

    def __init__(self, git: Git) -> None:
        self.base = self.head = git.line("rev-parse", "HEAD")
        self.commits: dict[str, str] = {}
        self.unnamed: list[str] = []
        self.twice: list[str] = []
        # Git's own trailers are not used: one line that is no trailer hides all of them.
        log = git.out("log", "--first-parent", "-n", "400", "--format=%H%x00%P%x00%B%x01")
        unnamed: list[str] = []
        for entry in log.split("\x01"):
            commit, _, rest = entry.strip().partition("\0")
            parents, _, message = rest.partition("\0")
            names = re.findall(rf"^{patches.NAME_TRAILER}:[ \t]*(.*?)[ \t]*$", message, re.M)
            if names:
                self.twice += [names[-1]] * (names[-1] in self.commits)
                self.commits[names[-1]] = commit
                self.base = (parents.split() or [commit])[0]
                self.unnamed += unnamed
                unnamed = []
            elif commit:
                unnamed.append(commit)
        self.applied = [n for n in reversed(self.commits) if n != _TESTS_NAME]
        self.tests = self.commits.get(_TESTS_NAME)


def git_of(folder: Path | str) -> Git:
    return Git(Path(folder) / "swift")


def unpatched(folder: Path | str) -> tuple[Git, str]:
    """(the Git of folder/swift, the commit below the series there)."""
    git = git_of(folder)
    return git, State(git).base


def edited(git: Git) -> list[str]:
    """What git says of each file whose changes are not committed."""
    return git.out("status", "--porcelain", "--untracked-files=no").splitlines()


def require_clean(git: Git) -> None:
    """UserError if the work tree or the index differs from HEAD, or if a git operation is under way."""
    gitdir = Path(git.line("rev-parse", "--absolute-git-dir"))
    for name, what in (
        ("rebase-merge", "rebase"),
        ("rebase-apply", "am or rebase"),
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
    ):
        if (gitdir / name).exists():
            raise UserError(f"a git {what} is under way in {git.folder}", "finish or abort it first")
    changed = edited(git)
    if changed:
        what = f"{git.folder} has uncommitted changes, the first in {changed[0][3:]}"
        raise UserError(what, f"commit or stash them: {git.command} stash")


def apply(folder: Path | str, only: Collection[str] = (), three_way: bool = False) -> tuple[list[str], State]:
    """Applies the series (or `only` some patches) to folder/swift as commits.

    Returns (the slugs applied, the state before); no slugs when it was there already.
    """
    git = git_of(folder)
    chosen = series.load().select(only)
    state = State(git)
    wanted = [p.slug for p in chosen]
    if state.commits:
        if _same(git, state, chosen, bool(only)):
            return [], state
        require_clean(git)
        missing = [s for s in wanted if s not in state.applied]
        what = f"only a part of the series (not {', '.join(missing)})" if missing else "another version of the series"
        hint = f"go back to its base and apply again: {git.command} reset --hard {state.base[:12]}"
        raise UserError(f"{git.folder} holds {what}", hint)
    require_clean(git)
    with scratch_index(git) as scratch:
        commit = state.head
        scratch.out("read-tree", commit)
        for patch in chosen:
            _apply_one(scratch, patch, three_way, git.folder)
            commit = commit_index(scratch, commit, patch.message, patch.author, patch.date)
        commit = _copy(scratch, commit, chosen if only else None)
        _move(git, commit)
    return wanted, state


def _same(git: Git, state: State, chosen: list[Patch], partial: bool) -> bool:
    if state.applied != [p.slug for p in chosen]:
        return False
    if any(export_text(git, state.commits[p.slug]) != p.text for p in chosen):
        return False
    if partial:
        return True
    tree = {
        line.split("\t")[1]: line.split()[2]
        for line in git.out("ls-tree", "-r", state.tests or state.head, "--", *series.COPIED_FOLDERS).splitlines()
    }
    return all(tree.get(path) == git.line("hash-object", ours) for path, ours in series.copied_files().items())


@contextlib.contextmanager
def scratch_index(git: Git) -> Iterator[Git]:
    """A Git on the same objects with an empty index of its own."""
    gitdir = git.line("rev-parse", "--absolute-git-dir")
    with tempfile.TemporaryDirectory(prefix="series-", dir=gitdir) as folder:
        yield Git(git.folder, index=os.path.join(folder, "index"))


def _apply_one(scratch: Git, patch: Patch, three_way: bool, shown: Path) -> None:
    """Applies a patch to the index of `scratch`; UserError with the hunk that fails. shown: the checkout."""
    mode = ["--3way"] if three_way else []
    done = scratch.call("apply", "--cached", "--whitespace=nowarn", *mode, "-", input=patch.diff)
    if done.returncode == 0:
        return
    reason, hint = (done.stderr.strip().splitlines() or ["no reason given"])[-1].removeprefix("error: "), ""
    for line in done.stderr.splitlines():
        if failed := re.match(r"error: patch failed: (.+):(\d+)$", line):
            hunk = patch.hunk_at(failed[1], int(failed[2]))
            reason = f"{failed[1]}{f', hunk {hunk}' if hunk else ''} (line {failed[2]})"
            by_hand = "docs/guides.md says how to rebase the series by hand"
            hint = f"; {by_hand if three_way else '--3way merges where the context differs'}"
            break
        if missing := re.match(r"error: (.+): (does not exist|already exists) in index", line):
            reason, hint = f"{missing[1]} {missing[2]}", f"; is it at {pins.load().swift.tag}?"
            break
    raise UserError(f"{patch.path} does not apply to {shown}: {reason}", f"the checkout is as it was{hint}")


def commit_index(scratch: Git, parent: str | None, message: str, author: str, date: str) -> str:
    """A new commit of what the index holds; nothing moves to it."""
    found = re.match(r"\s*(.*?)\s*<([^>]*)>", author)
    name, mail = (found[1], found[2]) if found else _AUTHOR[:2]
    env = identity(name, mail, date or _AUTHOR[2])
    tree = scratch.line("write-tree")
    parents = ["-p", parent] if parent else []
    return scratch.line("commit-tree", tree, *parents, "-F", "-", input=message, env=env)


def _copy(scratch: Git, parent: str, chosen: list[Patch] | None) -> str:
    """Adds our tests and registered benchmark entries; if some patches are chosen, only the
    tests that those name."""
    copied = series.copied_files()
    if chosen is not None:
        tests = {t for p in chosen for t in (*p.tests, *p.guards)}
        copied = {k: v for k, v in copied.items() if k in tests or k.startswith("benchmark/") or "/Inputs/" in k}
    lines = []
    for path, ours in copied.items():
        blob = scratch.line("hash-object", "-w", ours)
        mode = "100755" if os.access(ours, os.X_OK) else "100644"
        lines.append(f"{mode} {blob}\t{path}")
    modules = sorted(Path(p).stem for p in copied if p.startswith("benchmark/"))
    registered = {"benchmark/CMakeLists.txt": _register_cmake, "benchmark/utils/main.swift": _register_main}
    for path, register in registered.items():
        text = register(scratch.out("show", f"{parent}:{path}"), modules)
        blob = scratch.line("hash-object", "-w", "--stdin", input=text)
        lines.append(f"100644 {blob}\t{path}")
    scratch.out("update-index", "--add", "--index-info", input="\n".join(lines) + "\n")
    name, mail, date = _AUTHOR
    part = "" if chosen is None else f"{_PART}\n\n"
    message = f"{_TESTS_SUBJECT}\n\n{part}{patches.NAME_TRAILER}: {_TESTS_NAME}\n"
    return commit_index(scratch, parent, message, f"{name} <{mail}>", date)


def _register_cmake(text: str, modules: list[str]) -> str:
    """Adds modules to SWIFT_BENCH_MODULES, in order, as create_benchmark.py does."""
    start = text.index("set(SWIFT_BENCH_MODULES")
    end = text.index(")", start)
    head, *old = text[start:end].rstrip().split("\n")
    new = sorted({*old, *(f"    single-source/{m}" for m in modules)}, key=str.lower)
    return text[:start] + "\n".join([head, *new]) + "\n" + text[end:]


def _register_main(text: str, modules: list[str]) -> str:
    """Adds `import M` and `register(M.benchmarks)` lines, each in its sorted place."""
    for line in [f"import {m}" for m in modules] + [f"register({m}.benchmarks)" for m in modules]:
        lines = text.split("\n")
        if line in lines:
            continue
        kind = line[: line.index(" ") + 1] if line.startswith("import") else "register("
        others = ("import TestsUtils", "import DriverUtils")
        same = [i for i, old in enumerate(lines) if old.startswith(kind) and not old.startswith(others)]
        later = [i for i in same if lines[i].lower() > line.lower()]
        lines.insert(later[0] if later else same[-1] + 1, line)
        text = "\n".join(lines)
    return text


def _move(git: Git, new: str) -> None:
    """Moves HEAD, index and work tree forward to `new`; all or nothing.

    An untracked file in the way makes git refuse before it touches anything. Ctrl-C
    waits until it is done (git inherits the blocked signals).
    """
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        done = git.call("merge", "-q", "--ff-only", "--no-autostash", new)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
    if done.returncode:
        if untracked := re.findall(r"^\t(.+)$", done.stderr, re.M):
            what = f"{git.folder}: {untracked[0]} is in the way and is not tracked by git"
            raise UserError(what, "move it away; the checkout is as it was")
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[0]
        what = f"git cannot move {git.folder} to the series: {reason}"
        raise UserError(what, f"look at it with: {git.command} status")


def kept_beside(git: Git, *known: str) -> bool:
    """Whether branches or stashes have commits that none of `known` has."""
    return bool(git.line("rev-list", "-n", "1", "--all", "--not", *known))


def export_text(git: Git, commit: str) -> str:
    """The patch file of a commit; the same bytes on every machine."""
    form = "--zero-commit --no-signature --full-index --no-stat --no-renames -N -U3 --no-attach --no-cover-letter"
    text = git.out("format-patch", "-1", "--stdout", "--encode-email-headers", *form.split(), commit)
    # Without the first line, which separates mails.
    return text.partition("\n")[2].rstrip("\n") + "\n"


def _require_names(git: Git, state: State) -> None:
    """UserError if a commit of the series has no name, or the name of another one. The export would remove its
    patch, and all patches below it."""
    name = patches.NAME_TRAILER
    unnamed = list(state.unnamed)
    base = git.line("log", "-1", "--format=%s", state.base)
    for path in series.load().files:
        with contextlib.suppress(UserError):  # it may be damaged
            if path.stem not in state.commits and series.load().patch(path.stem).subject == base:
                unnamed.append(state.base)
    if unnamed:
        raise UserError(
            f"{git.folder}: {plural(len(unnamed), 'commit')} in or above the series without the "
            f"line '{name}: NAME', the last is {unnamed[-1][:12]}",
            "add the line to its message (git commit --amend), or fold it in: "
            f"git rebase -i --autosquash {pins.load().swift.tag}",
        )
    if state.twice:
        what = f"{git.folder} has several commits with the line '{name}: {state.twice[0]}'"
        raise UserError(what, "give each a name of its own")


def export(folder: Path | str, check: bool = False) -> list[tuple[Path, str]]:
    """Writes the commits of folder/swift back to patches/.

    Returns [(file, "new" | "changed" | "removed")]; with check nothing is written.
    """
    git = git_of(folder)
    state = State(git)
    if not state.commits:
        what = f"{git.folder} has no commit with a {patches.NAME_TRAILER} trailer"
        raise UserError(what, f"utils/apply-patches --checkout {Path(folder)}")
    _require_names(git, state)
    if state.tests and _PART in git.out("log", "-1", "--format=%B", state.tests):
        what = f"{git.folder} holds only a part of the series: an export would remove the other patches"
        raise UserError(what, "cherry-pick your commit onto a checkout with the whole series, and export that")
    for name in state.applied:
        if not re.fullmatch(patches.NAME, name):
            what = f"commit {state.commits[name][:12]}: '{name}' is not a patch name"
            raise UserError(what, "names are lower-case words joined by hyphens")
    changes = write_series(series.load(), git, state, check)
    if not check:
        series.load.cache_clear()
    return changes


def write_series(listed: Series, git: Git, state: State, check: bool) -> list[tuple[Path, str]]:
    """Makes the files of a series those of the commits; returns what differs, as export() does."""
    wanted = {listed.path(n): export_text(git, state.commits[n]) for n in state.applied}
    comments = []
    if listed.order.exists():
        text = listed.order.read_text(encoding="utf-8", errors="replace")
        comments = [line for line in text.splitlines() if line.startswith("#")]
    wanted[listed.order] = "\n".join(comments + state.applied) + "\n"
    changes = []
    for path, text in wanted.items():
        old = path.read_bytes() if path.exists() else None
        if old != text.encode("utf-8", "surrogateescape"):
            changes.append((path, "changed" if old is not None else "new"))
    changes += [(p, "removed") for p in listed.files if p not in wanted]
    if not check:
        for path, what in changes:
            if what == "removed":
                path.unlink()
            else:
                files.write(path, wanted[path])
    return changes
