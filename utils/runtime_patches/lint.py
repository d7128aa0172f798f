"""The law of the series (patches/README.md), checked: utils/check-patches."""

import re

from . import checkout, pins, series
from .errors import UserError

_SUBJECT = r"\[[A-Z][A-Za-z0-9]+\] [A-Z].*[^.]"
_STATUS = {
    "Pending": (r"\[.{10,}\]", "[reason]"),
    "Submitted": (r"\[.*(https://|swiftlang/swift#)\S+.*\]", "[where]"),
    "Backport": (r"\[.*(PR \d+|[0-9a-f]{12,}).*\]", "[PR or commit]"),
    "Denied": (r"\[.{10,}\]", "[reason]"),
    "Inappropriate": (r"\[.{10,}\]", "[reason]"),
}


def headers():
    """A list of (file, fault) over the order file, the folder and all headers."""
    listed = series.names()
    faults = []
    for path in sorted(series.FOLDER.glob("*")):
        known = path.name in ("series", "README.md") or path.suffix == ".partial"
        if path.suffix == ".patch" and path.stem not in listed:
            faults.append((path.name, "is not listed in patches/series"))
        elif path.suffix != ".patch" and not known:
            faults.append((path.name, "is not a patch"))
    for slug in listed:
        try:
            patch = series.load(slug)
        except UserError as error:
            faults.append((f"{slug}.patch", error.message))
            continue
        faults += [(f"{slug}.patch", fault) for fault in _faults(patch)]
    return faults


def _faults(patch):
    found = []
    if not patch.text.isascii():
        found.append("the file is not plain ASCII")
    if not re.fullmatch(_SUBJECT, patch.subject):
        found.append(f"the subject '{patch.subject}' is not '[Component] Sentence' "
                     "without a full stop")
    if len(patch.subject) > 72:
        found.append(f"the subject has {len(patch.subject)} characters, 72 are allowed")
    if patch.fields.get(series.NAME_TRAILER) != patch.slug:
        found.append(f"{series.NAME_TRAILER}: is "
                     f"'{patch.fields.get(series.NAME_TRAILER, '')}', not the file's name")
    why = re.split(rf"(?m)^(?:{'|'.join(series.FIELDS)}):", patch.body)[0]
    if len(why.split()) < 30:
        found.append("the header does not say why (30 words or more before the fields)")
    for line in patch.body.splitlines():
        if len(line) > 80:
            found.append(f"a line of the header has {len(line)} characters, 80 are allowed")
            break
    for field in series.FIELDS:
        if not patch.fields.get(field):
            found.append(f"the header has no '{field}:'")
    found += _form(patch.body[len(why):])
    found += _tests(patch) + _benchmark(patch) + _status(patch)
    for file in patch.files:
        if file.startswith(("test/", "benchmark/")):
            found.append(f"touches {file}: tests and benchmarks stand in this repository")
    if re.search(r"^\+.*[ \t]+$", patch.diff, re.M):
        found.append("an added line ends in white space")
    return found


def _form(fields):
    """Faults in the part of a header from the first field on."""
    wanted = (*series.FIELDS, series.NAME_TRAILER)
    names = re.findall(rf"(?m)^({'|'.join(wanted)}):", fields)
    if names != [name for name in wanted if name in names]:
        return [f"the fields are not each there once, in this order: {', '.join(wanted)}"]
    return [f"'{line}' is neither a field nor indented, as a field's further lines are"
            for line in fields.splitlines()
            if not re.match(rf"(?:{'|'.join(wanted)}):|[ \t]+\S", line)][:1]


def _tests(patch):
    text = patch.fields.get("Test", "")
    if text and not patch.tests and not re.match(r"none: .{10,}", text):
        return ["'Test:' names no file below test/ (or 'none: reason')"]
    return [f"'Test:' names {t}, which does not exist" for t in patch.tests
            if not (pins.REPO / t).is_file()]


def _benchmark(patch):
    text = patch.fields.get("Benchmark", "")
    if not text or re.match(r"none: .{10,}", text):
        return []
    if not re.search(r"\d.*\d", text):
        return ["'Benchmark:' has no figures before and after (or 'none: reason')"]
    known = "\n".join(p.read_text() for p in
                      (pins.REPO / "benchmark" / "single-source").glob("*.swift"))
    rows = re.findall(r"\b([A-Z]\w+(?:\.\w+)+)\b", text)
    return [f"'Benchmark:' names {row}, which no suite entry has" for row in rows
            if row not in known and row.split(".")[0] + "." not in known]


def _status(patch):
    text = patch.fields.get("Upstream-Status", "")
    if not text:
        return []
    state, _, reason = text.partition(" ")
    if state not in _STATUS:
        return [f"'Upstream-Status: {state}' is none of {', '.join(_STATUS)}"]
    pattern, form = _STATUS[state]
    if not re.fullmatch(pattern, reason.strip()):
        return [f"'Upstream-Status: {state}' needs its {form}, found '{reason}'"]
    return []


def applies(sources):
    """(file, fault) for each patch that does not apply to the tag at its exact lines."""
    git = checkout.git_of(sources)
    tag = pins.load()["swift"]["tag"]
    if not git.has(tag):
        raise UserError(f"{git.folder} has no tag {tag}",
                        f"git -C {git.folder} fetch --tags")
    with checkout.scratch_index(git) as scratch:
        scratch.out("read-tree", tag)
        for patch in series.load_all():
            done = scratch.call("apply", "--cached", "-v", "-", input=patch.diff)
            if done.returncode:
                lines = [line for line in done.stderr.splitlines()
                         if line.startswith("error:")]
                return [(f"{patch.slug}.patch", lines[0][7:] if lines else "does not apply")]
            moved = re.search(r"Hunk #(\d+) succeeded at \d+ \(offset (-?\d+) lines?\)",
                              done.stderr)
            if moved:
                return [(f"{patch.slug}.patch", f"hunk {moved[1]} applies {moved[2]} lines "
                         "off: utils/export-patches writes exact ones")]
    return []
