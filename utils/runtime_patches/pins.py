"""What the workspace is made of: build-script-config/sources.json."""

import hashlib
import json
import os
import pwd
from pathlib import Path

from .errors import UserError
from .shapes import Check, is_number

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build"
CONFIG = REPO / "build-script-config"

_SOURCES = CONFIG / "sources.json"


_SHAPE = {
    "swift": {"version": str, "tag": str},
    "distribution": {**dict.fromkeys(
        ("suite", "architecture", "source", "source_version", "orig", "orig_sha256", "toolchain",
         "llvm_tools"), str), "pinned_packages": [str], "packages": [str]},
    "source_excludes": [str], "needs": {"disk_gb": is_number, "minutes": is_number}}


def load():
    """Returns the pins as a dictionary; UserError where the file is damaged."""
    hint = f"git checkout -- {_SOURCES.relative_to(REPO)}"
    try:
        pins = json.loads(_SOURCES.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{_SOURCES} cannot be read: {error.strerror}", hint) from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{_SOURCES} is damaged: {error}", hint) from None
    Check(_SOURCES, hint).shape(pins, _SHAPE)
    return pins


def key():
    """A short name for this exact set of pins: caches of other pins stay apart."""
    parts = {k: v for k, v in load().items() if k != "needs"}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def cache_root():
    """The folder that holds the caches of all pins."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # which the XDG specification tells to ignore
        home = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
        base = os.path.join(home, ".cache")
    return Path(base) / "swift-runtime-patches"


def cache():
    """The cache of these pins; shared by all clones of this repository."""
    return cache_root() / key()
