"""utils/stress: random programs on several runtimes, for as long as one likes.

A program is made from a seed; what it prints does not depend on the runtime. A seed that
fails or differs is run again with less to do, and the smallest command that still fails
is printed.
"""

import subprocess
import time

from . import files, locks, pins, runtimes, variants
from .errors import UserError
from .progress import note

SOURCE = pins.REPO / "test" / "Runtime" / "concurrency-random.swift"
_MODES = pins.REPO / "test" / "Concurrency" / "Runtime" / "Inputs"
_SOURCES = [SOURCE, *(_MODES / name for name in
                     ("DeinitModes.swift", "deinit-modes.c", "deinit-modes.h"))]
_TIMEOUT = 300


def build(ws, name):
    """The program of runtime NAME, compiled by the compiler that suits its variant."""
    home = pins.BUILD / "stress" / name.replace(":", "-")
    home.mkdir(parents=True, exist_ok=True)
    program = home / "concurrency-random"
    record = home / files.MADE
    if files.is_whole(record) and program.stat().st_mtime > max(
            path.stat().st_mtime for path in _SOURCES):
        return program
    modes = home / "deinit-modes.o"
    ws.run(["clang", "-O1", "-fPIC", "-c", str(_MODES / "deinit-modes.c"), "-o", str(modes)])
    ws.run(["swiftc", "-O", "-parse-as-library", "-Xfrontend", "-disable-availability-checking",
            "-import-objc-header", str(_MODES / "deinit-modes.h"), str(SOURCE),
            str(_MODES / "DeinitModes.swift"), str(modes), "-o", str(program)],
           env={"PATH": variants.path(ws, runtimes.folder(name))})
    files.write_whole(record, {}, [program])
    return program


def run(ws, name, first, last, operations, workers):
    """(status, output) of the programs of seeds first to last; None as status: too slow."""
    argv = [str(pins.BUILD / "stress" / name.replace(":", "-") / "concurrency-random"),
            "--seeds", f"{first}:{last}", "--operations", str(operations),
            "--workers", str(workers)]
    env = {"SWIFT_BACKTRACE": "enable=off",
           **variants.options(runtimes.folder(name))}
    try:
        done = ws.run(argv, libdir=runtimes.libdir(name), env=env, check=False, text=True,
                      capture_output=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        return None, f"no end after {_TIMEOUT} s"
    return done.returncode, done.stdout + done.stderr


def fault(ws, names, first, last, operations, workers):
    """What is wrong with these seeds on these runtimes: (name, text), or None."""
    outputs = {}
    for name in names:
        status, outputs[name] = run(ws, name, first, last, operations, workers)
        if status != 0:
            return name, f"status {status}\n{outputs[name][-2000:]}"
        if outputs[name] != outputs[names[0]]:
            return name, f"not what {names[0]} prints:\n{outputs[names[0]]}{outputs[name]}"
    return None


def shrink(ws, names, seed, operations, workers):
    """The smallest (operations, workers) found with which `seed` fails; None if it does
    not fail again. A fault that depends on timing has several tries."""
    def fails(operations, workers):
        return any(fault(ws, names, seed, seed, operations, workers) for _ in range(5))

    if not fails(operations, workers):
        return None
    while workers > 1 and fails(operations, workers - 1):
        workers -= 1
    step = operations // 2
    while step >= 1 and operations > workers:
        if operations - step >= workers and fails(operations - step, workers):
            operations -= step
        else:
            step //= 2
    return operations, workers


def main(ws, names, first, count, operations, workers, seconds, checkout):
    """Runs seeds until `count` are done or `seconds` are over; returns the exit status."""
    for name in names:
        runtimes.ensure(ws, name, checkout)
        with locks.exclusive(pins.BUILD):
            build(ws, name)
    end = time.monotonic() + seconds if seconds else None
    seed, done = first, 0
    while done < count and (not end or time.monotonic() < end):
        block = min(20, count - done)
        if fault(ws, names, seed, seed + block - 1, operations, workers):
            for one in range(seed, seed + block):
                found = fault(ws, names, one, one, operations, workers)
                if found:
                    return _failed(ws, found, one, operations, workers, names)
            note(f"    seeds {seed} to {seed + block - 1} failed once, and not one by one")
            raise UserError(f"seeds {seed}:{seed + block - 1} fail now and then",
                            f"utils/stress --seeds {seed}:{seed + block - 1} {' '.join(names)}")
        seed, done = seed + block, done + block
        note(f"    {done} seeds, {done * operations:,} operations")
    print(f"seeds {first} to {seed - 1}, {done * operations} operations: "
          f"{' and '.join(names)} agree")
    return 0


def _failed(ws, found, seed, operations, workers, names):
    name, text = found
    print(f"seed {seed} on {name}: {text}")
    smaller = shrink(ws, names, seed, operations, workers)
    if smaller:
        operations, workers = smaller
    raise UserError(
        f"seed {seed} fails on {name}" + ("" if smaller else ", but not each time"),
        f"replay: utils/stress --seeds {seed}:{seed} --operations {operations} "
        f"--workers {workers} {' '.join(names)}")
