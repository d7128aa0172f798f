"""What the workspace is made of: build-script-config/sources.json."""

import hashlib
import json
import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build"
CONFIG = REPO / "build-script-config"

_SOURCES = CONFIG / "sources.json"


def load():
    """Returns the pins as a dictionary."""
    return json.loads(_SOURCES.read_text())


def key():
    """A short name for this exact set of pins: caches of other pins stay apart."""
    parts = {k: v for k, v in load().items() if k != "needs"}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def cache_root():
    """The folder that holds the caches of all pins."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "swift-runtime-patches"


def cache():
    """The cache of these pins; shared by all clones of this repository."""
    return cache_root() / key()
