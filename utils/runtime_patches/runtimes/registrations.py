"""How often each library of a runtime registers its metadata with libswiftCore.

One that registers twice is searched twice for each conformance, and one that does not has no conformances. Simple
programs show neither.
"""

import json
from pathlib import Path

from ..workspace.find import Workspace
from .libraries import NAMES

_SCRIPT = """
import ctypes, json, os, sys
libraries = {os.path.realpath(path): ctypes.CDLL(path) for path in sys.argv[1:]}
bases = []

@ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p)
def add(sections, context):
    bases.append(sections[1])
    return True

next(iter(libraries.values())).swift_enumerateAllMetadataSections(add, None)
images = {}
for line in open("/proc/self/maps"):
    words = line.split(maxsplit=5)
    images[int(words[0].split("-")[0], 16)] = words[-1].strip()
registered = [images.get(base) for base in bases]
print(json.dumps({os.path.basename(path): registered.count(path) for path in libraries}))
"""


def count(ws: Workspace, libraries: Path) -> dict[str, int]:
    """{name: registrations} of our libraries in a folder. They must be for this machine, and without a sanitizer."""
    there = [str(path) for path in map(libraries.joinpath, NAMES) if _is_library(path)]
    if not there:
        return {}
    argv = ["python3", "-c", _SCRIPT, *there]
    env = {"LD_LIBRARY_PATH": str(libraries)}
    found: dict[str, int] = json.loads(ws.output(argv, env=env, binds=[libraries]))
    return found


def _is_library(path: Path) -> bool:
    """Whether a file is there and can be loaded: that of a made-up workspace cannot."""
    if not path.exists():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def difference(ws: Workspace, old: Path, new: Path) -> list[str]:
    """A line for each library that both folders have and that does not register as often in `new` as in `old`."""
    before, after = count(ws, old), count(ws, new)
    both = sorted(before.keys() & after.keys())
    return [f"{name} {before[name]} -> {after[name]}" for name in both if before[name] != after[name]]
