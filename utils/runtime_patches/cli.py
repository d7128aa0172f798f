"""Command lines: starts a command, and what all parsers share.

A command is a module with parser() and main(options): of utils/NAME in commands/, and of benchmark/HARNESS/NAME in
benchmarks/HARNESS/.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys

from .base import errors, paths, progress
from .base.errors import BadUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Action, Namespace
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import ModuleType
    from typing import Any, NoReturn

    from .runtimes.runtime import Runtime
    from .workspace.find import Workspace


def main(command: str, arguments: list[str]) -> None:
    sys.argv[0] = command  # by this name others wait for it
    errors.run_main(lambda: _run(module_of(command), arguments))


def module_of(command: str) -> ModuleType:
    """The module of "NAME" or "benchmark/HARNESS/NAME"."""
    path = command.replace("benchmark/", "benchmarks/") if "/" in command else f"commands/{command}"
    name = f"runtime_patches.{path.replace('/', '.').replace('-', '_')}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith(str(error.name)):
            raise
        raise BadUsage(f"no command '{command}'", "ls utils") from None


def _run(module: ModuleType, arguments: list[str]) -> int | None:
    if hasattr(module, "start"):  # complete and with-runtime, which read their words themselves
        started: int | None = module.start(arguments)
        return started
    parser = module.parser()
    arguments, rest = parser.split(arguments)
    try:
        options = parser.parse_intermixed_args(arguments) if parser.intermixed else parser.parse_args(arguments)
        vars(options).update(rest)
        progress.quiet = options.quiet
        status: int | None = module.main(options)
    except BadUsage as error:
        error.status = parser.bad_usage
        raise
    return status


class BadValue(BadUsage):
    """A value that an option cannot have; the parser adds the option's name."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows a default that is a text, if the help does not say it. Paths of this repository are relative to it."""

    def _expand_help(self, action: Action) -> str:
        return super()._expand_help(action).replace(f"{paths.REPO}/", "")

    def _get_help_string(self, action: Action) -> str | None:
        shown = isinstance(action.default, str) and action.default not in ("", argparse.SUPPRESS)
        shown = shown and "default" not in (action.help or "")
        return f"{action.help} (default: %(default)s)" if shown else action.help


