#!/usr/bin/env python3
"""Prints random input points for run-benchmark.sh."""

import argparse

from deinit_tools import points
from harness import cli
from runtime_patches.errors import run_main


def main():
    parser = cli.Parser(prog="gen-points.py", examples=("./gen-points.py --values=0:100 --objects=1:1000 500 > data/inputs-500.txt",))
    parser.add_argument("-v", "--values", metavar="MIN:MAX", default="0:200",
                        help="Range of number of task-local values")
    parser.add_argument("-o", "--objects", metavar="MIN:MAX", default="1:5000",
                        help="Range of number of objects")
    parser.add_argument("--seed", metavar="N", default=argparse.SUPPRESS,
                        help="Number that makes the same points again")
    parser.add_argument("points")
    options = parser.parse_args()
    chosen = points.parse(options.values, options.objects, options.points)
    seed = cli.integer(options.seed, "--seed") if "seed" in options else points.new_seed()
    for line in points.lines(*chosen, seed):
        print(line)


if __name__ == "__main__":
    run_main(main)
