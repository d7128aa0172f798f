#!/usr/bin/env python3
"""damaged.py DIR EXAMPLES [SEED], in what tiny.py made in DIR, with its utils/ on PYTHONPATH: damaged order files and
patches are read and applied, or refused in one line of error and one of hint. The examples are always the same ones, or
others with a seed."""

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st
from runtime_patches.base import errors, paths
from runtime_patches.series import checkout, checks, series

BASE, SOURCES = "swift-6.2.3-RELEASE", Path(sys.argv[1]) / "sources"
FILES = {path: path.read_text() for path in [*paths.PATCHES.glob("*.patch"), paths.PATCHES / "series"]}
git = checkout.git_of(SOURCES)
series.copied_files = dict  # each takes a call of git

_PIECES = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["\0", "\r", "\t", "  ", "-1", "0", "nan", "1e999", ":", "---", "\n", "#", "../", "None", "ä", "\ud800"]
    ),
)


@st.composite
def damaged_text(draw: Any, whole: str) -> bytes:
    """Bytes of `whole` after one to three edits of its lines, and perhaps cut off."""
    lines = whole.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(lines) - 1))
        line, after, piece = lines[number], "".join(lines[number + 1 : number + 2]), draw(_PIECES)
        at = draw(st.integers(0, len(line)))
        one, other = line[:at], line[at:]
        edits = ["", line + line, line.strip(), f"\n{line}", one, f"  {line}", f"{one}\n{other}", after + line]
        lines[number] = draw(st.sampled_from([*edits, one + piece + other, one + piece + other[1:]]))
    data = "".join(lines).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 9)) == 0:
        data = data[: draw(st.integers(0, len(data)))]
    return data


class Refused(Exception):
    """The input was refused in the right form."""


def answer(call: Callable[..., Any], *args: object) -> Any:
    """What the call returns. Refused for a UserError, whose two lines are looked at."""
    try:
        return call(*args)
    except errors.UserError as error:
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            errors.report(error)
    lines = text.getvalue().split("\n")
    assert len(lines) == 3 and lines[0][7:].strip() and lines[1][6:].strip(), lines
    assert lines[0].startswith("error: ") and lines[1].startswith("hint: "), lines
    assert text.getvalue().replace("\n", "").isprintable(), lines
    raise Refused


def damage(data: Any) -> None:
    """Lays the series, with one damaged file."""
    for path in paths.PATCHES.iterdir():
        if path.is_file() and path.name != "version":
            path.unlink()
    damaged = data.draw(st.sampled_from(list(FILES)))
    for path, text in FILES.items():
        path.write_bytes(data.draw(damaged_text(text)) if path == damaged else text.encode())
    series.load.cache_clear()


def read(data: Any) -> None:
    """The series is read, or refused; faults are one line each."""
    damage(data)
    faults = answer(checks.headers)
    for file, fault in faults:
        assert file and fault and fault.isprintable(), (file, fault)
    patches = answer(lambda: series.load().select())
    assert [patch.slug for patch in patches] == series.load().names


def round_trip(data: Any) -> None:
    """What check-patches lets pass is applied whole or not at all, and comes back: no patch
    is lost, none loses a field."""
    damage(data)
    if answer(checks.headers):
        return
    before = answer(lambda: series.load().select())
    git.out("reset", "-q", "--hard", BASE)
    try:
        answer(checkout.apply, SOURCES)
    except BaseException:
        assert git.line("rev-parse", "HEAD") == git.line("rev-parse", BASE)
        assert not git.out("status", "--porcelain")
        raise
    answer(checkout.export, SOURCES)
    after = answer(lambda: series.load().select())
    assert [(p.slug, p.subject, p.fields) for p in after] == [(p.slug, p.subject, p.fields) for p in before]
    assert answer(checkout.export, SOURCES, True) == []
    assert answer(checkout.apply, SOURCES)[0] == []


examples, *seed = map(int, sys.argv[2:])
for check in (read, round_trip):
    counts = {"answered": 0, "refused": 0}

    def count(data: Any) -> None:
        try:
            check(data)
            counts["answered"] += 1
        except Refused:
            counts["refused"] += 1

    test = hypothesis.given(st.data())(count)
    if seed:
        test = hypothesis.seed(seed[0])(test)
    every = list(hypothesis.HealthCheck)
    hypothesis.settings(
        max_examples=examples, derandomize=not seed, database=None, deadline=None, suppress_health_check=every
    )(test)()
    print(f"{check.__name__}: {counts['answered']} answered, {counts['refused']} refused")
