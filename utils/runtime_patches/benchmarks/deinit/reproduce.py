"""benchmark/deinit/reproduce: measures every experiment, and writes one table of all results."""

import time
from argparse import Namespace

from ...base import progress
from ...base.errors import BadUsage
from ...base.paths import REPORT
from ...cli import Parser, ready, runtime
from . import experiments

HOME = REPORT / "deinit"


def parser() -> Parser:
    command = Parser(
        "reproduce",
        "Measures every experiment on several runtimes in turn, fits the models, and writes one table to\n"
        "build/report/deinit. Goes on where it was interrupted; what is measured there is not measured again.",
        ["./reproduce --quick", "./reproduce --runtimes before,after"],
    )
    command.add("--quick", "few points, at most 3 minutes")
    command.add("--runtimes NAME,…", "the runtimes to compare, oldest first", default="before,after")
    return command


def main(options: Namespace) -> None:
    from ...base.process import terminable
    from ...report import renew
    from ..harness import measuring
    from . import campaign
    from . import campaign_report as made_report

    names = [name.strip() for name in options.runtimes.split(",")]
    if len(names) < 2 or len(set(names)) != len(names):
        raise BadUsage(f"--runtimes: '{options.runtimes}' does not name different runtimes", "--runtimes before,after")
    runtimes = [runtime(name) for name in names]
    ws = ready(options, *runtimes)
    home = HOME / "quick" if options.quick else HOME
    with terminable(), measuring.alone(home):
        measured = campaign.Campaign(ws, home, campaign.QUICK if options.quick else campaign.FULL, runtimes)
        runs, begin = experiments.runs(), time.monotonic()
        places = {run.name: place for place, run in enumerate(runs, 1)}
        for number, run in measured.rounds(runs):
            minutes = (time.monotonic() - begin) / 60
            with progress.Step(f"[round {number}, {places[run.name]}/{len(runs)}, {minutes:.0f} min] {run.name}"):
                measured.measure(number, run)
        measured.merge(runs)
        with progress.Step("fits and tables"), measured.fitter:
            made_report.make(measured).write(home)
    renew(home)
    print(home / "report.md")
