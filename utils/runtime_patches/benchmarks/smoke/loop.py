"""The measuring loop; runs inside the workspace as a program of its own (see harness/inside.py).

Its events are `calibrated`, `plan`, `process` for each measured process, `failed` and `end`. Nothing else runs while
a process is measured.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base.process import captured, ending
from ..harness import inside
from ..harness.inside import Failed
from ..harness.rounds import interleaved

_SAMPLE = re.compile(rb"^    Sample \d+,(\S+)", re.M)


@dataclass
class Planned:
    """A benchmark that is to be measured. columns: where; iterations: of a sample; samples: of a
    process; seconds: of a process, its start included."""

    name: str
    columns: list[str]
    iterations: int = 0
    samples: int = 0
    seconds: float = 0.0


def _folder(plan: Mapping[str, Any], column: str, number: int) -> str:
    """The folder of the copies on which a column runs in a round."""
    # Names of one length: the environment's size moves the stack.
    return os.path.join(plan["scratch"], f"{column:->7}-{number % plan['copies']}")


def copy_libraries(plan: Mapping[str, Any]) -> None:
    """Copies the libraries that the binary loads, several times for each column.

    Two files of the same bytes run up to 3 % apart: it matters how their pages lie in
    memory. So all columns run on fresh copies, made alike, and take turns on several;
    and the difference of old and control shows what is left of that.
    """
    for column, side in plan["sides"].items():
        origin = side["library_path"]
        env = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1", "LD_LIBRARY_PATH": origin}
        traced = captured([plan["binary"]], env=env).stdout
        own = [path for path in re.findall(r"=> (\S.*) \(0x", traced) if os.path.dirname(path) == origin]
        own += [os.path.join(origin, name) for name in side["loads"]]
        for number in range(plan["copies"]):
            folder = _folder(plan, column, number)
            os.makedirs(folder)
            for path in own:
                shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))


def run_process(
    plan: Mapping[str, Any], column: str, number: int, name: str, iterations: int, samples: int
) -> dict[str, Any]:
    """Runs one benchmark in a process of its own, as a column does in round `number`.

    Returns {"samples": microseconds an iteration, in order, "max_rss": bytes,
    "loaded": paths of the runtime's libraries}.
    """
    argv = [plan["binary"], name, f"--num-iters={iterations}", f"--num-samples={samples}", "--verbose"]
    side, folder = plan["sides"][column], _folder(plan, column, number)
    env = {**plan["variables"], **os.environ, "LD_LIBRARY_PATH": folder, **side["variables"]}
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        timer = threading.Timer(plan["timeout"], os.kill, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            loaded = _loaded(process.pid, [*plan["libraries"], *side["loads"]])
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        finally:
            late = not timer.is_alive()
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    found = [float(value) for value in _SAMPLE.findall(text)]
    if process.returncode or not found:
        raise Failed(_reason(process.returncode, late, plan["timeout"], text))
    return {"samples": found, "max_rss": usage.ru_maxrss * 1024, "loaded": loaded}


def _reason(status: int, late: bool, timeout: float, text: bytes) -> str:
    if late:
        return f"still running after {timeout} s"
    lines = text.decode(errors="replace").splitlines()
    said = "\n".join(line for line in lines if not line.startswith(("    ", "---", "Running")))
    return ending(status, said) if status else "no sample"


def _loaded(pid: int, libraries: Collection[str]) -> dict[str, str]:
    """The paths in /proc/PID/maps of `libraries`; waits until the loader mapped them."""
    found: dict[str, str] = {}
    while len(found) < len(libraries):
        try:
            text = Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            break
        for line in text.splitlines():
            path = line.split(maxsplit=5)[5:]
            name = os.path.basename(path[0]) if path else ""
            if name in libraries:
                found[name] = path[0]
        # Empty: the process has ended and waits for us.
        if not text:
            break
        time.sleep(0.001)
    return found


def calibrate(plan: Mapping[str, Any], row: Planned) -> None:
    """Sets the row's iterations a sample and samples a process, from a trial run.

    A sample lasts about plan["sample_us"], so that the driver's resolution of 1 us
    does not matter, and all samples of a process about plan["process_us"].
    """
    iterations = 1
    while True:
        begin = time.monotonic()
        trial = run_process(plan, row.columns[0], 0, row.name, iterations, 4)["samples"]
        seconds = time.monotonic() - begin
        once = min(trial[1:])
        if once * iterations >= 50 or iterations >= 10**7:
            break
        iterations *= 30
    once = max(once, 1e-4)
    row.iterations = max(1, round(plan["sample_us"] / once))
    sample = once * row.iterations
    counted = min(plan["most_samples"], max(5, round(plan["process_us"] / sample)))
    # The first sample of a process pays for page faults and new threads.
    row.samples = counted + 1
    # What a process costs beside its samples: start, and this row's set-up.
    overhead = max(0.0, seconds - sum(trial) * iterations * 1e-6)
    row.seconds = overhead + row.samples * sample * 1e-6


def rounds(plan: Mapping[str, Any], rows: Sequence[Planned]) -> tuple[int, float]:
    """The number of rounds: as asked for, or what fits into the time budget."""
    once = sum(row.seconds * len(row.columns) for row in rows)
    if plan["rounds"]:
        return plan["rounds"], once
    fitting = int(plan["budget"] / max(once, 1e-3))
    return max(plan["fewest_rounds"], min(plan["most_rounds"], fitting)), once


def cpu_times() -> tuple[float, float, float]:
    """(busy, total, stolen) seconds of all processors since the start."""
    with open("/proc/stat") as stat:
        times = [int(word) / os.sysconf("SC_CLK_TCK") for word in stat.readline().split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times), times[7]


def measure(plan: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Calibrates all rows, then measures them in interleaved rounds."""
    rows = []
    copy_libraries(plan)
    for row in (Planned(**fields) for fields in plan["rows"]):
        try:
            calibrate(plan, row)
            rows.append(row)
            yield {"event": "calibrated", **vars(row)}
        except Failed as failure:
            yield {"event": "failed", "name": row.name, "side": row.columns[0], "reason": str(failure)}
    count, seconds = rounds(plan, rows)
    yield {"event": "plan", "rounds": count, "seconds": round(count * seconds, 1)}
    chance = random.Random(plan["seed"])
    before, own, gone = cpu_times(), os.times(), set()
    chance.shuffle(rows)
    for number, row, column in interleaved(count, rows, lambda row: row.columns, chance):
        name = row.name
        if name in gone:
            continue
        try:
            result = run_process(plan, column, number, name, row.iterations, row.samples)
            yield {"event": "process", "name": name, "column": column, "round": number, **result}
        except Failed as failure:
            side = "old" if column == "control" else column
            yield {"event": "failed", "name": name, "side": side, "reason": str(failure)}
            gone.add(name)
    after, end = cpu_times(), os.times()
    total = after[1] - before[1]
    mine = sum(end[:4]) - sum(own[:4])
    yield {
        "event": "end",
        "others": round(max(0.0, after[0] - before[0] - mine) / max(total, 1e-3), 4),
        "stolen": round((after[2] - before[2]) / max(total, 1e-3), 4),
    }


if __name__ == "__main__":
    inside.serve(measure)
