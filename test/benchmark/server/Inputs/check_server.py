#!/usr/bin/env python3
"""check_server.py PROGRAM FOLDER RUNTIME [OPTION…]: drives a server that goes wrong, and one that stalls."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime_patches.base.errors import UserError
from runtime_patches.benchmarks.server import programs, requests
from runtime_patches.benchmarks.server.rows import ServerRow
from runtime_patches.runtimes.runtime import parse
from workspace_of import workspace

program, folder, name, *given = sys.argv[1:]
side = programs.Side(parse(name), name)
ws = workspace(given)
place = programs.Place(ws, Path(folder))
load = programs.load(ws)
programs.CONNECTIONS = 4


def report(what: str, act: Callable[[], object]) -> None:
    try:
        print(f"{what}: {act()}")
    except UserError as error:
        print(f"{what}: error: {error.message}")


def server(mode: str, port: int = 0) -> Any:
    return programs.Server(place, Path(program), ServerRow(mode, "", "http", (mode,)), side, port, patience=10)


def drive(mode: str, how: str = "closed") -> Any:
    with server(mode) as one:
        one.probe()
        return one.put_load(load, how, 1, 0)


report("good", lambda: drive("good")[0]["requests"] > 100)
for mode in ("dies", "wrong", "refuses", "silent"):
    report(mode, lambda: drive(mode))

with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()

    def busy() -> None:
        with server("good", taken.getsockname()[1]):
            pass

    report("port", busy)

# 400 of 1000 requests are due while the server stalls, and wait for it.
result, times = drive("stalls", "1000")
half, most, _ = requests.quantiles(times)
print(f"stalls: {result['counted'] + result['unanswered'] >= 990} p50 {half < 200_000} p99 {350_000 < most < 900_000}")
_, times = drive("stalls")
print(f"closed: p99 {requests.quantiles(times)[1] < 100_000}")
report("libraries", lambda: programs.Place(ws, Path(folder)).run(side, ["true"], "true"))
