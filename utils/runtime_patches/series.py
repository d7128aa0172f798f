"""The patch series as data: patches/series and one mail-format file a patch."""

import hashlib
import re
from email.parser import Parser

from . import pins
from .errors import UserError

FOLDER = pins.REPO / "patches"
ORDER = FOLDER / "series"
NAME_TRAILER = "Patch-Name"
FIELDS = ("ABI", "Memory", "Test", "Benchmark", "Upstream-Status")
STATES = ("Pending", "Submitted", "Backport", "Denied", "Inappropriate")


def names():
    """The slugs of patches/series, in order."""
    lines = _text(ORDER).splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        slug = line.split("#")[0].strip()
        if not slug:
            continue
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
            raise UserError(f"{_shown(ORDER)}:{number}: '{slug}' is not a patch name",
                            "names are lower-case words joined by hyphens")
        if slug in found:
            raise UserError(f"{_shown(ORDER)}:{number}: '{slug}' is listed twice",
                            "remove one of the two lines")
        found.append(slug)
    return found


def _text(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror
    except UnicodeDecodeError:
        reason = "it is not text"
    raise UserError(f"{_shown(path)} cannot be read: {reason}",
                    f"git checkout -- {_shown(path)}")


def _shown(path):
    try:
        return path.relative_to(pins.REPO)
    except ValueError:
        return path


def path_of(slug):
    """The file of a patch, whether it exists or not."""
    return FOLDER / f"{slug}.patch"


def load(slug):
    """The Patch of that name; UserError if it is missing or not a patch."""
    path = path_of(slug)
    if not path.exists():
        raise UserError(f"{_shown(ORDER)} lists '{slug}', but {_shown(path)} does not exist",
                        "add the file or remove the line")
    return Patch(slug, _text(path))


def load_all(only=()):
    """All patches in order, or those named in `only` (in the series' order)."""
    listed = names()
    for slug in only:
        if slug not in listed:
            raise UserError(f"no patch '{slug}' in {_shown(ORDER)}",
                            "the series is: " + ", ".join(listed))
    return [load(slug) for slug in listed if not only or slug in only]


def key():
    """A hash of everything that apply-patches puts on a checkout."""
    return _hash([ORDER, *sorted(FOLDER.glob("*.patch")), *laid_files().values()])


def patches_key():
    """A hash of the patches alone, without tests and benchmarks."""
    return _hash([ORDER, *sorted(FOLDER.glob("*.patch"))])


def _hash(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path.name).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def laid_files():
    """{path in swift/: our file} of the tests and benchmark entries."""
    found = {}
    for ours, pattern in (("test/Concurrency", "**/*"), ("test/Runtime", "**/*"),
                          ("benchmark/single-source", "*.swift")):
        for path in sorted((pins.REPO / ours).glob(pattern)):
            if path.is_file() and path.suffix != ".pyc":
                found[str(path.relative_to(pins.REPO))] = path
    return found


class Patch:
    """One patch file.

    subject, body (the message without the trailer), author ("Name <mail>"), date,
    diff (from the first `diff --git`), fields {name: text}, files touched.
    """

    def __init__(self, slug, text):
        self.slug = slug
        self.text = text
        self.path = _shown(path_of(slug))
        head, mark, self.diff = text.partition("\ndiff --git ")
        self.diff = "diff --git " + self.diff if mark else ""
        message = Parser().parsestr(head)
        self.author = message.get("From", "")
        self.date = message.get("Date", "")
        subject = re.sub(r"\n\s*", " ", message.get("Subject", ""))
        self.subject = re.sub(r"^\[PATCH[^\]]*\]\s*", "", subject)
        body = message.get_payload()
        self.body = re.sub(r"\n---\n.*\Z", "\n", "\n" + body, flags=re.S).strip("\n")
        if not self.subject or not self.diff:
            raise UserError(f"{self.path} is not a patch in mail format",
                            "write it with utils/export-patches")
        self.fields = {}
        for field in FIELDS + (NAME_TRAILER,):
            found = re.search(rf"^{field}:[ \t]*(.*(?:\n[ \t]+\S.*)*)", self.body, re.M)
            if found:
                self.fields[field] = re.sub(r"\s*\n\s*", " ", found[1]).strip()
        self.files = re.findall(r"^diff --git a/(\S+) b/\S+$", self.diff, re.M)

    @property
    def message(self):
        """The commit message."""
        return f"{self.subject}\n\n{self.body}\n"

    @property
    def tests(self):
        """The test files that the header names."""
        return re.findall(r"[\w./+-]*test/[\w./+-]+", self.fields.get("Test", ""))

    def hunk_at(self, file, line):
        """The number (from 1) of the hunk of `file` that starts at the old `line`."""
        part = re.search(rf"^diff --git a/{re.escape(file)} .*?(?=^diff --git |\Z)",
                         self.diff, re.M | re.S)
        starts = re.findall(r"^@@ -(\d+)", part[0], re.M) if part else []
        return starts.index(str(line)) + 1 if str(line) in starts else None
