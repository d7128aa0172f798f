"""utils/stress: random programs on several runtimes."""

import re
from argparse import Namespace

from ..base.errors import BadUsage
from ..cli import Parser, integer, ready, runtime, seconds


def parser() -> Parser:
    command = Parser(
        "utils/stress",
        "Runs random programs on several runtimes. Their output must agree. A seed that fails is\n"
        "reduced to a smaller case, and the command that replays it is printed.",
        [
            "utils/stress",
            "utils/stress --time 3600 before after",
            "utils/stress --seeds 7:7 --operations 200 --workers 2 tsan",
            "utils/stress --cancellation 10000000 --time 600 after",
        ],
        status="0 all agree, 1 a seed fails or differs, or an error, 2 bad usage",
    )
    default = [runtime("before"), runtime("after")]
    command.add_runtimes("runtimes [NAME…]", "runtimes (default: before after)", default=default)
    command.add("--seeds FIRST[:LAST]", "default: 1:20. FIRST alone is one seed; with --time it is the first")
    command.add("--operations N", "operations of each program (default: 50000)", type=integer(1), default=50_000)
    command.add("--workers N", "tasks at the start of each program (default: 6)", type=integer(1), default=6)
    what = "go on for this time, with further seeds if LAST is not given"
    command.add("--time SECONDS", what, type=seconds(0.001, 999999))
    what = "cancel random trees instead, until each NAME but before has had so many, with those of earlier runs"
    command.add("--cancellation ROUNDS", what, type=integer(1))
    return command


def main(options: Namespace) -> None:
    from ..testing import stress

    found = re.fullmatch(r"(\d+)(?::(\d+))?", options.seeds or ("1" if options.time else "1:20"))
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if not found or last < first:
        raise BadUsage(f"--seeds: '{options.seeds}' is not FIRST[:LAST]", "utils/stress --help")
    ws = ready(options)
    if options.cancellation:
        chosen = [name for name in options.runtimes if str(name) != "before"]
        stress.cancel(ws, chosen, options.cancellation, options.time)
        return
    count = 10**12 if options.time and not found[2] else last - first + 1
    stress.run(ws, options.runtimes, first, count, options.operations, options.workers, options.time)
