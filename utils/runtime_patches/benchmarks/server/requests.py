"""Measures rows in rounds: before, before again and after in turn, each in a new process."""

import array
import json
import random
import re
import statistics
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...base.errors import UserError
from ...base.progress import Step
from ...results.verdicts import COLUMNS, quantile
from ..harness.rounds import interleaved
from . import programs
from .programs import Place, Server, Side
from .rows import ServerRow

# The measures of a process by name, and the samples of a row by column.
Sample = dict[str, Any]
Columns = dict[str, list[Sample]]

QUANTILES = (0.5, 0.99, 0.999)


def measure(options: Namespace, row: ServerRow, place: Place, program: Path) -> Columns:
    """{column: [sample]} of a row."""
    samples: Columns = {column: [] for column in COLUMNS}
    with Step(f"{row.name}: {options.rounds} rounds") as step:
        for number, _, column in interleaved(options.rounds, [row.name], lambda _: COLUMNS, random.Random()):
            side, last = options.sides[column == "new"], number == options.rounds - 1
            step.text = f"{row.name}: round {number + 1} of {options.rounds}, {side}"
            samples[column].append(_SAMPLERS[row.kind](place, program, row, side, options, last))
    return samples


def _served(place: Place, program: Path, row: ServerRow, side: Side, options: Namespace, last: bool) -> Sample:
    """A server under load: requests a second, CPU us and context switches of one, latencies in us,
    memory in MB; in the last sample of a column also the futex calls of a request."""
    generator = programs.load(place.ws)
    with Server(place, program, row, side, options.port) as server:
        server.probe()
        # The first requests fill the heap and the caches: they are no part of it.
        server.put_load(generator, "closed", options.seconds / 5, 0)
        done, cpu, switches = server.use(generator, options.seconds)
        sample: Sample = {"rate": done["counted"] / done["seconds"], "cpu": cpu, "switches": switches, "latencies": {}}
        for rate in options.rates:
            done, times = server.put_load(generator, rate, options.seconds, options.seconds / 5)
            sample["latencies"][str(rate)] = [*quantiles(times), done["unanswered"]]
        sample["rss"] = server.stats()["rss_kb"] / 1024
        if last:
            sample["futexes"] = server.futexes(generator, min(1, options.seconds))
    return sample


def quantiles(times: bytes) -> list[float]:
    """The QUANTILES of 64-bit times in ns, in us: no estimate, for every request is there."""
    values = array.array("Q")
    values.frombytes(times)
    if not values:
        raise UserError("no request was answered at a fixed rate", "give a lower rate: --rates")
    return [quantile(values, part) / 1000 for part in QUANTILES]


def _looped(place: Place, program: Path, row: ServerRow, side: Side, *_: object) -> Sample:
    """A loop in the program."""
    found = json.loads(place.run(side, [program, "row", *row.words, row.count], row.name))
    before, after = found["before"], found["after"]
    return {
        "rate": row.count / (found["ns"] / 1e9),
        "cpu": (after["cpu_us"] - before["cpu_us"]) / row.count,
        "switches": (after["voluntary"] - before["voluntary"]) / row.count,
        "rss": after["rss_kb"] / 1024,
        "latencies": {},
    }


def _nio(place: Place, program: Path, row: ServerRow, side: Side, *_: object) -> Sample:
    """A row of nio's own benchmark: the rate is that of its whole unit of work."""
    said = place.run(side, [program, *row.words], row.name, timeout=240)
    found = re.search(rf"measuring: {re.escape(row.words[0])}: (.+)", said)
    times = [float(part) for part in found[1].split(",") if part.strip()] if found else []
    if not times:
        raise UserError(f"{row.name} printed no times: {said.strip()[-80:]}", "is it another version of nio?")
    return {"rate": 1 / statistics.median(times), "latencies": {}}


# {kind of a row: what takes a sample of it}; the last argument: whether it is its column's last.
_SAMPLERS: dict[str, Callable[[Place, Path, ServerRow, Side, Namespace, bool], Sample]] = {
    "http": _served,
    "echo": _served,
    "inside": _looped,
    "nio": _nio,
}
