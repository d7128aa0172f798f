"""utils/run-test: runs the tests with lit."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ..cli import Parser, ensure, pattern, ready

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

# lit's own options. Others are given by LIT_OPTS.
_LIT = {
    "-j, --threads, --workers N": "run N tests at once (default: as many as cores)",
    "--filter RE": "only tests whose name matches",
    "--filter-out RE": "no test whose name matches",
    "-D, --param NAME=VALUE": "a parameter of test/lit.cfg.py (test/README.md)",
    "--timeout SECONDS": "the longest that one test may run (default: 300; 0: no limit)",
    "--max-failures N": "stop after N failures",
    "--num-shards M": "split the tests into M parts and run one",
    "--run-shard N": "which part to run, from 1",
    "--order HOW": "lexical, random or smart",
    "-o, --output FILE": "write the results as JSON",
    "--xunit-xml-output FILE": "write the results as XUnit XML",
    "-v, --verbose": "show each test, and the output of failed ones",
    "-a, --show-all": "show the output of every test",
    "-s, --succinct": "a progress bar and the output of failed tests (default)",
    "--no-execute": "run no test: each one that would run counts as passed",
    "--ignore-fail": "exit status 0 in spite of failures",
    "--show-tests": "list the tests",
    "--show-suites": "list the suites, features and substitutions",
}


class _Forward(argparse.Action):
    """Collects an option of lit, with its value, in options.lit."""

    def __init__(self, metavar: Any = None, **options: Any) -> None:
        super().__init__(metavar=metavar, nargs=None if metavar else 0, **options)

    def __call__(self, parser: Any, options: Any, value: Any, name: Any = None) -> None:
        from ..testing import lit

        if name in lit.FILES:
            value = os.path.abspath(value)
        options.lit = [*options.lit, (name, value if self.metavar else None)]


def parser() -> Parser:
    made = Parser(
        "utils/run-test",
        "Runs this repository's tests and upstream's concurrency runtime tests with lit.",
        [
            "utils/run-test",
            "utils/run-test --runtime before --filter task_local",
            "utils/run-test -v test/Concurrency/Runtime",
            "utils/run-test --runtime package --system trixie test/Concurrency/Runtime",
        ],
        status="0 nothing failed, 1 a test failed, or an error, 2 bad usage",
    )
    made.add_runtimes("--runtime NAME", "the runtime to test (default: after)", default="after")
    made.add(
        "--system SUITE",
        "run the tests' programs in the root file system of this release of Debian, on the packed libraries: the "
        "runtime must be package",
    )
    what = (
        "tests or folders of this repository, or else of the checkout's swift/; swift/PATH is always the checkout's. "
        "With test/Concurrency/Runtime, upstream's tests in the folder of that name run, too (default: test)"
    )
    made.add("paths [PATH…]", what)
    group = made.add_argument_group("options of lit; its others can be given by LIT_OPTS")
    for form, text in _LIT.items():
        kind = pattern if form.startswith("--filter") else None
        made.add(form, text, group=group, dest="lit", default=[], action=_Forward, type=kind)
    return made


def main(options: Namespace) -> int:
    from ..testing import lit, selection, system

    ws = ready(options)
    selection.select(ws, options.paths, options.lit)  # before a long build
    place = system.find(ws, options.runtime, options.system)
    ensure(ws, options.runtime)
    return lit.run(ws, options.runtime, options.paths, options.lit, place)
