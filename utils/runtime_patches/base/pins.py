"""The versions that the workspace is made of: build-script-config/sources.json.

utils/with-runtime reads it at each start, so it is checked without dataclasses, whose import takes 15 ms.
"""

from __future__ import annotations

import functools
import json
import os
import pwd
from pathlib import Path
from types import SimpleNamespace

from . import files
from .errors import UserError
from .paths import CONFIG, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SOURCES = CONFIG / "sources.json"
_TEXTS = ("suite", "architecture", "source", "source_version", "orig", "orig_sha256", "toolchain", "llvm_tools")
_SHAPE = {
    "swift": {"version": str, "tag": str},
    "distribution": {**dict.fromkeys(_TEXTS, str), "pinned_packages": list, "packages": list},
    "source_excludes": list,
    "needs": {"disk_gb": (int, float), "minutes": (int, float)},
}


def _check(value: object, shape: Any, where: str, hint: str) -> None:
    if isinstance(shape, dict) and isinstance(value, dict):
        for name, inner in shape.items():
            _check(value.get(name), inner, f"{where}.{name}".lstrip("."), hint)
    elif isinstance(shape, dict) or not isinstance(value, shape):
        raise UserError(f"{_SOURCES} is damaged: {where or 'its content'} is missing or wrong", hint)
    elif isinstance(value, list) and not all(isinstance(word, str) for word in value):
        raise UserError(f"{_SOURCES} is damaged: {where} holds something else than names", hint)


@functools.cache
def as_json() -> dict[str, Any]:
    """The pins as a dictionary; UserError if the file is damaged."""
    hint = f"git checkout -- {shown(_SOURCES)}"
    pins: dict[str, Any] = files.read_json(_SOURCES, hint)
    _check(pins, _SHAPE, "", hint)
    return pins


@functools.cache
def load() -> SimpleNamespace:
    """The pins, such as load().swift.tag."""
    pins: SimpleNamespace = json.loads(json.dumps(as_json()), object_hook=lambda fields: SimpleNamespace(**fields))
    return pins


@functools.cache
def key() -> str:
    """A short name for this set of pins. Caches of other pins have other names."""
    parts = {name: value for name, value in as_json().items() if name != "needs"}
    return _sha256(json.dumps(parts, sort_keys=True).encode())[:12]


def _sha256(data: bytes) -> str:
    """In hexadecimal. hashlib loads OpenSSL, 3 ms at each start of with-runtime; what it falls back on does not."""
    for name in ("_sha2", "_sha256"):  # of Python 3.12 and later, and before
        try:
            return str(__import__(name).sha256(data).hexdigest())
        except ImportError:
            continue
    import hashlib

    return hashlib.sha256(data).hexdigest()


def cache_root() -> Path:
    """The folder that holds the caches of all pins."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the XDG specification says that such a value is ignored
        home = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
        base = os.path.join(home, ".cache")
    return Path(base) / "swift-runtime-patches"


def cache() -> Path:
    """The cache of these pins; all clones of this repository share it."""
    return cache_root() / key()
