"""results.json: what a comparison measured, where, and what it concluded."""

import json
import os
import platform
import re

from . import bench_stats, pins
from .errors import UserError
from .shapes import Check, is_number, one_of, positive

FORMAT = 1
FOLDER = pins.BUILD / "report" / "smoke"
_AGAIN = "utils/run-smoke-bench makes it anew"
_SHAPE = {
    "sides": {"old": {"name": str}, "new": {"name": str}},
    "method": {"rounds": positive, "level": is_number, "factor": is_number},
    "environment": {"others": is_number, "machine": str},
    "rows": [{"name": str, "columns": dict}],
    "verdicts": [{"name": str, "old": positive, "new": positive, "delta": is_number,
                  "speedup": positive, "adjusted": is_number, "p": is_number, "floor": positive,
                  "noise": is_number, "verdict": one_of("slower", "faster", "same")}],
    "one_sided": [{"name": str, "side": one_of("old", "new"), "values": [positive],
                   "max_rss": is_number}],
    "failed": [{"name": str, "side": one_of("old", "new"), "reason": str}]}
_PROCESSES = [{"samples": [is_number], "max_rss": is_number}]


def conclude(rows, failed):
    """(verdicts, one-sided rows) of measured rows.

    rows: [{"name", "iterations", "columns": {column: [process, …]}}], where a process
    is {"samples": [us an iteration], "max_rss": bytes, …}.
    """
    gone = {row["name"] for row in failed}
    compared, single = [], []
    for row in rows:
        if row["name"] in gone:
            continue
        values = {column: [bench_stats.process_value(p["samples"]) for p in processes]
                  for column, processes in row["columns"].items()}
        if {"old", "new"} <= set(values):
            compared.append({"name": row["name"], "values": values})
        else:
            side = "new" if "new" in values else "old"
            single.append({"name": row["name"], "side": side, "values": values[side],
                           "max_rss": min(p["max_rss"] for p in row["columns"][side])})
    return bench_stats.judge(sorted(compared, key=natural)), single


def natural(row):
    """A key that sorts `Task.8` before `Task.64`."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part.lower())
            for part in re.split(r"(\d+)", row["name"])]


def status(results):
    """The exit status: 0 nothing slower, 2 something slower, 1 something did not run."""
    if results["failed"]:
        return 1
    return 2 if any(row["verdict"] == "slower" for row in results["verdicts"]) else 0


def environment():
    """What the figures depend on and can be read without measuring."""
    try:
        with open("/proc/cpuinfo") as info:
            models = [line.split(":", 1)[1].strip() for line in info
                      if line.startswith(("model name", "Hardware"))]
        with open("/proc/meminfo") as info:
            memory = int(info.readline().split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        models, memory = [], None
    return {
        "cpu": models[0] if models else platform.processor() or "unknown",
        "machine": platform.machine(), "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)), "memory": memory,
        "kernel": platform.release(), "load_before": os.getloadavg(),
        "variables": {name: value for name, value in sorted(os.environ.items())
                      if name.startswith(("SWIFT_", "LD_", "GLIBC_", "MALLOC_",
                                          "LIBDISPATCH_"))},
    }


def write(folder, results, files):
    """Writes folder/results.json and `files` {name: text}; each appears whole or not.

    results.json comes last: whoever sees it sees the tables that belong to it.
    """
    files = {**files, "results.json": json.dumps(results) + "\n"}
    for name, text in files.items():
        (folder / (name + ".partial")).write_text(text)
    for name in files:
        os.replace(folder / (name + ".partial"), folder / name)


def load(path):
    """The results in the file `path`; UserError when it does not hold any."""
    try:
        results = json.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"there is no {path}", "utils/run-smoke-bench makes it") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder", f"give {path}/results.json") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", _AGAIN) from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: {error}", _AGAIN) from None
    check(path, results)
    return results


def check(path, results, hint=_AGAIN):
    """UserError unless `results`, which `path` held, are those of a comparison."""
    if not isinstance(results, dict) or "verdicts" not in results:
        raise UserError(f"{path} is not a result of run-smoke-bench", hint)
    if results.get("format") != FORMAT:
        raise UserError(f"{path} has format {results.get('format')}, this version reads {FORMAT}",
                        hint)
    checked = Check(path, hint)
    checked.shape(results, _SHAPE)
    columns_of = {row["name"]: row["columns"] for row in results["rows"]}
    for name, columns in columns_of.items():
        for column, processes in columns.items():
            checked.shape(processes, _PROCESSES, f"{column} of {name}")
    for verdict in results["verdicts"]:
        for column in ("old", "control", "new"):
            processes = columns_of.get(verdict["name"], {}).get(column)
            if not processes or not all(p["samples"] for p in processes):
                checked.fail(f"{column} of {verdict['name']}")
    for row in results["one_sided"]:
        if not row["values"]:
            checked.fail(f"the values of {row['name']}")


def upstream_lines(results, columns):
    """The samples of some columns as the driver's --json output, which upstream's
    compare_perf_tests.py reads: one sample a process."""
    lines = []
    for number, row in enumerate(results["rows"], 1):
        samples = [bench_stats.process_value(p["samples"]) for column in columns
                   for p in row["columns"].get(column, [])]
        if samples:
            lines.append(json.dumps({"number": number, "name": row["name"],
                                     "samples": sorted(samples),
                                     "iters": row["iterations"]}))
    return "\n".join(lines) + "\n"
