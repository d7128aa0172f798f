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


def _rounds(options: Namespace, name: str, take: Callable[[Side, bool], Sample]) -> Columns:
    """{column: [sample]} of a row; take(side, whether it is the last of its column): a sample."""
    samples: Columns = {column: [] for column in COLUMNS}
    with Step(f"{name}: {options.rounds} rounds") as step:
        for number, _, column in interleaved(options.rounds, [name], lambda _: COLUMNS, random.Random()):
            side = options.sides[column == "new"]
            step.text = f"{name}: round {number + 1} of {options.rounds}, {side}"
            samples[column].append(take(side, number == options.rounds - 1))
    return samples


def http(options: Namespace, row: ServerRow, place: Place, program: Path) -> Columns:
    """{column: [sample]} of a row with a server."""
    generator = programs.load(place.ws)

    def take(side: Side, last: bool) -> Sample:
        with Server(place, program, row, side, options.port) as server:
            server.probe()
            sample = _sample(options, server, generator)
            if last:
                sample["futexes"] = server.futexes(generator, min(1, options.seconds))
            return sample

    return _rounds(options, row.name, take)


def _sample(options: Namespace, server: Server, generator: Path) -> Sample:
    """A server under load: requests a second, CPU us and context switches of one, latencies in us, memory in MB."""
    # The first requests fill the heap and the caches: they are no part of it.
    server.put_load(generator, "closed", options.seconds / 5, 0)
    done, cpu, switches = server.use(generator, options.seconds)
    sample: Sample = {"rate": done["counted"] / done["seconds"], "cpu": cpu, "switches": switches, "latencies": {}}
    for rate in options.rates:
        done, times = server.put_load(generator, rate, options.seconds, options.seconds / 5)
        sample["latencies"][str(rate)] = [*quantiles(times), done["unanswered"]]
    sample["rss"] = server.stats()["rss_kb"] / 1024
    return sample


def quantiles(times: bytes) -> list[float]:
    """The QUANTILES of 64-bit times in ns, in us: no estimate, for every request is there."""
    values = array.array("Q")
    values.frombytes(times)
    if not values:
        raise UserError("no request was answered at a fixed rate", "give a lower rate: --rates")
    return [quantile(values, part) / 1000 for part in QUANTILES]


def inside(options: Namespace, row: ServerRow, place: Place, program: Path) -> Columns:
    """{column: [sample]} of a loop in the program."""

    def take(side: Side, _: object) -> Sample:
        found = json.loads(place.run(side, [program, "row", *row.words, row.count], row.name))
        before, after = found["before"], found["after"]
        return {
            "rate": row.count / (found["ns"] / 1e9),
            "cpu": (after["cpu_us"] - before["cpu_us"]) / row.count,
            "switches": (after["voluntary"] - before["voluntary"]) / row.count,
            "rss": after["rss_kb"] / 1024,
            "latencies": {},
        }

    return _rounds(options, row.name, take)


def nio(options: Namespace, row: ServerRow, place: Place, program: Path) -> Columns:
    """{column: [sample]} of a row of nio's own benchmark: the rate is that of its whole unit of work."""

    def take(side: Side, _: object) -> Sample:
        said = place.run(side, [program, *row.words], row.name, timeout=240)
        found = re.search(rf"measuring: {re.escape(row.words[0])}: (.+)", said)
        times = [float(part) for part in found[1].split(",") if part.strip()] if found else []
        if not times:
            raise UserError(f"{row.name} printed no times: {said.strip()[-80:]}", "is it another version of nio?")
        return {"rate": 1 / statistics.median(times), "latencies": {}}

    return _rounds(options, row.name, take)
