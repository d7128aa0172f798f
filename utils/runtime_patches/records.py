"""Small JSON files that tell what the folder beside them was made from."""

import json


def read(path):
    """The dictionary in a file; None where there is none, or it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write(path, value):
    """Writes the dictionary `value` to a file, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)
