"""Files and folders that appear complete or not at all; and records. A record is a small JSON file in a folder. It
tells what the folder was made from, and the size and time of each file in it."""

from __future__ import annotations

import contextlib
import json
import os

from .errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

# In a folder: the record of its own files.
MADE = "made.json"


def write(path: Path, text: str, mode: int | None = None) -> None:
    """Writes a text file, with these permissions. An interruption leaves the old one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    if mode is not None:
        partial.chmod(mode)
    partial.replace(path)


def copy(source: Path, target: Path) -> None:
    """Puts a copy in the place of `target`, which programs may have mapped."""
    import shutil

    partial = target.with_name(target.name + ".partial")
    shutil.copy2(source, partial)
    partial.replace(target)


def write_starter(path: Path, argv: Iterable[object]) -> None:
    """Writes a program that runs argv, with the arguments that it is given behind it."""
    import shlex

    write(path, f'#!/bin/sh\nexec {shlex.join(map(str, argv))} "$@"\n', 0o755)


def write_all(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes {name: text} to a folder. The last one appears last: if it is there, so are all others."""
    for name, text in texts.items():
        (folder / f"{name}.partial").write_text(text, encoding="utf-8")
    for name in texts:
        os.replace(folder / f"{name}.partial", folder / name)


def read_text(path: Path, hint: str) -> str:
    """The text of a file; UserError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"there is no {path}", hint) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", hint) from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is damaged: it is not text", hint) from None


def parse(text: str, path: Path, hint: str) -> Any:
    """The value in JSON `text`, which the file `path` held."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: {error}", hint) from None


def read_json(path: Path, hint: str) -> Any:
    """The value in a JSON file; UserError if it is damaged."""
    return parse(read_text(path, hint), path, hint)


def same(one: Path, other: Path) -> bool:
    """Whether a file and another one, which may not exist, have the same content."""
    import filecmp

    return other.is_file() and filecmp.cmp(one, other, shallow=False)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def digest(text: str, paths: Iterable[Path] = ()) -> str:
    """The SHA-256 of a text and of the files that follow it, in hexadecimal."""
    import hashlib

    found = hashlib.sha256(text.encode())
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def read_record(path: Path) -> dict[str, Any] | None:
    """The dictionary in a file; None if the file is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_record(path: Path, value: Mapping[str, Any]) -> None:
    write(path, json.dumps(value, indent=2) + "\n")


def write_intact(path: Path, value: Mapping[str, Any], made: Iterable[Path]) -> None:
    """Writes the record `path`: the dictionary `value`, and the states of the files `made`, which are below the same
    folder."""
    write_record(path, {**value, "files": {str(file.relative_to(path.parent)): _state(file) for file in made}})


def changed(path: Path) -> list[str] | None:
    """The names of the files in the record `path` that were removed or have changed since; None if the record is
    missing or damaged."""
    states = (read_record(path) or {}).get("files")
    if not isinstance(states, dict) or not states:
        return None
    return [name for name, state in states.items() if _state(path.parent / name) != state]


def is_intact(path: Path) -> bool:
    """Whether all files in the record `path` are as they were."""
    return changed(path) == []


def _state(path: Path) -> list[int] | None:
    """Size and time of a file: nearly all damage changes them, and the file is not read. None if there is no file."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):  # the name in a damaged record may be none at all
        return None
    return [found.st_size, found.st_mtime_ns]


def is_made(record: Path, key: str) -> bool:
    """Whether the files in a record are as they were made, by a recipe with this key."""
    return (read_record(record) or {}).get("key") == key and is_intact(record)


def remove(path: Path) -> None:
    """Removes a file or a folder, also if it holds read-only files; never crosses a mount. A folder gets another name
    first, so nobody sees half of it, and `doctor --clean old` finds what an interruption leaves."""
    import subprocess

    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        if not path.name.endswith(".partial"):
            whole, path = path, path.with_name(path.name + ".removed.partial")
            remove(path)
            whole.rename(path)
        subprocess.run(["chmod", "-R", "u+rwX", str(path)], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--one-file-system", str(path)], check=True)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A new folder beside `path`, which takes its place when the block ends well. Nobody sees half of it."""
    partial = path.with_name(path.name + ".partial")
    remove(partial)
    partial.mkdir(parents=True)
    try:
        yield partial
    except BaseException:
        remove(partial)
        raise
    remove(path)
    partial.rename(path)


def free_gb(path: Path) -> float:
    """Free space in GB where `path` is or will be."""
    import shutil

    while not path.exists():
        path = path.parent
    if not path.is_dir():
        raise UserError(f"{path} is no folder", "move it away, or set XDG_CACHE_HOME to another place")
    return shutil.disk_usage(path).free / 1e9
