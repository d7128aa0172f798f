"""Rounds: what is compared is measured in turn, so that slow drift of the machine meets all of it alike.

Inside the workspace this is imported by programs that have nothing but Python's own library.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Row = TypeVar("_Row")
_Column = TypeVar("_Column")


def interleaved(
    rounds: int, rows: Iterable[_Row], columns: Callable[[_Row], Iterable[_Column]], chance: random.Random
) -> Iterator[tuple[int, _Row, _Column]]:
    """(number of the round, row, column) for all of `rounds` rounds. The rows follow each other; the
    columns of a row, columns(row), follow each other at once, in random order."""
    for number in range(rounds):
        for row in list(rows):
            order = list(columns(row))
            chance.shuffle(order)
            for column in order:
                yield number, row, column
