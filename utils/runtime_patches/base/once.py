"""Files that are made once, and again when what they are made from has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from . import files, locks


def file(path: Path, parts: Iterable[str | Path], make: Callable[[Path], object]) -> Path:
    """The file `path`, made from `parts`: texts, and files. make(partial) makes it if it is not there, not intact, or
    was made from others."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part.read_bytes())
        digest.update(b"\0")
    key, record = digest.hexdigest(), path.with_name(f"{path.name}.json")

    if not files.is_made(record, key):
        with locks.exclusive(path.parent):
            if not files.is_made(record, key):
                partial = path.with_name(f"{path.name}.partial")
                make(partial)
                partial.replace(path)
                files.write_intact(record, {"key": key}, [path])
    return path
