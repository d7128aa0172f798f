"""Words for people."""


def plural(count, word):
    """`1 row` or `2 rows`."""
    return f"{count} {word}{'s' * (count != 1)}"
