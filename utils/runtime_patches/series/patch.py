"""One patch of the series: a file in mail format whose header has fields."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from ..base.errors import UserError
from ..base.paths import shown

NAME_TRAILER = "Patch-Name"
# In this order in a header. `Guard` may be absent.
FIELDS = ("ABI", "Memory", "Test", "Guard", "Benchmark", "Upstream-Status")
OPTIONAL = ("Guard",)
NAME = r"[a-z0-9]+(-[a-z0-9]+)*"


class Patch:
    """slug: its name; text: the file; subject, author ("Name <mail>") and date of the commit; body: the
    message without the subject; fields {name: text}; diff: from the first `diff --git` on."""

    def __init__(self, slug: str, text: str, path: Path) -> None:
        self.slug, self.text, self.path = slug, text, shown(path)
        head, mark, diff = text.partition("\ndiff --git ")
        self.diff = "diff --git " + diff if mark else ""
        from email.header import decode_header, make_header  # which take long to import
        from email.parser import Parser

        message = Parser().parsestr(head)
        self.author = str(make_header(decode_header(message.get("From", ""))))
        self.date = message.get("Date", "")
        subject = re.sub(r"\n\s*", " ", str(make_header(decode_header(message.get("Subject", "")))))
        self.subject = re.sub(r"^\[PATCH[^\]]*\]\s*", "", subject)
        self.body = re.sub(r"\n---\n.*\Z", "\n", "\n" + str(message.get_payload()), flags=re.S).strip("\n")
        if not self.subject or not self.diff:
            raise UserError(f"{self.path} is not a patch in mail format", "write it with utils/export-patches")

    @cached_property
    def fields(self) -> dict[str, str]:
        """{field of the header: its text in one line}."""
        found = {}
        for field in (*FIELDS, NAME_TRAILER):
            match = re.search(rf"^{field}:[ \t]*(.*(?:\n[ \t]+\S.*)*)", self.body, re.M)
            if match:
                found[field] = re.sub(r"\s*\n\s*", " ", match[1]).strip()
        return found

    @property
    def message(self) -> str:
        return f"{self.subject}\n\n{self.body}\n"

    @property
    def why(self) -> str:
        """The text of the header before its fields."""
        return re.split(rf"(?m)^(?:{'|'.join(FIELDS)}):", self.body)[0]

    @property
    def files(self) -> list[str]:
        return re.findall(r"^diff --git a/(\S+) b/\S+$", self.diff, re.M)

    @property
    def tests(self) -> list[str]:
        """The test files that fail without the patch, as the header names them."""
        return _paths(self.fields.get("Test", ""))

    @property
    def guards(self) -> list[str]:
        """The test files that pass with and without the patch, as the header names them."""
        return _paths(self.fields.get("Guard", ""))

    @property
    def upstream(self) -> tuple[str, str]:
        """(state, reason) of Upstream-Status."""
        state, _, reason = self.fields.get("Upstream-Status", "").partition(" ")
        return state, reason.strip()

    def hunk_at(self, file: str, line: int) -> int | None:
        """The number (from 1) of the hunk of `file` that starts at the old `line`, or None."""
        part = re.search(rf"^diff --git a/{re.escape(file)} .*?(?=^diff --git |\Z)", self.diff, re.M | re.S)
        starts = re.findall(r"^@@ -(\d+)", part[0], re.M) if part else []
        return starts.index(str(line)) + 1 if str(line) in starts else None


def _paths(text: str) -> list[str]:
    return re.findall(r"[\w./+-]*test/[\w./+-]+", text)
