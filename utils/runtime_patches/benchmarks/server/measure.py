"""Measures rows in rounds: before, before again and after in turn, each in a new process."""

import array
import json
import math
import random
import re
import statistics

from ...base.errors import UserError
from ...base.progress import Step
from ...runtimes.runtime import stock
from .programs import Server

COLUMNS = ("old", "control", "new")
QUANTILES = (0.5, 0.99, 0.999)


class Plan:
    """What a run measures, and how long: seconds of a closed loop, and of each rate of an open one."""

    def __init__(self, runtimes, rounds, seconds, rates, connections, port, seed):
        self.runtimes = dict(zip(COLUMNS, (runtimes[0], runtimes[0], runtimes[-1])))
        self.rounds, self.seconds, self.rates = rounds, seconds, rates
        self.connections, self.port = connections, port
        self.random = random.Random(seed)

    def columns(self):
        """The columns in the order of one round."""
        return self.random.sample(COLUMNS, len(COLUMNS))


def http(plan, row, place, program, generator):
    """{column: [sample]} of a row with a server."""
    samples = {column: [] for column in COLUMNS}
    futexes = {}
    with Step(f"{row.name}: {plan.rounds} rounds") as step:
        for number in range(plan.rounds):
            for column in plan.columns():
                runtime = plan.runtimes[column]
                step.text = f"{row.name}: round {number + 1} of {plan.rounds}, {runtime}"
                with Server(place, program, row, runtime, plan.port) as server:
                    server.probe()
                    samples[column].append(_sample(plan, server, generator))
                    if number == plan.rounds - 1 and column != "control":
                        futexes[column] = server.futexes(generator, plan.connections, min(1, plan.seconds))
    for column, count in futexes.items():
        samples[column][-1]["futexes"] = count
    return samples


def _sample(plan, server, generator):
    # The first requests fill the heap and the caches: they are no part of it.
    server.put_load(generator, "closed", plan.connections, plan.seconds / 5, 0)
    before = server.stats()
    done, _ = server.put_load(generator, "closed", plan.connections, plan.seconds, 0)
    after = server.stats()
    sample = {
        "rate": done["counted"] / done["seconds"],
        "cpu": (after["cpu_us"] - before["cpu_us"]) / done["requests"],
        "switches": (after["voluntary"] - before["voluntary"]) / done["requests"],
        "latencies": {},
    }
    for rate in plan.rates:
        done, times = server.put_load(generator, rate, plan.connections, plan.seconds, plan.seconds / 5)
        sample["latencies"][str(rate)] = [*quantiles(times), done["unanswered"]]
    sample["rss"] = server.stats()["rss_kb"] / 1024
    return sample


def quantiles(times):
    """The QUANTILES of 64-bit times in ns, in us: no estimate, for every request is there."""
    values = array.array("Q")
    values.frombytes(times)
    if not values:
        raise UserError("no request was answered at a fixed rate", "give a lower rate: --rates")
    ordered = sorted(values)
    return [ordered[math.ceil(part * len(ordered)) - 1] / 1000 for part in QUANTILES]


def inside(plan, row, place, program):
    """{column: [sample]} of a loop in the program."""
    samples = {column: [] for column in COLUMNS}
    with Step(f"{row.name}: {plan.rounds} rounds"):
        for _ in range(plan.rounds):
            for column in plan.columns():
                said = place.run(plan.runtimes[column], [program, "row", *row.words, row.count], row.name)
                found = json.loads(said)
                before, after = found["before"], found["after"]
                samples[column].append(
                    {
                        "rate": row.count / (found["ns"] / 1e9),
                        "cpu": (after["cpu_us"] - before["cpu_us"]) / row.count,
                        "switches": (after["voluntary"] - before["voluntary"]) / row.count,
                        "rss": after["rss_kb"] / 1024,
                        "latencies": {},
                    }
                )
    return samples


def nio_rows(place, program):
    """The names of the rows of nio's own benchmark."""
    said = place.run(stock(), [program, "no such row"], "NIOPerformanceTester")
    return re.findall(r"^skipping '([^']+)'", said, re.MULTILINE)


def nio(plan, name, place, program, shown):
    """{column: [sample]} of a row of nio's own benchmark: the rate is that of its whole unit of work."""
    samples = {column: [] for column in COLUMNS}
    with Step(f"{shown}: {plan.rounds} rounds"):
        for _ in range(plan.rounds):
            for column in plan.columns():
                said = place.run(plan.runtimes[column], [program, name], shown, timeout=240)
                found = re.search(rf"measuring: {re.escape(name)}: (.+)", said)
                times = [float(part) for part in found[1].split(",") if part.strip()] if found else []
                if not times:
                    raise UserError(f"{shown} says no times: {said.strip()[-80:]}", "is it another version of nio?")
                samples[column].append({"rate": 1 / statistics.median(times), "latencies": {}})
    return samples
