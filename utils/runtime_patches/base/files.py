"""Files that appear complete or not at all; and records, small JSON files that tell what the folder
beside them was made from and what its files were like."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess

# In a folder: the record of its own files.
MADE = "made.json"


def write(path, text):
    """Writes a text file; who is interrupted leaves the old one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def write_all(folder, texts):
    """Writes {name: text} to a folder. The last one appears last: who sees it sees all others."""
    for name, text in texts.items():
        (folder / f"{name}.partial").write_text(text, encoding="utf-8")
    for name in texts:
        os.replace(folder / f"{name}.partial", folder / name)


def sha256(path):
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read_record(path):
    """The dictionary in a file; None if the file is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_record(path, value):
    """Writes the dictionary `value` to a file."""
    write(path, json.dumps(value, indent=2) + "\n")


def write_intact(path, value, made):
    """Writes the dictionary `value` to a file, and in it what the files `made`, which are below
    the same folder, are like."""
    write_record(path, {**value, "files": {str(file.relative_to(path.parent)): _state(file) for file in made}})


def changed(path):
    """The names of the files that write_intact has written of to `path` and that are gone or
    changed since; None if that is not known."""
    states = (read_record(path) or {}).get("files")
    if not isinstance(states, dict) or not states:
        return None
    return [name for name, state in states.items() if _state(path.parent / name) != state]


def is_intact(path):
    """Whether all that write_intact has written of to `path` is as it was."""
    return changed(path) == []


def _state(path):
    """Size and time of a file: nearly all damage changes them, and the file is not read. None if there is no file."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):  # the name in a damaged record may be none at all
        return None
    return [found.st_size, found.st_mtime_ns]


def remove(path):
    """Removes a file or folder that may hold read-only ones; never crosses a mount. Nobody sees
    half of it: it gets another name first, by which `doctor --clean old` finds it."""
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
def replaced(path):
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


def free_gb(path):
    """Free space in GB where `path` is or will be."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free / 1e9
