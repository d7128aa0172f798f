#!/usr/bin/env python3
"""check_model.py SOURCE PROGRAM: runs a model on the orders of orders.txt, and on each fault that it names. PROGRAM is
where it is compiled."""

import os
import sys
from pathlib import Path

from runtime_patches.base import errors
from runtime_patches.testing import models


def main() -> bool:
    source, program = map(Path, sys.argv[1:])
    lines = models.check(models.Program(source, program, os.environ.get("CXX", "g++")), source.parent / "orders.txt")
    for line in lines:
        print(f"error: {line}")
    return bool(lines)


if __name__ == "__main__":
    errors.run_main(main)
