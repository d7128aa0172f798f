#!/usr/bin/env python3
"""make_dataset.py INPUTS NAME SCHEDULE TOTAL: a dataset with known times, which are expressions of v and o."""

import os
import sys

inputs, name, *phases = sys.argv[1:]
print(f"# {name} data/{os.path.basename(inputs)} --ballast=0\n#\n# schedule(ns) total(ns)")
points = [line.split() for line in open(inputs) if not line.startswith("#")]
for v, o in points:
    print("\t".join(str(round(eval(text, {"v": int(v), "o": int(o)}))) for text in phases))
