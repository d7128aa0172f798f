"""Reads the files that callgrind writes."""

from collections import Counter
from collections.abc import Iterable


def by_object(lines: Iterable[str]) -> Counter[str]:
    """Counter {path of a program or library: instructions executed in it} of the lines of
    a callgrind.out file; "" is what callgrind could not tell."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    place, of_call = "", False
    for line in lines:
        key, equals, value = line.partition("=")
        if key in ("ob", "cob"):
            # A name stands only where its number is used first.
            number, _, name = value.strip().partition(" ")
            found = names.setdefault(number, name)
            place = found if key == "ob" else place
        elif key == "calls":
            of_call = True
        elif line[:1] in "0123456789+-*" and not equals:
            # The line after calls= has what the callee took, which is counted there.
            if not of_call:
                counts[place] += int(line.split()[1])
            of_call = False
    return counts
