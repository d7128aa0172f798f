"""Takes the samples, inside the workspace (see harness/inside.py). Needs nothing but Python's own library.

A sample is one run of the program with some workers. Workers that are processes are
several runs that begin at the same time.
"""

import os
import random
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ...base.process import ending
from ..harness import inside
from ..harness.inside import Failed
from ..harness.rounds import interleaved

_Plan = Mapping[str, Any]  # as JSON has it

# Seconds that a run needs before its workers can begin; doubled while one comes too late.
_LEAD, _LONGEST_LEAD = 0.06, 8


def _command(plan: _Plan, sample: _Plan, workers: int, processors: Sequence[int], start: int) -> list[str]:
    kind = "tasks" if sample["kind"] == "tasks" else "threads"
    places = ",".join(map(str, processors))
    options = [f"--as={kind}", f"--workers={workers}", f"--processors={places}", f"--start={start}"]
    return [plan["program"], sample["row"], *options, f"--milliseconds={plan['milliseconds']}"]


def _run(plan: _Plan, sample: _Plan, lead: float) -> list[tuple[int, ...]]:
    """[(operations, elapsed ns, waited ns, late)] for each worker."""
    start = time.monotonic_ns() + int(lead * 1e9)
    workers, processors = sample["workers"], plan["processors"]
    if sample["kind"] == "processes":
        commands = [_command(plan, sample, 1, [processors[worker]], start) for worker in range(workers)]
    else:
        commands = [_command(plan, sample, workers, processors[:workers], start)]
    libraries = plan["libraries"][sample["runtime"]]
    env = {**os.environ, "LD_LIBRARY_PATH": libraries, "SWIFT_BACKTRACE": "enable=off", **plan["environment"]}
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    runs = [subprocess.Popen(command, env=env, text=True, **quiet) for command in commands]
    limit = time.monotonic() + lead + plan["milliseconds"] / 1000 + plan["patience"]
    try:
        outputs = [run.communicate(timeout=max(0.1, limit - time.monotonic())) for run in runs]
    except subprocess.TimeoutExpired:
        raise Failed(f"has not ended after {plan['patience']} s") from None
    finally:
        for run in runs:
            if run.poll() is None:
                run.kill()
                run.wait()
    found = []
    for number, (run, (text, errors)) in enumerate(zip(runs, outputs), 1):
        who = f"worker {number} of {workers}" if len(runs) > 1 else "the process of the workers"
        if run.returncode:
            raise Failed(f"{who} {ending(run.returncode, errors)}")
        library, *lines = [line.split("\t") for line in text.splitlines()]
        if os.path.dirname(library[1]) != libraries:
            raise Failed(f"{who} has loaded {library[1]}, not {sample['runtime']}'s library")
        found += [tuple(map(int, line)) for line in lines]
    return found


def take(plan: _Plan, sample: _Plan) -> dict[str, float]:
    """One sample, taken again while other programs disturb it; the least disturbed
    attempt counts. Returns {rate: operations a second, share: of the time for which a
    worker waited for a core}."""
    best: dict[str, float] = {}
    lead, attempts = _LEAD, 0
    while attempts < plan["attempts"]:
        workers = _run(plan, sample, lead)
        if any(late for *_, late in workers):
            lead *= 2
            if lead > _LONGEST_LEAD:
                raise Failed("the workers do not begin at the same time: the machine is too busy")
            continue
        attempts += 1
        share = max(waited / elapsed for _, elapsed, waited, _ in workers)
        # In the time for which a worker had a core.
        rate = sum(operations * 1e9 / (elapsed - waited) for operations, elapsed, waited, _ in workers)
        if not best or share < best["share"]:
            best = {"rate": rate, "share": share}
        if share <= plan["quiet"]:
            break
    return best


def measure(plan: _Plan) -> Iterator[_Plan]:
    samples = list(product(plan["kinds"], plan["workers"], plan["libraries"]))
    order = interleaved(plan["rounds"], plan["rows"], lambda row: samples, random.Random(1))
    for number, row, (kind, workers, runtime) in order:
        sample = {"row": row, "kind": kind, "workers": workers, "runtime": runtime}
        try:
            yield {**sample, "round": number, **take(plan, sample)}
        except Failed as failure:
            raise Failed(f"{row} with {workers} {kind} on {runtime}: {failure}") from None


if __name__ == "__main__":
    inside.serve(measure)
