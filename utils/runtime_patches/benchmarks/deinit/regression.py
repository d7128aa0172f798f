"""benchmark/deinit/regression.py: fits linear models to a dataset of run-benchmark.sh."""

import argparse
import math
from argparse import Namespace

from ...base.errors import BadUsage
from ...cli import Parser, integer, ready, words

PARAMS = "vo2,vo,v,o2,o,1"  # as in fit.py


def parser() -> Parser:
    command = Parser(
        "regression.py",
        "Fits linear models to a dataset of run-benchmark.sh.",
        [
            "./regression.py data/isolated_hop_copy_array-5K.txt -p vo,o",
            "./regression.py data/inputs-5K.txt data/async_tree-5K.txt --ci",
        ],
        quiet=False,
    )
    command.intermixed = True
    what = "the inputs file; left out when the dataset holds its inputs"
    command.add("inputs [inputs]", what, default=argparse.SUPPRESS)
    command.add("dataset", "the output of run-benchmark.sh")
    command.add("-d, --diff BASELINE", "fit the difference from this dataset")
    what = f"the terms of the model: some of {PARAMS}"
    command.add("-p, --params PARAMS", what, type=words(PARAMS), default="vo,v,o,1")
    what = "the phases to fit: some of S,T,E, for Scheduling, Total, and Execution, which is Total less Scheduling"
    command.add("-y, --phases PHASES", what, type=words("S,T,E"), default="S,T")
    for option in ("--min-values", "--max-values", "--min-objects", "--max-objects"):
        end, what = option[2:].split("-")
        bound = "at least" if end == "min" else "at most"
        default = 0 if end == "min" else math.inf
        command.add(f"{option} N", f"fit only points with {bound} N {what}", type=integer(), default=default)
    command.add("--ci", "also print the 95%% confidence interval of each coefficient")
    command.add("--robust", "fit to the median (least absolute deviations): disturbed points hardly count")
    command.add("--share", "also print what each term makes up at the largest point")
    return command


def _limits(options: Namespace, what: str) -> tuple[float, float]:
    low, high = (getattr(options, f"{end}_{what}") for end in ("min", "max"))
    if low > high:
        raise BadUsage(f"--min-{what} {low} is greater than --max-{what} {high}", "change one of the two")
    return low, high


def main(options: Namespace) -> None:
    from . import fit, phases

    inputs, data, baseline = phases.load(getattr(options, "inputs", None), options.dataset, options.diff)
    selection = phases.Selection(inputs, _limits(options, "values"), _limits(options, "objects"))
    models = {}
    with fit.Fitter(lambda: ready(options)) as fitter:
        for phase in options.phases:
            times, title = selection.of(phases.times(phase, data, baseline)), phases.PHASES[phase][0]
            models[title] = fitter.fit(options.params, selection.values, selection.objects, times, options.robust)
    for line in fit.formatted(models):
        print(line)
    values, objects = max(selection.values), max(selection.objects)
    for phase, model in models.items():
        names = [fit.PARAMS[param][0].lstrip("⋅") or "1" for param in model.params]
        for name, coefficient, (low, high) in zip(names, model.coefficients, model.intervals) if options.ci else ():
            print(f"{phase}: {name}: {coefficient:.6g} ns, 95 % within {low:.6g} … {high:.6g}")
        if options.share:
            shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(names, model.shares(values, objects)))
            print(f"{phase}: at v = {values}, o = {objects}: {shares}")
