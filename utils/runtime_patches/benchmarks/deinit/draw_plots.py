"""benchmark/deinit/draw-plots.py: draws the datasets of run-benchmark.sh."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from ...base.errors import BadUsage, UserError
from ...cli import Parser, folder, ready
from . import plots
from .driver import HERE


def parser() -> Parser:
    command = Parser(
        "draw-plots.py",
        "Draws datasets of run-benchmark.sh, with the fitted model as a line. Without PLOT, all whose\ndatasets exist.",
        ["./draw-plots.py", "./draw-plots.py async_tree-vs-values --runtime after"],
        quiet=False,
    )
    command.add("plots [PLOT…]", ", ".join(plots.PLOTS), complete=lambda: list(plots.PLOTS))
    command.add("--data DIR", "folder of the datasets", default=str(HERE / "data"))
    command.add("--runtime NAME", "draw the datasets that ./reproduce measured on this runtime")
    command.add("--output DIR", "folder of the plots", type=folder, default=str(HERE / "img"))
    return command


def main(options: Namespace) -> None:
    from ...base import files
    from ...report import svg
    from . import dataset, fit

    if not os.path.isdir(options.data):
        raise UserError(f"there is no folder {options.data}", "--data names the folder of the datasets")
    options.output.mkdir(parents=True, exist_ok=True)
    data = dataset.Folder(options.data, options.runtime)
    for name in options.plots:
        if name not in plots.PLOTS:
            raise BadUsage(f"there is no plot '{name}'", f"the plots are {', '.join(plots.PLOTS)}")
        for run in plots.missing(name, data):
            raise UserError(f"{name} needs {data.file(run)}", run.command)
    wanted = options.plots or [name for name in plots.PLOTS if not plots.missing(name, data)]
    if not wanted:
        what = f"{options.data} has the datasets of no plot"
        raise UserError(what, "./reproduce measures all of them; README.md has the commands one by one")
    with fit.Fitter(lambda: ready(options)) as fitter:
        for name in wanted:
            files.write(options.output / f"{name}.svg", svg.file(plots.curves(fitter, name, data)))
            print(options.output / f"{name}.svg")
    for name in plots.PLOTS:
        if name not in wanted and not options.plots:
            print(f"left out {name}: no {plots.missing(name, data)[0].name}.txt", file=sys.stderr)
