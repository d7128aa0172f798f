"""What programs, debuggers and back-deployment rely on, compared: utils/check-abi.

Exported symbols: none may go, and an added one is named in the `ABI:` field of a patch.
The values of _swift_concurrency_debug_*, which debuggers read out of a process. How often each
library registers its metadata. The layout of every record of the Concurrency library that debuggers or
compiled programs know.
"""

import difflib
import json
import re
from collections.abc import Mapping
from typing import Optional

from ..series import dispatch as dispatch_series
from ..series import series
from ..workspace.find import Workspace
from . import build, dispatch, elf, registrations, tree
from .libraries import CONCURRENCY, NAMES
from .runtime import Runtime

# Compiled programs (those of include/swift/ABI) and debuggers (RuntimeInternals.h in RemoteInspection) know these,
# in `swift` or in no name space. A name stands for the records nested in it, too.
RECORDS = set(
    """
    HeapObject Job AsyncTask NullaryContinuationJob AsyncContext ContinuationAsyncContext DefaultActor TaskGroup
    AsyncLet TaskExecutorRef SerialExecutorRef TaskOptionRecord TaskStatusRecord ChildTaskStatusRecord
    TaskGroupTaskStatusRecord CancellationNotificationStatusRecord EscalationNotificationStatusRecord
    TaskDependencyStatusRecord ActiveTaskStatus ActiveActorStatus
    DefaultActorImpl DefaultActorImplHeader DefaultActorImplFooter
    """.split()
)
_NAME_SPACE = r"^(swift|\(anonymous namespace\))::"
_SOURCE = "Concurrency/Actor.cpp"
_DEBUG = "_swift_concurrency_debug_"
# What differs, the text, and the reason or None.
Difference = tuple[str, str, Optional[str]]


def layouts(ws: Workspace, runtime: Runtime) -> dict[str, list[str]]:
    """{record: its layout as clang prints it} of a runtime; stock's are before's."""
    fixed = tree.places(build.home(ws, runtime))
    commands = build.compile_commands(ws, runtime)
    argv = next(command for file, command in commands.items() if file.endswith(_SOURCE))
    argv = [*argv, "-fsyntax-only", "-w", "-Xclang", "-fdump-record-layouts-complete"]
    text = ws.output(argv, fixed=fixed, cwd=fixed[1][1])
    # Where a union without a name is written changes with each line before it.
    text = re.sub(r"(\((?:anonymous|unnamed)(?: \w+)?) at [^)]+\)", r"\1)", text)
    found = {}
    for block in text.split("*** Dumping AST Record Layout\n")[1:]:
        lines = block.split("\n\n")[0].splitlines()
        record = re.sub(r"^ *0 \| (?:class|struct|union) ", "", lines[0])
        record = re.sub(r" \(empty\)$", "", record)
        outer = re.sub(_NAME_SPACE, "", record.split("<")[0]).split("::")[0]
        if outer in RECORDS and "(unnamed" not in record and "lambda" not in record:
            found[record] = lines
    return found


def debug_values(ws: Workspace, runtime: Runtime) -> dict[str, int]:
    """{symbol: value} of the integers that the library tells debuggers. The others among
    _swift_concurrency_debug_* are pointers, whose value is no interface."""
    script = (
        "import ctypes, sys, json\n"
        "library = ctypes.CDLL(sys.argv[1])\n"
        "print(json.dumps({s: int.from_bytes(ctypes.string_at(ctypes.addressof("
        "ctypes.c_char.in_dll(library, s)), int(n, 16)), 'little')"
        " for s, n in zip(sys.argv[2::2], sys.argv[3::2])}))\n"
    )
    library = str(runtime.library(CONCURRENCY))
    binds = [runtime.libraries]
    listed = ws.output(["nm", "-D", "--defined-only", "-S", library], binds=binds)
    rows = [line.split() for line in listed.splitlines() if _DEBUG in line]
    # Relocated data is a pointer.
    relocated = ws.output(["readelf", "-rW", library], binds=binds)
    pointers = {int(line.split()[0], 16) for line in relocated.splitlines() if re.match(r"^[0-9a-f]{16} ", line)}
    argv = ["python3", "-c", script, library]
    for address, size, _, symbol in rows:
        argv += [symbol.split("@")[0], size] if int(address, 16) not in pointers else []
    found: dict[str, int] = json.loads(ws.output(argv, env=runtime.environment(ws), binds=binds))
    return found


def stated() -> dict[str, str]:
    """{symbol: patch} of all names that the `ABI:` fields of the series mention."""
    names: dict[str, str] = {}
    for patch in (*series.load(), *dispatch_series.load()):
        for word in re.findall(r"[\w$.]+", patch.fields.get("ABI", "")):
            names.setdefault(word.rstrip("."), patch.slug)
    return names


def compare(ws: Workspace, old: Runtime, new: Runtime) -> list[Difference]:
    """A list of (what, text, reason or None) of two Runtimes; without a reason it is a fault."""
    reasons = stated()
    rows: list[Difference] = _symbols(ws, old, new, reasons)
    rows += values(debug_values(ws, old), debug_values(ws, new))
    rows += [("registrations", text, None) for text in registrations.difference(ws, old.libraries, new.libraries)]
    before = layouts(ws, old)
    rows += records(before, layouts(ws, new), reasons)
    rows.append(("compared", f"{len(NAMES) + 1} libraries, {len(before)} layouts", ""))
    return rows


def _symbols(ws: Workspace, old: Runtime, new: Runtime, reasons: Mapping[str, str]) -> list[Difference]:
    rows: list[Difference] = []
    for library in (*NAMES, dispatch.NAME):
        if not old.library(library).exists():
            continue
        added, removed = elf.changed_exports(ws, old.library(library), new.library(library))
        rows += [("removed symbol", f"{library} {symbol}", None) for symbol in removed]
        rows += [("added symbol", f"{library} {symbol}", reasons.get(symbol)) for symbol in added]
    return rows


def values(before: Mapping[str, int], after: Mapping[str, int]) -> list[Difference]:
    """The rows of integers {symbol: value} that differ."""
    return [
        ("debug value", f"{symbol} {before.get(symbol)} -> {after.get(symbol)}", None)
        for symbol in sorted(before.keys() | after.keys())
        if before.get(symbol) != after.get(symbol)
    ]


def records(
    before: Mapping[str, list[str]], after: Mapping[str, list[str]], reasons: Mapping[str, str]
) -> list[Difference]:
    """The rows of layouts {record: lines} that differ; reasons: {name: patch that states it}."""
    rows = []
    for record in (name for name in sorted(before) if before[name] != after.get(name)):
        lines = difflib.unified_diff(before[record], after.get(record, []), lineterm="", n=0)
        changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        rows.append(("layout", "\n".join([record, *changed]), reasons.get(record.rpartition("::")[2])))
    return rows
