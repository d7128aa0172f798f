"""utils/run-test: runs the tests with lit."""

from argparse import Namespace
from typing import Any

from ..cli import Parser, ensure, integer, pattern, ready


def parser() -> Parser:
    command = Parser(
        "utils/run-test",
        "Runs this repository's tests and upstream's concurrency runtime tests with lit.",
        [
            "utils/run-test",
            "utils/run-test --runtime before --filter task_local",
            "utils/run-test -v test/Concurrency/Runtime",
            "utils/run-test test/Runtime -- -j 1 --max-failures 1",
            "utils/run-test --runtime package --system trixie test/Concurrency/Runtime",
        ],
        status="0 nothing failed, 1 a test failed, or an error, 2 bad usage",
    )
    command.add_runtimes("--runtime NAME", "the runtime to test (default: after)", default="after")
    command.add(
        "--system SUITE",
        "run the tests' programs in the root file system of this release of Debian, on the packed libraries: the "
        "runtime must be package",
    )
    what = (
        "tests or folders of this repository, or else of the checkout's swift/; swift/PATH is always the checkout's. "
        "With test/Concurrency/Runtime, upstream's tests in the folder of that name run, too (default: test)"
    )
    command.add("paths [PATH…]", what)
    several: dict[str, Any] = {"action": "append", "default": []}
    command.add("--filter RE", "only tests whose name matches", type=pattern, **several)
    command.add("--filter-out RE", "no test whose name matches", type=pattern, **several)
    command.add("-D, --param NAME=VALUE", "a parameter of test/lit.cfg.py (test/README.md)", **several)
    text = "the longest that one test may run (default: 300; 0: no limit)"
    command.add("--timeout SECONDS", text, type=integer(), **several)
    command.add("-v, --verbose", "show each test, and the output of failed ones")
    command.add("-a, --show-all", "show the output of every test")
    what = "other options of lit, such as -j 1 (default: processors + 2); utils/with-runtime stock -- lit --help"
    command.take_rest("lit", "LIT OPTIONS", what)
    return command


def main(options: Namespace) -> int:
    from ..testing import lit, selection, system

    ws = ready(options)
    selection.select(ws, options.paths, options.filter, options.filter_out)  # before a long build
    place = system.find(ws, options.runtime, options.system)
    ensure(ws, options.runtime)
    given = lit.Options(**{name: vars(options)[name] for name in vars(lit.Options())})
    return lit.run(ws, options.runtime, options.paths, given, place)
