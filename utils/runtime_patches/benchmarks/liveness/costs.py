"""The rows that Google Benchmark printed, beside the reference figures of another monitor."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from typing import Any, Optional

from ...results.comparison import natural

# Reference figures of a monitor that a program calls itself, on an Intel Xeon Platinum 8275CL: numbers of threads and
# time/CPU in ns. The benchmark was made to compare with them.
_FIGURES = {
    "BM_ConcurrentCreateDelete": (
        "1 174/147  4 44/152  8 23/160  16 28/385  32 19/296  64 19/289  128 16/363  1024 6/363"
    ),
    "BM_Checkpoint": "1 50/50  4 13/51  8 7/54  16 4/59  32 3/58  64 2/57  128 2/57  1024 0/59",
    "BM_GCAndMonitor": (
        "1 555/555  8 885/6850  32 935/12492  64 813/13152  128 764/14761  256 587/16629  512 528/18631  1024 934/21214"
    ),
}
# {row: {threads: (time, CPU)}}
REFERENCE = {
    row: {int(threads): (int(time), int(cpu)) for threads, time, cpu in re.findall(r"(\d+) (\d+)/(\d+)", text)}
    for row, text in _FIGURES.items()
}
NOTE = (
    "time: wall-clock time of an operation divided by the number of threads, as in the reference figures (says "
    "nothing with many more threads than processors); CPU: what an operation costs the thread that does it"
)


@dataclass
class Cost:
    """A row of the program. name: without parameters; threads: those that do it; argument: in the name, or None; time,
    cpu: ns an operation, medians of the samples, time divided by the number of threads; worst: the largest of all
    samples, ms, or None."""

    name: str
    threads: int
    argument: Optional[int]
    time: float
    cpu: float
    worst: Optional[float]


def rows(output: dict[str, list[dict[str, float | str | None]]]) -> list[Cost]:
    """The rows in Google Benchmark's JSON."""
    samples = {}
    for one in output["benchmarks"]:
        if one["run_type"] == "iteration":
            samples.setdefault(one["run_name"], []).append(one)
    found = []
    for run, taken in sorted(samples.items(), key=lambda item: natural(item[0])):
        name, *parameters = run.split("/")
        arguments = [int(word) for word in parameters if word.isdigit()]
        unit, threads = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[taken[0]["time_unit"]], taken[0]["threads"]
        time, cpu = (statistics.median(one[which] for one in taken) * unit for which in ("real_time", "cpu_time"))
        worst = max((one["worst_ms"] for one in taken if "worst_ms" in one), default=None)
        found.append(Cost(name, threads, arguments[0] if arguments else None, time / threads, cpu, worst))
    return found


def tables(found: list[Cost]) -> dict[str, tuple[list[str], list[list[Any]]]]:
    """{title: (columns, rows)} of the rows that were measured."""
    threads, looks, reports = [], [], []
    for row in found:
        if row.argument is None:
            there = map(str, REFERENCE.get(row.name, {}).get(row.threads, ("", "")))
            threads.append([row.name, str(row.threads), f"{row.time:.2f}", f"{row.cpu:.2f}", *there])
        elif row.name == "BM_Scan":
            looks.append([str(row.argument), f"{row.cpu:.0f}"])
        elif row.name == "BM_Detection":
            reports.append([str(row.argument), f"{row.time / 1e6:.1f}", f"{row.worst:.1f}"])
    columns = ["row", "threads", "time, ns", "CPU, ns", "reference: time, ns", "CPU, ns"]
    fields = {
        "Threads at once": (columns, threads),
        "A look at all threads": (["threads that are looked at", "one look, ns"], looks),
        "A stuck thread": (["timeout, ms", "reported after, ms", "at the latest, ms"], reports),
    }
    return {title: table for title, table in fields.items() if table[1]}


def summary(found: list[Cost]) -> str | None:
    """One sentence, or None if a row that it needs was not measured."""
    cpu = {(row.name, row.argument or row.threads): row.cpu for row in found}
    try:
        job = cpu["BM_JobWithMonitor", 1] - cpu["BM_Job", 1]
        return (
            f"The liveness monitor costs {job:.1f} ns a job while it is on, {cpu['BM_Checkpoint', 1]:.1f} ns a "
            f"checkpoint, {cpu['BM_ConcurrentCreateDelete', 1]:.1f} ns a scope; it looks at 1,024 threads in "
            f"{cpu['BM_Scan', 1024]:.0f} ns."
        )
    except KeyError:
        return None


def curves(found: list[Cost], name: str) -> dict[str, list[tuple[int, float]]]:
    """{series: [(threads, ns)]} of a row that has reference figures. These are whole ns: a 0 among them has no place on
    a logarithmic scale."""
    there = REFERENCE[name]
    here = [row for row in found if row.name == name]
    return {
        "CPU": [(row.threads, row.cpu) for row in here],
        "time": [(row.threads, row.time) for row in here],
        "CPU, reference": [(threads, cpu) for threads, (_, cpu) in there.items()],
        "time, reference": [(threads, time) for threads, (time, _) in there.items() if time],
    }
