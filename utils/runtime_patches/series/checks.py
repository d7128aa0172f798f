"""The rules of the series (patches/README.md), checked: utils/check-patches."""

from __future__ import annotations

import re
from pathlib import Path

from ..base import pins
from ..base.errors import UserError, plain
from ..base.git import Git
from ..base.paths import BENCHMARK, REPO
from . import checkout, series
from . import patch as patches
from .patch import Patch
from .series import Series

_SUBJECT = r"\[[A-Z][A-Za-z0-9]+\] [A-Z].*[^.]"
_NONE = r"none: .{10,}"
_SHORT = "is 'none', but the reason after 'none:' has fewer than 10 characters"
_REASON = (r"\[.{10,}\]", "[reason]")
_STATUS = {
    "Pending": _REASON,
    "Submitted": (r"\[.*(https://|swiftlang/swift#)\S+.*\]", "[where]"),
    "Backport": (r"\[.*(PR \d+|[0-9a-f]{12,}).*\]", "[PR or commit]"),
    "Denied": _REASON,
    "Inappropriate": _REASON,
}


def _conditions(path: Path) -> str:
    """In a test, what lines such as `// XFAIL: without_NAME` say: the runtimes on which it cannot pass."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return ",".join(re.findall(r"(?m)^//\s*(?:XFAIL|UNSUPPORTED):[ \t]*(.*)$", text))


def headers(listed: Series | None = None) -> list[tuple[str, str]]:
    """A list of (file, fault) over the order file, the folder and all headers."""
    listed = series.load() if listed is None else listed  # an empty one is false
    faults = []
    for path in sorted(listed.folder.glob("*")):
        known = path.name in ("series", "version", "README.md", "dispatch") or path.suffix == ".partial"
        if path.suffix == ".patch" and path.stem not in listed.names:
            faults.append((path.name, "is not listed in patches/series"))
        elif path.suffix != ".patch" and not known:
            faults.append((path.name, "is not a patch"))
    if listed.folder.name != "dispatch":  # which is released with the series that it is a part of
        try:
            str(listed.version)
        except UserError as error:
            faults.append(("version", error.message.partition(": ")[2] or error.message))
    for slug in listed.names:
        try:
            faults += [(f"{slug}.patch", plain(fault)) for fault in of_patch(listed.patch(slug))]
        except UserError as error:
            faults.append((f"{slug}.patch", error.message))
    return faults


def tests() -> list[tuple[str, str]]:
    """(file, fault) for tests that name the unpatched runtime instead of a missing patch."""
    found = []
    for name, path in series.copied_files().items():
        if path.suffix == ".swift" and re.search(r"\bruntime_before\b(?!-)", _conditions(path)):
            found.append((name, "says runtime_before: name the missing patch, as in 'XFAIL: without_NAME'"))
    return found


def of_patch(patch: Patch) -> list[str]:
    """The faults in the header and the form of one Patch."""
    found = []
    if not patch.text.isascii():
        found.append("the file is not plain ASCII")
    if not re.fullmatch(_SUBJECT, patch.subject):
        found.append(f"the subject '{patch.subject}' is not '[Component] Sentence' without a full stop")
    if len(patch.subject) > 72:
        found.append(f"the subject has {len(patch.subject)} characters, 72 are allowed")
    name = patch.fields.get(patches.NAME_TRAILER)
    if name != patch.slug:
        found.append(f"{patches.NAME_TRAILER}: is '{name or ''}', not the file's name")
    if len(patch.why.split()) < 30:
        found.append("the header does not say why (30 words or more before the fields)")
    wide = [line for line in patch.body.splitlines() if len(line) > 80]
    if wide:
        found.append(f"a line of the header has {len(wide[0])} characters, 80 are allowed")
    for field in patches.FIELDS:
        if not patch.fields.get(field) and field not in patches.OPTIONAL:
            found.append(f"the header has no '{field}:'")
    found += _form(patch.body[len(patch.why) :])
    found += _tests(patch) + _benchmark(patch) + _status(patch)
    for file in patch.files:
        if file.startswith(("test/", "benchmark/")):
            found.append(f"touches {file}: tests and benchmarks stand in this repository")
    if re.search(r"^\+.*[ \t]+$", patch.diff, re.M):
        found.append("an added line ends in white space")
    return found


def _form(fields: str) -> list[str]:
    """Faults in the part of a header from the first field on."""
    wanted = (*patches.FIELDS, patches.NAME_TRAILER)
    names = re.findall(rf"(?m)^({'|'.join(wanted)}):", fields)
    if names != [name for name in wanted if name in names]:
        return [f"the fields are not each there once, in this order: {', '.join(wanted)}"]
    return [
        f"'{line}' is neither a field nor indented, as a field's further lines are"
        for line in fields.splitlines()
        if not re.match(rf"(?:{'|'.join(wanted)}):|[ \t]+\S", line)
    ][:1]


def _tests(patch: Patch) -> list[str]:
    """The faults of the fields Test and Guard of a header."""
    found = []
    text = patch.fields.get("Test", "")
    if text.startswith("none") and not re.match(_NONE, text):
        found.append(f"'Test:' {_SHORT}")
    elif text and not patch.tests and not re.match(_NONE, text):
        found.append("'Test:' names no file below test/ (or 'none: reason')")
    for field, files in (("Test", patch.tests), ("Guard", patch.guards)):
        found += [f"'{field}:' names {file}, which does not exist" for file in files if not (REPO / file).is_file()]
    if "Guard" in patch.fields and not patch.guards:
        found.append("'Guard:' names no file below test/")
    for file in patch.tests:
        path, mark = REPO / file, f"without_{patch.slug}"
        if path.is_file() and mark not in re.split(r"[\s,|&()!]+", _conditions(path)):
            found.append(
                f"'Test:' names {file}, which has no 'XFAIL: {mark}' (or UNSUPPORTED): a test that passes without the "
                "patch belongs in 'Guard:'"
            )
    for file in patch.guards:
        path, mark = REPO / file, f"without_{patch.slug}"
        if path.is_file() and mark in re.split(r"[\s,|&()!]+", _conditions(path)):
            found.append(f"'Guard:' names {file}, which says '{mark}': it belongs in 'Test:'")
    return found


def _benchmark(patch: Patch) -> list[str]:
    text = patch.fields.get("Benchmark", "")
    if not text or re.match(_NONE, text):
        return []
    if text.startswith("none"):
        return [f"'Benchmark:' {_SHORT}"]
    if not re.search(r"\d.*\d", text):
        return ["'Benchmark:' has no figures before and after (or 'none: reason')"]
    known = "\n".join(path.read_text() for path in (BENCHMARK / "single-source").glob("*.swift"))
    return [
        f"'Benchmark:' names {row}, which no suite entry has"
        for row in re.findall(r"\b([A-Z]\w+(?:\.\w+)+)\b", text)
        if row not in known and row.split(".")[0] + "." not in known
    ]


def _status(patch: Patch) -> list[str]:
    state, reason = patch.upstream
    if not state:
        return []
    if state not in _STATUS:
        return [f"'Upstream-Status: {state}' is none of {', '.join(_STATUS)}"]
    pattern, form = _STATUS[state]
    if not re.fullmatch(pattern, reason):
        return [f"'Upstream-Status: {state}' needs its {form}, found '{reason}'"]
    return []


def applies(sources: Path) -> list[tuple[str, str]]:
    """(file, fault) for each patch that does not apply to the tag at its exact lines."""
    git = checkout.git_of(sources)
    tag = pins.load().swift.tag
    if not git.has(tag):
        raise UserError(f"{git.folder} has no tag {tag}", f"{git.command} fetch --tags")
    return apply_exactly(git, tag, series.load())


def apply_exactly(git: Git, base: str, listed: Series) -> list[tuple[str, str]]:
    """(file, fault) for each patch that does not apply to the commit `base` at its exact lines."""
    with checkout.scratch_index(git) as scratch:
        scratch.out("read-tree", base)
        for patch in listed:
            done = scratch.call("apply", "--cached", "-v", "-", input=patch.diff)
            if done.returncode:
                lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
                return [(f"{patch.slug}.patch", lines[0][7:] if lines else "does not apply")]
            moved = re.search(r"Hunk #(\d+) succeeded at \d+ \(offset (-?\d+) lines?\)", done.stderr)
            if moved:
                what = f"hunk {moved[1]} applies {moved[2]} lines off: utils/export-patches writes exact ones"
                return [(f"{patch.slug}.patch", what)]
    return []
