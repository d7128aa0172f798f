"""utils/check-abi: what programs, debuggers and back-deployment rely on, compared.

Exported symbols: none may go, and an added one is named in the `ABI:` field of a patch.
The values of _swift_concurrency_debug_*, which debuggers read out of a process. The layout
of every record of the Concurrency library that debuggers or compiled programs know.
"""

import json
import re

from . import abi, runtimes, series

# Compiled programs (those of include/swift/ABI) and debuggers (RuntimeInternals.h in
# RemoteInspection) know these. A name stands for the records nested in it, too.
RECORDS = (
    "swift::HeapObject", "swift::Job", "swift::AsyncTask", "swift::NullaryContinuationJob",
    "swift::AsyncContext", "swift::ContinuationAsyncContext", "swift::DefaultActor",
    "swift::TaskGroup", "swift::AsyncLet", "swift::TaskExecutorRef",
    "swift::SerialExecutorRef", "swift::TaskOptionRecord", "swift::TaskStatusRecord",
    "swift::ChildTaskStatusRecord", "swift::TaskGroupTaskStatusRecord",
    "swift::CancellationNotificationStatusRecord",
    "swift::EscalationNotificationStatusRecord", "swift::TaskDependencyStatusRecord",
    "(anonymous namespace)::ActiveTaskStatus", "ActiveTaskStatus",
    "swift::ActiveTaskStatus", "(anonymous namespace)::ActiveActorStatus",
    "ActiveActorStatus", "DefaultActorImpl", "DefaultActorImplHeader",
    "DefaultActorImplFooter", "(anonymous namespace)::DefaultActorImpl",
    "(anonymous namespace)::DefaultActorImplHeader",
    "(anonymous namespace)::DefaultActorImplFooter",
)
_SOURCE = "Concurrency/Actor.cpp"
_DEBUG = "_swift_concurrency_debug_"


def layouts(ws, name):
    """{record: its layout as clang prints it} of runtime NAME; stock's are before's."""
    fixed = runtimes.places(runtimes.build_folder(ws, name))
    commands = runtimes.compile_commands(ws, name)
    argv = next(command for file, command in commands.items() if file.endswith(_SOURCE))
    argv = [*argv, "-fsyntax-only", "-w", "-Xclang", "-fdump-record-layouts-complete"]
    done = ws.run(argv, fixed=fixed, cwd=fixed[1][1], capture_output=True, text=True)
    found = {}
    for block in done.stdout.split("*** Dumping AST Record Layout\n")[1:]:
        lines = block.split("\n\n")[0].splitlines()
        record = re.sub(r"^ *0 \| (?:class|struct|union) ", "", lines[0])
        record = re.sub(r" \(empty\)$", "", record)
        outer = record.split("<")[0]
        if any(outer == r or outer.startswith(r + "::") for r in RECORDS):
            if "(unnamed" not in record and "lambda" not in record:
                found[record] = [re.sub(r"/\S+/", "", line) for line in lines]
    return found


def debug_values(ws, name):
    """{symbol: value} of the integers that the library tells debuggers.

    The others among _swift_concurrency_debug_* are pointers, whose value is no interface.
    """
    script = ("import ctypes, sys, json\n"
              "library = ctypes.CDLL(sys.argv[1])\n"
              "print(json.dumps({s: int.from_bytes(ctypes.string_at(ctypes.addressof("
              "ctypes.c_char.in_dll(library, s)), int(n, 16)), 'little')"
              " for s, n in zip(sys.argv[2::2], sys.argv[3::2])}))\n")
    library = runtimes.libdir(name) / "libswift_Concurrency.so"
    done = ws.run(["nm", "-D", "--defined-only", "-S", str(library)], capture_output=True,
                  text=True, binds=[library.parent])
    rows = [line.split() for line in done.stdout.splitlines() if _DEBUG in line]
    # Relocated data is a pointer.
    relocated = ws.run(["readelf", "-rW", str(library)], capture_output=True, text=True,
                       binds=[library.parent]).stdout
    pointers = {int(line.split()[0], 16) for line in relocated.splitlines()
                if re.match(r"^[0-9a-f]{16} ", line)}
    words = [word for address, size, _, symbol in rows if int(address, 16) not in pointers
             for word in (symbol.split("@")[0], size)]
    done = ws.run(["python3", "-c", script, str(library), *words], capture_output=True,
                  text=True, libdir=library.parent, binds=[library.parent])
    return json.loads(done.stdout)


def stated():
    """{symbol: patch} of all names that the `ABI:` fields of the series mention."""
    names = {}
    for patch in series.load_all():
        for word in re.findall(r"[\w$.]+", patch.fields.get("ABI", "")):
            names.setdefault(word.rstrip("."), patch.slug)
    return names


def compare(ws, old, new):
    """A list of (what, text, reason or None); without a reason it is a fault."""
    rows = []
    reasons = stated()
    for library in runtimes.LIBRARIES:
        added, removed = abi.difference(ws, runtimes.libdir(old) / library,
                                        runtimes.libdir(new) / library)
        rows += [("removed symbol", f"{library} {symbol}", None) for symbol in removed]
        rows += [("added symbol", f"{library} {symbol}", reasons.get(symbol))
                 for symbol in added]
    before, after = debug_values(ws, old), debug_values(ws, new)
    for symbol in sorted(before.keys() | after.keys()):
        if before.get(symbol) != after.get(symbol):
            rows.append(("debug value", f"{symbol} {before.get(symbol)} -> "
                         f"{after.get(symbol)}", None))
    before, after = layouts(ws, old), layouts(ws, new)
    for record in sorted(before):
        if before[record] != after.get(record):
            reason = reasons.get(record.rpartition("::")[2])
            rows.append(("layout", record + "\n" + _changed(
                before[record], after.get(record, [])), reason))
    rows.append(("compared", f"{len(runtimes.LIBRARIES)} libraries, {len(before)} layouts", ""))
    return rows


def _changed(before, after):
    import difflib
    return "\n".join(line for line in difflib.unified_diff(before, after, lineterm="", n=0)
                     if not line.startswith(("---", "+++", "@@")))
