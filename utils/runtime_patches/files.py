"""Files that appear whole or not at all, and records: small ones in JSON that tell what the
folder beside them was made from, and what became of it."""

import hashlib
import json
import os


# In a folder: the record of its own files.
MADE = "made.json"


def write(path, text):
    """Writes a text file; who is interrupted leaves the old one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def sha256(path):
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read_record(path):
    """The dictionary in a file; None where there is none, or it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_record(path, value):
    """Writes the dictionary `value` to a file."""
    write(path, json.dumps(value, indent=2) + "\n")


def write_whole(path, value, made):
    """Writes the dictionary `value` to a file, and in it what the files `made`, which are below
    the same folder, are like."""
    write_record(path, {**value, "files": {
        str(file.relative_to(path.parent)): _state(file) for file in made}})


def changed(path):
    """The names of the files that write_whole has written of to `path` and that are gone or
    others since; None where that is not known."""
    states = (read_record(path) or {}).get("files")
    if not isinstance(states, dict) or not states:
        return None
    return [name for name, state in states.items() if _state(path.parent / name) != state]


def is_whole(path):
    """Whether all that write_whole has written of to `path` is as it was."""
    return changed(path) == []


def _state(path):
    """Changes with nearly all damage, and costs no reading. None where there is nothing."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):  # the name in a damaged record may be none at all
        return None
    return [found.st_size, found.st_mtime_ns]
