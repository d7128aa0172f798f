#!/usr/bin/env python3
"""make_dataset.py INPUTS NAME SCHEDULE TOTAL: a dataset with known times, which are expressions of v and o."""

import sys
from pathlib import Path

inputs, (name, *phases) = Path(sys.argv[1]), sys.argv[2:]
print(f"# {name} data/{inputs.name} --ballast=0\n#\n# schedule(ns) total(ns)")
for v, o in (line.split() for line in inputs.read_text().splitlines() if not line.startswith("#")):
    # The expressions are those of the tests, written as the models are.
    print("\t".join(str(round(eval(text, {"v": int(v), "o": int(o)}))) for text in phases))
