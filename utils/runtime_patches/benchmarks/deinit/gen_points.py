"""benchmark/deinit/gen-points.py: prints random input points for run-benchmark.sh."""

import argparse
from argparse import Namespace

from ...cli import Parser, integer, span


def parser() -> Parser:
    command = Parser(
        "gen-points.py",
        "Prints random input points for run-benchmark.sh.",
        ["./gen-points.py --values=0:100 --objects=1:1000 500 > data/inputs-500.txt"],
        workspace=False,
        quiet=False,
    )
    command.add("-v, --values MIN:MAX", "the number of task-local values", type=span(), default="0:200")
    command.add("-o, --objects MIN:MAX", "the number of objects", type=span(1), default="1:5000")
    command.add("--seed N", "a number that makes the same points again", type=integer(), default=argparse.SUPPRESS)
    command.add("points", "how many points", type=integer(1))
    return command


def main(options: Namespace) -> None:
    import secrets

    from . import points

    points.check(options.values, options.objects, options.points)
    seed = options.seed if "seed" in options else secrets.randbelow(10**6)
    for line in points.lines(options.values, options.objects, options.points, seed):
        print(line)
