"""Reads the files that callgrind writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def by_object(lines: Iterable[str]) -> Counter[str]:
    """Counter {path of a program or library: instructions executed in it} of the lines of
    a callgrind.out file; "" is what callgrind could not tell."""
    counts: Counter[str] = Counter()
    for (place, _), count in by_function(lines).items():
        counts[place] += count
    return counts


def by_function(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Counter {(path of a program or library, function): instructions executed in it itself} of the lines of a
    callgrind.out file."""
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    counts: Counter[tuple[str, str]] = Counter()
    place, function, of_call = "", "", False
    for line in lines:
        key, equals, value = line.partition("=")
        if key in ("ob", "cob", "fn", "cfn"):
            # A name stands only where its number is used first.
            number, _, name = value.strip().partition(" ")
            found = names[key[-2:]].setdefault(number, name)
            if key == "ob":
                place = found
            elif key == "fn":
                function = found
        elif key == "calls":
            of_call = True
        elif line[:1] in "0123456789+-*" and not equals:
            # The line after calls= has what the callee took, which is counted there.
            if not of_call:
                counts[place, function] += int(line.split()[1])
            of_call = False
    return counts
