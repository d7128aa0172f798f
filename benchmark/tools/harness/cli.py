"""Command lines: usage errors like all others, and ranges."""

import argparse
import re

from runtime_patches.errors import UserError


class Parser(argparse.ArgumentParser):
    """Shows defaults in the help; bad usage is one line of error and one of hint."""

    def __init__(self, **options):
        super().__init__(formatter_class=argparse.ArgumentDefaultsHelpFormatter,
                         allow_abbrev=False, **options)

    def error(self, message):
        raise UserError(message, f"{self.prog} --help", 2)


def integer(text, name, least=0):
    """The whole number in `text`, at least `least`; UserError otherwise."""
    if not re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        raise UserError(f"{name}: '{text}' is not a whole number that can be used here",
                        f"give a number from {least}")
    if int(text) < least:
        raise UserError(f"{name}: {text} is less than {least}", f"give a number from {least}")
    return int(text)


def span(text, name, least=0):
    """The pair (minimum, maximum) in `MIN:MAX`, a closed interval."""
    low, colon, high = text.partition(":")
    if not colon:
        raise UserError(f"{name}: '{text}' is not a range", "write MIN:MAX, such as 1:5000")
    low, high = integer(low, name, least), integer(high, name, least)
    if low > high:
        raise UserError(f"{name}: the minimum {low} is greater than the maximum {high}",
                        f"did you mean {high}:{low}?")
    return low, high
