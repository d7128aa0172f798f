"""Command lines: usage errors like all others, options that harnesses share, and ranges."""

import argparse
import re

from runtime_patches import progress
from runtime_patches.errors import UserError


class _Formatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults that are one value; lines of the examples stay as they are."""

    def _get_help_string(self, action):
        shown = isinstance(action.default, str) and action.default != argparse.SUPPRESS
        return super()._get_help_string(action) if shown else action.help


class Parser(argparse.ArgumentParser):
    """Shows defaults and examples in the help; bad usage is one line of error and one of hint."""

    def __init__(self, examples, **options):
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, epilog="\n".join(
            ["examples:", *(f"  {line}" for line in examples),
             "\nexit status: 0 done, 1 an error, 2 bad usage"]), **options)

    def add_quiet(self):
        """--quiet, for what takes long."""
        self.add_argument("-q", "--quiet", action="store_true", default=argparse.SUPPRESS,
                          help="no progress, only results and errors")

    def add_workspace(self):
        """--checkout and --toolchain; workspace() has them for other commands."""
        self.add_argument("--checkout", metavar="DIR", default=argparse.SUPPRESS,
                          help="the folder that holds your swift/ checkout")
        self.add_argument("--toolchain", metavar="DIR", default=argparse.SUPPRESS,
                          help="the usr folder of your Swift toolchain; needs --checkout")

    def add_harness(self, report, what):
        """What all have that measure rows and write a report.

        report: the folder of the report, without --output; what: a row stands for.
        """
        self.add_argument("--list", action="store_true", help=f"print the {what}s")
        self.add_argument("--output", metavar="DIR", default=str(report), help="folder of the report")
        self.add_quiet()
        self.add_workspace()

    def add_comparison(self, report, what, rounds):
        """What all have that measure the rows of one program on one or two runtimes.

        report: the folder of the report, without --output; what: a row stands for;
        rounds: the help of --rounds.
        """
        self.add_argument("runtimes", metavar="RUNTIME", nargs="*", default=["before", "after"],
                          help="one or two of before, after, stock, upto:PATCH (default: before after)")
        self.add_argument("--filter", metavar="RE", default=".", help=f"only {what}s that match")
        self.add_argument("--rounds", metavar="N", default="5", help=rounds)
        self.add_harness(report, what)

    def error(self, message):
        raise UserError(message, f"{self.prog} --help", 2)

    def parse_args(self, *args, **named):
        options = super().parse_args(*args, **named)
        progress.quiet = getattr(options, "quiet", False)
        return options


def workspace(options):
    """The options --checkout and --toolchain as they were given."""
    return [f"--{name}={getattr(options, name)}" for name in ("checkout", "toolchain")
            if hasattr(options, name)]


def check_two(runtimes):
    """UserError if there are more than two."""
    if len(runtimes) > 2:
        raise UserError(f"{len(runtimes)} runtimes are named", "name one or two", 2)


def matching(known, pattern, what):
    """The names in `known` that the regular expression `pattern` finds, in their order;
    UserError where there is none. what: what a name stands for."""
    hint = f"run-benchmark --list prints the {what}s"
    try:
        chosen = [name for name in known if re.search(pattern, name)]
    except re.error as error:
        raise UserError(f"--filter: '{pattern}' is not a regular expression ({error})", hint) from None
    if not chosen:
        raise UserError(f"no {what} matches '{pattern}'", hint)
    return chosen


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
