#!/usr/bin/env python3
"""Fits linear models to a dataset of run-benchmark.sh."""

import argparse
import sys

from deinit_tools import phases
from harness import cli, inside
from runtime_patches.errors import UserError, run_main


def _parser():
    parser = cli.Parser(prog="regression.py", examples=("./regression.py data/isolated_hop_copy_array-5K.txt -p vo,o",
                                  "./regression.py data/inputs-5K.txt data/async_tree-5K.txt --ci"))
    parser.add_argument("inputs", nargs="?", default=argparse.SUPPRESS,
                        help="Inputs file; left out when the dataset holds its inputs")
    parser.add_argument("dataset", help="Output of run-benchmark.sh")
    parser.add_argument("-d", "--diff", metavar="BASELINE",
                        help="Apply regression to difference between dataset and baseline")
    parser.add_argument("-p", "--params", default="vo,v,o,1",
                        help="Parameters for fit against. Comma-separated list of vo2,vo,v,o2,o,1")
    parser.add_argument("-y", "--phases", default="S,T",
                        help="Values for fit against. Comma-separated list of S,T - Scheduling, "
                             "Total; and E - Execution, which is Total less Scheduling")
    for option in ("--min-values", "--max-values", "--min-objects", "--max-objects"):
        parser.add_argument(option, default=argparse.SUPPRESS)
    parser.add_argument("--ci", action="store_true", default=argparse.SUPPRESS,
                        help="Also print the 95%% confidence interval of each coefficient")
    parser.add_argument("--robust", action="store_true", default=argparse.SUPPRESS,
                        help="Fit to the median (least absolute deviations): disturbed points "
                             "hardly count")
    parser.add_argument("--share", action="store_true", default=argparse.SUPPRESS,
                        help="Also print what each term makes up at the largest point")
    return parser


def _limits(options, what):
    low, high = (cli.integer(options[f"{end}_{what}"], f"--{end}-{what}")
                 if f"{end}_{what}" in options else None for end in ("min", "max"))
    if low is not None and high is not None and low > high:
        raise UserError(f"--min-{what} {low} is greater than --max-{what} {high}",
                        "change one of the two")
    return low, high


def _print_details(models, options, selection):
    from deinit_tools.fit import PARAMS
    values, objects = max(selection.values), max(selection.objects)
    for phase, model in models.items():
        for param, coefficient in zip(model.params, model.coefficients):
            name = PARAMS[param][0].lstrip("⋅") or "1"
            if "ci" in options:
                low, high = model.interval(param)
                print(f"{phase}: {name}: {coefficient:.6g} ns, 95 % within {low:.6g} … {high:.6g}")
        if "share" in options:
            parts = ", ".join(f"{PARAMS[param][0].lstrip('⋅') or '1'} {share:.1%}" for param, share
                              in zip(model.params, model.shares(values, objects)))
            print(f"{phase}: at v = {values}, o = {objects}: {parts}")


def main():
    options = vars(_parser().parse_intermixed_args())
    wanted = phases.parse(options["phases"])
    inputs, data, baseline = phases.load(options.get("inputs"), options["dataset"], options["diff"])
    selection = phases.Selection(inputs, _limits(options, "values"), _limits(options, "objects"))

    inside.require("numpy", "statsmodels")
    from deinit_tools import fit
    params = fit.parse_params(options["params"])
    models = {phases.PHASES[phase][0]:
              fit.fit(params, selection.values, selection.objects,
                      selection.of(phases.times(phase, data, baseline)), "robust" in options)
              for phase in wanted}
    for line in fit.formatted(models):
        print(line)
    _print_details(models, options, selection)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    run_main(main)
