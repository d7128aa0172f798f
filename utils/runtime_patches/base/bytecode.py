"""Compiled modules beside their sources, so that commands start faster.

Python's own writer may leave a file that is cut off if the disk is full, and then no command starts any more. So Python
writes none (-B), and this does.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_PACKAGE = __name__.partition(".")[0]


def keep() -> None:
    """Writes the modules of this package that had to be compiled. Where that is impossible, nothing is lost."""
    try:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == _PACKAGE and (spec := module.__spec__) and spec.origin and spec.cached:
                stamp = _stamp(spec.origin)
                if not _is_of(spec.cached, stamp):
                    _write(spec, spec.cached, stamp)
    except OSError:
        pass


def _stamp(source: str) -> bytes:
    """Time and size of a source, as a compiled file has them from its eighth byte on."""
    found = os.stat(source)
    return b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in (int(found.st_mtime), found.st_size))


def _is_of(path: str, stamp: bytes) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(16)[8:] == stamp
    except FileNotFoundError:
        return False


def _write(spec: ModuleSpec, path: str, stamp: bytes) -> None:
    """Writes the compiled module of `spec` to `path`, whole or not at all."""
    import importlib.util
    import marshal
    from importlib.machinery import SourceFileLoader

    if not isinstance(spec.loader, SourceFileLoader):
        return
    code = spec.loader.get_code(spec.name)
    partial = f"{path}.{os.getpid()}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(partial, "wb") as file:
            file.write(importlib.util.MAGIC_NUMBER + bytes(4) + stamp + marshal.dumps(code))
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
