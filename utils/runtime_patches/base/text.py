"""Words for people."""

from __future__ import annotations

import math
from collections.abc import Iterable


def plural(count: int, word: str, many: str = "") -> str:
    """`1 row` or `2 rows`; many: the word for several, if that is not with an s."""
    return f"{count} {word if count == 1 else many or f'{word}s'}"


def size(count: float) -> str:
    """Bytes as 3.1 GB or 20 MB."""
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def nearest(name: str, known: Iterable[str]) -> str:
    """ "did you mean …? " for a name that is not known; empty if none is like it."""
    from difflib import get_close_matches

    found = get_close_matches(name, list(known))
    return f"did you mean {' or '.join(found)}? " if found else ""


def number(value: float | None) -> str:
    """A number as people write it: three significant digits, a comma before thousands; a dash for None."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(digits, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
