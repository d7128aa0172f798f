"""Rounds: what is compared is measured in turn, so that slow drift of the machine meets all of it alike.

Inside the workspace this is imported by programs that have nothing but Python's own library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from typing import Any


def interleaved(rounds: int, rows: Any, columns: Any, chance: random.Random) -> Iterator[Any]:
    """(number of the round, row, column) for all of `rounds` rounds. The rows follow each other; the
    columns of a row, columns(row), follow each other at once, in random order."""
    for number in range(rounds):
        for row in list(rows):
            order = list(columns(row))
            chance.shuffle(order)
            for column in order:
                yield number, row, column
