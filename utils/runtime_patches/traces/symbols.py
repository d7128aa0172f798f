"""The names of functions and types at addresses of the process that was traced."""

import json
import os
import re
import subprocess
from collections.abc import Iterable

from ..base import errors
from .events import Module

_PREFIX = re.compile(r"^((full )?type metadata for |partial apply( forwarder)? for |specialized )+")
_SUFFIX = re.compile(r"^\(\d+\) (suspend|await) resume partial function for ")
# Only the compiler's call of @main is such a thunk.
_MAIN = re.compile(r".*thunk for @escaping @convention\(thin\) @async \(\) -> \(\)")


def resolve(addresses: Iterable[int], modules: list[Module], what: str = "CODE") -> dict[int, str]:
    """{address: its function, or FILE+OFFSET where the file has no name for it or is another one now}. what: DATA for
    the metadata of types."""
    found, asked = {}, []
    for address in sorted(set(addresses)):
        module = next((one for one in modules if one.begin <= address < one.end), None)
        if not module:
            found[address] = f"{address:#x}"
            continue
        # It need not be UTF-8, nor one line.
        name = errors.plain(os.fsencode(os.path.basename(module.path)).decode(errors="replace"))
        found[address] = f"{name}+{address - module.base:#x}"
        if is_same(module):
            asked.append((address, module.path, address - module.base))
    if asked:
        lines = "".join(f'{what} "{path}" {offset:#x}\n' for _, path, offset in asked)
        argv = ["llvm-symbolizer", "--output-style=JSON", "--functions=linkage", "--no-demangle", "--no-inlines"]
        told = subprocess.run(argv, input=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for (address, _, _), line in zip(asked, told.splitlines()):
            try:
                symbol = json.loads(line)
            except ValueError:  # it has ended in the middle of a line
                break
            name = symbol.get("Data", {}).get("Name") or (symbol.get("Symbol") or [{}])[0].get("FunctionName")
            found[address] = name or found[address]
    argv = ["swift-demangle", "-simplified"]
    told = subprocess.run(argv, input="\n".join(found.values()), stdout=subprocess.PIPE, text=True).stdout
    names = [_MAIN.sub("main", line) for line in told.splitlines()]
    if what == "DATA":  # a generic type is made while the program runs, in memory that has no name or another one
        names = [name if "metadata for" in name or "+0x" in name else "actor" for name in names]
    return {address: _SUFFIX.sub("", _PREFIX.sub("", name)) for address, name in zip(found, names)}


def is_same(module: Module) -> bool:
    """Whether the file is there, with the build ID that it had; without one, if it has not changed since."""
    if not os.path.isfile(module.path) or not module.path.isprintable() or '"' in module.path:
        return False
    try:
        if not module.build_id:
            return os.stat(module.path).st_ctime_ns <= module.since
        with open(module.path, "rb") as file:
            return bytes.fromhex(module.build_id) in file.read(1 << 16)
    except OSError:
        return False
