"""Takes the samples, inside the workspace (see harness/inside.py). Needs nothing but Python's own library.

A sample is one new process: the figures that it prints, or the time until it ends or, if it is a server, until it has
answered.
"""

import os
import random
import re
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...base.process import ending
from ..harness import inside
from ..harness.inside import Failed
from ..harness.rounds import interleaved

_PATIENCE = 60
# The servers are on this machine: no proxy, whatever the environment names.
_CLIENT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _environment(plan: dict[str, Any], runtime: str) -> dict[str, str]:
    found = {**os.environ, "LD_LIBRARY_PATH": plan["libraries"][runtime], "SWIFT_BACKTRACE": "enable=off"}
    # What a tool keeps of earlier runs is not to be found in the next one.
    found["HOME"] = plan["scratch"]
    return found


def _check_libraries(plan: dict[str, Any], row: dict[str, Any], runtime: str) -> None:
    """Failed if the program would load another libswiftCore.so."""
    env = {**_environment(plan, runtime), "LD_TRACE_LOADED_OBJECTS": "1"}
    said = subprocess.run(row["argv"][:1], env=env, capture_output=True, text=True, check=False)
    match = re.search(r"\blibswiftCore\.so => (\S.*) \(0x", said.stdout)
    found = match[1] if match else "none"
    if os.path.dirname(found) != plan["libraries"][runtime]:
        raise Failed(f"loads {found}, not {runtime}'s library")


@contextmanager
def _in_time() -> Iterator[None]:
    """Failed in the middle of what takes too long. A thread that watches would take time from what is measured."""

    def late(*_: object) -> None:
        raise Failed(f"does not end within {_PATIENCE} s")

    old = signal.signal(signal.SIGALRM, late)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def _until_the_end(plan: dict[str, Any], row: dict[str, Any], runtime: str) -> dict[str, float]:
    """Microseconds of a process from its start to its end, and cpu; of a program that measures itself, what it tells.
    Failed if it fails, or loads other libraries."""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic_ns()
        child = subprocess.Popen(
            row["argv"], env=_environment(plan, runtime), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except Failed:
            child.kill()
            raise
        elapsed = time.monotonic_ns() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode(errors="replace")
    if child.returncode:
        raise Failed(ending(child.returncode, said))
    if row["kind"] == "program":
        figures = said.splitlines()[-1].split("\t")
        if os.path.dirname(figures[2]) != plan["libraries"][runtime]:
            raise Failed(f"has loaded {figures[2]}, not {runtime}'s library")
        return {"us": float(figures[0]) / 1000, "kilobytes": float(figures[1]) / 1024}
    return {"us": elapsed / 1000, "cpu": (usage.ru_utime + usage.ru_stime) * 1e6}


def _until_the_answer(plan: dict[str, Any], row: dict[str, Any], runtime: str) -> dict[str, float]:
    """{us, cpu}: microseconds until a server has answered a first request, and those that its threads have run."""
    env = _environment(plan, runtime)
    start = time.monotonic_ns()
    child = subprocess.Popen(
        row["argv"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdout
    try:
        line = child.stdout.readline()
        if not line.startswith("ready "):
            raise Failed(f"said '{line.strip()}' when it should be ready")
        with _CLIENT.open(f"http://127.0.0.1:{int(line.split()[1])}/") as answer:
            answer.read()
        elapsed = time.monotonic_ns() - start
        # Of its threads.
        ran = [int(path.read_text().split()[0]) for path in Path(f"/proc/{child.pid}/task").glob("*/schedstat")]
        return {"us": elapsed / 1000, "cpu": sum(ran) / 1000}
    finally:
        child.kill()
        child.wait()


def measure(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    rows = {row["name"]: row for row in plan["rows"]}
    order = interleaved(plan["rounds"] + 1, list(rows), lambda row: plan["columns"], random.Random(1))
    for number, name, column in order:
        runtime = plan["columns"][column]
        try:
            take = _until_the_answer if rows[name]["kind"] == "server" else _until_the_end
            with _in_time():
                if number == 0:
                    _check_libraries(plan, rows[name], runtime)
                figures = take(plan, rows[name], runtime)
        except (Failed, OSError) as failure:
            raise Failed(f"{name} on {runtime}: {failure}") from None
        # The first process of each kind warms the cache of files.
        if number:
            yield {"row": name, "column": column, **figures}


if __name__ == "__main__":
    inside.serve(measure)
