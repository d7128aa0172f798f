#!/usr/bin/env python3
"""mutate.py ORDERS OUTPUT [--seed N] [--count N]: weakens orders at random, and runs the models.

One operation of orders.txt gets weaker orders, or two of one model. The model must find a fault, if
its lines do not say that the order is not needed, or seen by herd7 only. Programs of models are compiled in OUTPUT.
--count 0: each single operation with all orders that are weaker, and no pairs.
"""

import argparse
import collections
import os
import random
import sys
from pathlib import Path

from runtime_patches.testing import models

HERE = Path(__file__).resolve().parent


# A row, and weaker orders.
One = tuple[models.Listed, str]


class Mutations:
    """The rows of orders.txt, and the programs of the models."""

    def __init__(self, orders: Path, output: Path) -> None:
        self.rows = models.read_table(orders.read_text(encoding="utf-8"))
        self.output = output
        self.programs: dict[str, tuple[models.Program, dict[str, str], dict[str, str]]] = {}

    def of(self, row: models.Listed) -> list[One]:
        return [(row, one) for one in models.all_weaker(row.operation.orders, models.kind_of(row.operation))]

    def verdict(self, mutation: list[One]) -> str:
        """ "found", or why not."""
        row = mutation[0][0]
        if not row.parameter:
            return f"no model: {row.reason}"
        program, own, unneeded = self.program(row.model)
        changed = {one.order: orders for one, orders in mutation}
        result = program.run(*(f"{name}={orders}" for name, orders in {**own, **changed}.items()))
        if not result.startswith("SUCCESS"):
            return f"found: {result}"
        reasons = [self.reason(unneeded, *one) for one in mutation]
        return f"explained: {' '.join(reasons)}" if all(reasons) else "NOT FOUND"

    def reason(self, unneeded: dict[str, str], row: models.Listed, orders: str) -> str:
        """Why a weakening is no fault for relacy, or "". It may hold for weaker orders, too."""
        for name, reason in unneeded.items():
            parameter, _, weaker = name.partition("=")
            if parameter == row.order and orders in (weaker, *models.all_weaker(weaker, models.kind_of(row.operation))):
                return reason
        return ""

    def program(self, model: str) -> tuple[models.Program, dict[str, str], dict[str, str]]:
        """(the program of a model, its orders, {mutation: why it is no fault})."""
        if model not in self.programs:
            source = HERE.parent / f"{model}.cpp"
            program = models.Program(source, self.output / model, os.environ.get("CXX", "g++"))
            unneeded = models.expectations(source.read_text(encoding="utf-8"))[1]
            self.programs[model] = program, models.parameters(self.rows, model), unneeded
        return self.programs[model]

    def sample(self, count: int, seed: int) -> list[list[One]]:
        choice = random.Random(seed)
        rows = [row for row in self.rows if self.of(row)]
        if not count:
            return [[one] for row in rows for one in self.of(row)]
        found = []
        for _ in range(count):
            row = choice.choice(rows)
            near = [
                other for other in rows if row.order and other.model == row.model and other.order not in ("", row.order)
            ]
            pair = [row, choice.choice(near)] if near and choice.random() < 0.3 else [row]
            found.append([choice.choice(self.of(one)) for one in pair])
        return found


def main() -> bool:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    for name in ("orders", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    mutations = Mutations(options.orders, options.output)
    counts: collections.Counter[str] = collections.Counter()
    for mutation in mutations.sample(options.count, options.seed):
        verdict = mutations.verdict(mutation)
        changes = ((row.operation, orders) for row, orders in mutation)
        what = " and ".join(f"{one.function} {one.name} {one.orders} -> {orders}" for one, orders in changes)
        print(f"{mutation[0][0].operation.patch}: {what}: {verdict}", flush=True)
        counts[verdict if verdict.startswith("NOT") else verdict.partition(":")[0].partition(" ")[0]] += 1
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return any(verdict.startswith("NOT") for verdict in counts)


if __name__ == "__main__":
    sys.exit(main())
