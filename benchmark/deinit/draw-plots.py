#!/usr/bin/env python3
"""Draws the plots of the deinit benchmark from the datasets in data/."""

import os
import sys

from deinit_tools import HERE
from harness import cli, inside
from runtime_patches.errors import UserError, run_main


def main():
    parser = cli.Parser(prog="draw-plots.py", description="Draws datasets of run-benchmark.sh, with "
                        "the fitted model as a line. Without PLOT, all whose datasets exist.",
                        examples=("./draw-plots.py", "./draw-plots.py async_tree-vs-values --runtime after"))
    parser.add_argument("plots", metavar="PLOT", nargs="*", help="isolated_copy_array, "
                        "async_tree-vs-values, async_array-vs-values, async-vs-objects, async_copy_array")
    parser.add_argument("--data", metavar="DIR", default=str(HERE / "data"),
                        help="Folder of the datasets")
    parser.add_argument("--runtime", metavar="NAME",
                        help="Draw the datasets that ./reproduce measured on this runtime")
    parser.add_argument("--output", metavar="DIR", default=str(HERE / "img"),
                        help="Folder of the plots")
    options = parser.parse_args()
    if not os.path.isdir(options.data):
        raise UserError(f"there is no folder {options.data}", "--data names the folder of the datasets")
    os.makedirs(options.output, exist_ok=True)

    inside.require("numpy", "statsmodels", "matplotlib")
    from deinit_tools import plots
    folder = plots.Folder(options.data, options.runtime)
    for name in options.plots:
        if name not in plots.PLOTS:
            raise UserError(f"there is no plot '{name}'", f"the plots are {', '.join(plots.PLOTS)}")
        for run in plots.missing(name, folder):
            raise UserError(f"{name} needs {folder.file(run)}", run.command)
    wanted = options.plots or [name for name in plots.PLOTS if not plots.missing(name, folder)]
    if not wanted:
        raise UserError(f"{options.data} has the datasets of no plot",
                        "./reproduce measures all of them; README.md has the commands one by one")
    for name in wanted:
        print(plots.draw(name, folder, options.output))
    for name in plots.PLOTS:
        if name not in wanted and not options.plots:
            print(f"left out {name}: no {plots.missing(name, folder)[0].name}.txt", file=sys.stderr)


if __name__ == "__main__":
    run_main(main)
