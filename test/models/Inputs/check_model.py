#!/usr/bin/env python3
"""check_model.py SOURCE PROGRAM: runs a model on the orders of orders.txt, and on each fault that it names."""

import sys
from pathlib import Path

from runtime_patches.testing import models

source, program = sys.argv[1:]
lines = models.check(source, Path(__file__).parents[1] / "orders.txt", program)
for line in lines:
    print(f"error: {line}")
sys.exit(bool(lines))