class Parser(argparse.ArgumentParser):
    """Bad usage is an error like any other: one line of error, one of hint. intermixed: whether
    options may stand between positional arguments; most: runtimes that a harness compares, None if it is none."""

    def __init__(
        self,
        prog: str,
        description: str,
        examples: list[str],
        *,
        status: str = "0 done, 1 an error, 2 bad usage",
        bad_usage: int = 2,
        workspace: bool = True,
        quiet: bool = True,
    ) -> None:
        epilog = "\n  ".join(["examples:", *examples]) + f"\n\nexit status: {status}"
        super().__init__(
            prog=prog, description=description, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False
        )
        self.bad_usage, self.intermixed = bad_usage, False
        self.most: int | None = None
        self.rest, self.tail = "", dict[str, str]()
        self.examples, self.status, self.forms, self.completions = examples, status, {}, {}
        if workspace:
            self.add("--checkout DIR", "the folder that holds your swift/ checkout")
            self.add("--toolchain DIR", "the usr folder of your Swift toolchain; needs --checkout")
        self.set_defaults(quiet=False)
        if quiet:
            self.add("-q, --quiet", "no progress, only results and errors")

    def error(self, message: str) -> NoReturn:
        hint = f"{self.prog} --help"
        if self.rest and "unrecognized arguments" in message:
            hint = f"options of other programs stand behind --: {self.prog} -- {message.partition(': ')[2]}"
        raise BadUsage(message, hint)

    def take_rest(self, name: str, metavar: str, text: str) -> None:
        """Takes what stands behind `--` as a list of words, options.NAME: they are options of the program NAME."""
        self.rest, self.tail = name, {f"-- {metavar}": text}
        self.add_argument_group(f"-- {metavar}", text)

    def split(self, arguments: list[str]) -> tuple[list[str], dict[str, list[str]]]:
        """(the arguments of the command, {option: what stands behind `--`})."""
        if not self.rest:
            return arguments, {}
        place = arguments.index("--") if "--" in arguments else len(arguments)
        return arguments[:place], {self.rest: arguments[place + 1 :]}

    def _get_value(self, action: Action, text: str) -> Any:
        name = action.option_strings[-1] if action.option_strings else action.metavar or action.dest
        if not text and action.default != "":
            raise BadUsage(f"{name}: the value is empty", f"{self.prog} --help")
        try:
            return super()._get_value(action, text)
        except BadValue as error:
            raise BadUsage(f"{name}: {error.message}", error.hint) from None

    def add(
        self,
        form: str,
        text: str | None = None,
        *,
        group: Any = None,
        complete: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Action:
        """Adds an argument. form: its names and its value as people read them: "-o, --output FILE", "--list" (which
        has no value), "tests [PATH…]"; text: its help; group: of --help, if not the usual one; complete: a function
        that returns what the Tab key offers."""
        *names, last = form.split(", ")
        name, _, value = last.partition(" ")
        shown = form if name.startswith("-") else value
        if many := re.fullmatch(r"\[(\w+)(…?)\]|(\w+)…", value):
            value = many[1] or many[3]
            options["nargs"] = "+" if many[3] else "*" if many[2] else "?"
        if value:
            options["metavar"] = value
        elif name.startswith("-"):
            options.setdefault("action", "store_true")
        if options.get("nargs") == "*" and not name.startswith("-"):
            options.setdefault("default", [])  # without one, argparse names it among those that are required
        action = (group or self).add_argument(*names, name, help=text, **options)
        self.forms[action], self.completions[action.dest] = shown, complete
        return action

    def add_runtimes(self, form: str, text: str | None = None, **options: Any) -> Action:
        return self.add(form, text, type=runtime, complete=runtime_names, **options)

    def parse_args(self, *args: Any, **named: Any) -> Any:
        options = super().parse_args(*args, **named)
        if self.most and len(options.runtimes) > self.most:
            raise BadUsage(f"{len(options.runtimes)} runtimes are named", "name one or two")
        for one in options.runtimes if self.most else ():
            if one.variant in ("asan", "tsan"):
                what = f"benchmarks are not compiled with a sanitizer, so they do not run on {one}"
                raise BadUsage(what, "utils/run-clients and utils/run-test do")
        return options


def harness(
    name: str,
    description: str,
    examples: list[str],
    *,
    what: str = "row",
    rounds: tuple[int, str] | None = None,
    runtimes: str | None = None,
    most: int = 99,
) -> Parser:
    """The Parser of benchmark/NAME/run-benchmark. what: a name in its table stands for; rounds: (default, help) of
    --rounds; runtimes: the help of RUNTIME…; most: of them."""
    command = Parser("run-benchmark", description, examples)
    if runtimes:
        default = [runtime("before"), runtime("after")]
        command.add_runtimes("runtimes [RUNTIME…]", f"{runtimes} (default: before after)", default=default)
        command.most = most
    command.add("--filter RE", f"only {what}s that match", type=pattern, default=".")
    if rounds:
        command.add("--rounds N", f"{rounds[1]} (default: {rounds[0]})", type=integer(1), default=rounds[0])
    command.add("--list", f"print the {what}s")
    command.add("--output DIR", "folder of the report", type=folder, default=str(paths.REPORT / name))
    return command


# Types of arguments.


def runtime(name: str) -> Runtime:
    from .runtimes.runtime import parse

    return parse(name)


def machine(text: str) -> str:
    """The name of a folder in benchmark/results."""
    if not re.fullmatch(r"\w[\w.+-]*", text):
        raise BadValue(f"'{text}' is not a name", "name the machine, such as vm-2-cores")
    return text


def folder(text: str) -> Path:
    import os
    from pathlib import Path

    return Path(os.path.abspath(text))


def pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        hint = "a dot matches any character; escape what is special"
        raise BadValue(f"'{text}' is not a regular expression ({error})", hint) from None
    return text


def integer(least: int = 0, most: int | None = None) -> Callable[[str], int]:
    """The type of whole numbers from `least` on, to `most` if that is given."""
    hint = f"give a number from {least}" + (f" to {most}" if most else "")

    def convert(text: str) -> int:
        if not re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
            raise BadValue(f"'{text}' is not a whole number that can be used here", hint)
        if int(text) < least:
            raise BadValue(f"{text} is less than {least}", hint)
        if most and int(text) > most:
            raise BadValue(f"{text} is more than {most}", hint)
        return int(text)

    return convert


def words(known: str) -> Callable[[str], list[str]]:
    """The type of lists such as A,B of words that are in `known`, a list of that form."""

    def convert(text: str) -> list[str]:
        found = [word.strip() for word in text.split(",")]
        for word in found:
            if word not in known.split(","):
                raise BadValue(f"there is no '{word}'", f"give some of {known}")
        if len(set(found)) < len(found):
            raise BadValue(f"'{text}' has a word twice", "name each once")
        return found

    return convert


def seconds(least: float, most: float) -> Callable[[str], float]:
    """The type of times from `least` to `most` seconds."""

    def convert(text: str) -> float:
        if not re.fullmatch(r"\d{1,6}(\.\d*)?", text) or not least <= float(text) <= most:
            raise BadValue(f"'{text}' is not a time from {least:g} to {most:g}", "give seconds")
        return float(text)

    return convert


def span(least: int = 0) -> Callable[[str], tuple[int, int]]:
    """The type of closed intervals MIN:MAX, as pairs."""

    def convert(text: str) -> tuple[int, int]:
        first, colon, last = text.partition(":")
        if not colon:
            raise BadValue(f"'{text}' is not a range", "write MIN:MAX, such as 1:5000")
        low, high = integer(least)(first), integer(least)(last)
        if low > high:
            raise BadValue(f"the minimum {low} is greater than the maximum {high}", f"did you mean {high}:{low}?")
        return low, high

    return convert


def ready(options: Namespace, *runtimes: Runtime) -> Workspace:
    """The workspace that the options of a command ask for, with these runtimes; what is missing is made."""
    from .workspace import provision

    ws = provision.ready(options)
    ensure(ws, *runtimes)
    return ws


def ensure(ws: Workspace, *runtimes: Runtime) -> None:
    """Builds what is missing or out of date of runtimes."""
    from .runtimes import build

    for one in runtimes:
        build.ensure(ws, one)


def choose(options: Namespace, known: Mapping[str, str], what: str = "row") -> list[str]:
    """The names in `known` {name: text} that --filter finds; --list prints them, and ends the command. what: what a
    name stands for."""
    names = [name for name in known if re.search(options.filter, name)]
    if not names:
        raise BadUsage(f"no {what} matches '{options.filter}'", f"run-benchmark --list prints the {what}s")
    if not options.list:
        return names
    for name in names:
        print(f"{name:24} {known[name]}".rstrip())
    sys.exit(0)


# What the Tab key offers.


def runtime_names() -> list[str]:
    from .runtimes.runtime import names

    return names()


def patch_names() -> list[str]:
    from .series import series

    return series.load().names
