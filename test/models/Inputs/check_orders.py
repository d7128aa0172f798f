#!/usr/bin/env python3
"""check_orders.py [--list] PATCHES ORDERS [SWIFT]: compares orders.txt with the series; --list prints all operations.

SWIFT is the folder of Swift's sources without the series, for the rows that no patch touches.
"""

import sys
from pathlib import Path

from runtime_patches.series import series
from runtime_patches.testing import models

arguments = [a for a in sys.argv[1:] if a != "--list"]
folder, orders = map(Path, arguments[:2])
found = [o for patch in series.Series(folder) for o in models.operations(patch.slug, patch.text)]
rows = models.read_table(orders.read_text(encoding="utf-8"))
if "--list" in sys.argv:
    for o in found:
        print(f"{o.patch}: {o.function} {o.name} {o.orders}")
lines = models.differences(rows, found) + models.file_differences(rows, "own", folder.parent)
if len(arguments) > 2:
    lines += models.file_differences(rows, "base", Path(arguments[2]))
for line in lines:
    print(f"error: {line}")
if lines:
    print("hint: see test/models/README.md: change the row, run the model, and weaken no order that it needs")
modelled = sum(bool(row.parameter) for row in rows)
print(f"{len(found)} atomic operations in the series; in orders.txt {modelled} with a model,", end=" ")
print(f"{len(rows) - modelled} with a reason")
sys.exit(bool(lines))
