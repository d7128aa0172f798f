"""Files that appear whole or not at all, and records: small ones in JSON that tell what the
folder beside them was made from."""

import json


def write(path, text):
    """Writes a text file; who is interrupted leaves the old one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


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
