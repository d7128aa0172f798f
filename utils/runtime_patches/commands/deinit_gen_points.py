"""benchmark/deinit/gen-points.py: prints random input points for run-benchmark.sh."""

import argparse

from ..cli import Parser, integer, span


def parser():
    made = Parser(
        "gen-points.py",
        "Prints random input points for run-benchmark.sh.",
        ["./gen-points.py --values=0:100 --objects=1:1000 500 > data/inputs-500.txt"],
        workspace=False,
        quiet=False,
    )
    made.add(
        "-v", "--values", metavar="MIN:MAX", type=span(), default="0:200", help="Range of number of task-local values"
    )
    made.add("-o", "--objects", metavar="MIN:MAX", type=span(1), default="1:5000", help="Range of number of objects")
    made.add(
        "--seed", metavar="N", type=integer(), default=argparse.SUPPRESS, help="Number that makes the same points again"
    )
    made.add("points", type=integer(1))
    return made


def main(options):
    from ..benchmarks.deinit import points

    points.check(options.values, options.objects, options.points)
    seed = options.seed if "seed" in options else points.new_seed()
    for line in points.lines(options.values, options.objects, options.points, seed):
        print(line)
