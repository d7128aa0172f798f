"""utils/run-test: composes lit's command lines, runs them, and counts the results.

There are two runs of lit. The Swift tests, ours and upstream's, run inside the
workspace. The tests of the command-line tools run on the host, where users run the
tools: with the host's Python and the same copy of lit.
"""

import argparse
import collections
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

from . import locks, pins, progress, runtimes, series, unittest_modules
from .errors import UserError
from .progress import note
from .run import end, terminable
from .shapes import Check

TESTS = pins.REPO / "test"
TOOLS = TESTS / "utils"
DEFAULT = "test/Concurrency/Runtime"

_SUITES = ("test", "validation-test")
_FAILED = ("FAIL", "XPASS", "UNRESOLVED", "TIMEOUT")
_PASSED = ("PASS", "FLAKYPASS", "XFAIL")
_LISTING = {"--show-tests", "--show-suites", "--show-used-features"}

# lit's own options: name(s), the name of the value, what it does.
_VALUES = (
    ("-j", "--threads", "--workers", "N", "run N tests at once (default: as many as cores)"),
    ("--filter", "RE", "only tests whose name matches"),
    ("--filter-out", "RE", "no test whose name matches"),
    ("-D", "--param", "NAME=VALUE", "a parameter of test/lit.cfg.py (test/README.md)"),
    ("--timeout", "SECONDS", "the longest that one test may run (default: 300; 0: no limit)"),
    ("--max-failures", "N", "stop after N failures"),
    ("--max-tests", "N", "run at most N tests"),
    ("--max-time", "SECONDS", "stop after this time"),
    ("--max-retries-per-test", "N", "try a failed test again, up to N times"),
    ("--num-shards", "M", "split the tests into M parts and run one"),
    ("--run-shard", "N", "which part to run, from 1"),
    ("--order", "HOW", "lexical, random or smart"),
    ("--xfail", "LIST", "tests that are expected to fail, with ; between"),
    ("--xfail-not", "LIST", "tests that are not expected to fail"),
    ("-o", "--output", "FILE", "write the results as JSON"),
    ("--xunit-xml-output", "FILE", "write the results as XUnit XML"),
    ("--time-trace-output", "FILE", "write the times as a Chrome trace"),
)
_FLAGS = (
    ("-v", "--verbose", "show each test, and the output of failed ones"),
    ("-a", "--show-all", "show the output of every test"),
    ("-s", "--succinct", "a progress bar and the output of failed tests (default)"),
    ("--no-progress-bar", "no progress bar"),
    ("--time-tests", "a histogram of the times"),
    ("--no-execute", "run nothing: what would be run passes"),
    ("--ignore-fail", "exit status 0 in spite of failures"),
    ("--show-tests", "list the tests"),
    ("--show-suites", "list the suites, features and substitutions"),
    ("--show-used-features", "list the features that tests name"),
    ("--show-unsupported", "list the tests that cannot run here"),
    ("--show-xfail", "list the tests that fail as expected"),
    ("--show-pass", "list the tests that pass"),
    ("--debug", "lit's own debugging output"),
    ("--vg", "run the tests under valgrind"),
)
_FILES = {"-o", "--output", "--xunit-xml-output", "--time-trace-output"}


class _Forward(argparse.Action):
    """Collects an option of lit, with its value, in options.lit."""

    def __call__(self, parser, options, value, name=None):
        collected = list(getattr(options, "lit", None) or [])
        if self.nargs == 0:
            collected.append((name, None))
        else:
            if name in _FILES:
                value = os.path.abspath(value)
            collected.append((name, value))
        options.lit = collected


def add_options(parser):
    """Adds PATH and lit's options to the parser of run-test: options.paths, options.lit."""
    parser.add_argument("paths", metavar="PATH", nargs="*",
                        help="tests or folders of this repository, or else of the "
                        "checkout's swift/; swift/PATH is always the checkout's. Folders of "
                        f"ours bring along what upstream's {DEFAULT} has there (default: "
                        "test)")
    group = parser.add_argument_group("options of lit")
    group.set_defaults(lit=[])
    for *names, value, text in _VALUES:
        group.add_argument(*names, metavar=value, dest="lit", action=_Forward, help=text)
    for *names, text in _FLAGS:
        group.add_argument(*names, dest="lit", action=_Forward, nargs=0, help=text)


def run(ws, runtime, paths=(), lit=()):
    """Runs the tests at `paths` on a runtime that is built; returns the exit status.

    lit: pairs (option, value or None), as add_options collects them.
    """
    lit = list(lit)
    swift, tools = select(ws, paths, lit)
    own = [v.partition("=")[2] for o, v in lit if _is_output(o, v)]
    lit = [(o, v) for o, v in lit if not _is_output(o, v)]
    output = Path(own[-1]).absolute() if own else (
        pins.BUILD / "test" / runtime.replace(":", "-"))
    output.mkdir(parents=True, exist_ok=True)
    unittest = unittest_modules.ensure(ws)
    with locks.exclusive(output):
        results = _Results()
        two = bool(swift and tools)
        status = 0
        if swift:
            command = _swift_command(ws, runtime, swift, unittest, output)
            status = _lit(*command, lit, output, "swift", results)
        left = _limit(lit, results)
        if tools and left != 0:
            command = _tools_command(ws, runtime, tools, unittest, output)
            status = _lit(*command, _second(lit, left) if two else lit, output, "tools",
                          results) or status
    if {option for option, _ in lit} & _LISTING:
        return status
    return results.report(ignore=("--ignore-fail", None) in lit)


def _is_output(option, value):
    return option in ("-D", "--param") and value.startswith("test_output=")


# Which tests.


def select(ws, paths, lit):
    """(inputs of the Swift run, inputs of the tools' run); UserError without any test."""
    passes = _patterns(lit)
    swift, tools = ([place for place in places if any(map(passes, _names(ws, place)))]
                    for places in _split(ws, paths))
    if not swift and not tools:
        raise UserError("no test matches", "utils/run-test --show-tests lists the tests")
    return swift, tools


def _split(ws, paths):
    found = [place for path in paths or ["test"] for place in _find(ws, path)]
    swift, tools = [], []
    for place in found:
        if place == TOOLS or TOOLS in place.parents:
            tools.append(place)
        else:
            swift.append(place)
            if place in TOOLS.parents and TOOLS.is_dir():
                tools.append(TOOLS)
    return _outermost(swift), _outermost(tools)


def _outermost(places):
    """Without those below another one: lit would run such a test twice at once."""
    places = list(dict.fromkeys(places))
    return [p for p in places if not any(q in p.parents for q in places)]


def _find(ws, path):
    """The files and folders that PATH names: ours, or else upstream's.

    A relative folder of ours brings along what upstream's DEFAULT has there.
    """
    swift = ws.sources / "swift"
    ours = [Path.cwd() / path, pins.REPO / path]
    upstream = [] if os.path.isabs(path) else [swift / path, ws.sources / path]
    # A test in the checkout that holds the series is the same as here.
    laid = pins.BUILD / "checkout" / "swift"
    for place in map(_plain, ours):
        if laid in place.parents:
            ours = [pins.REPO / place.relative_to(laid)]
            upstream = [swift / place.relative_to(laid)]
    exists = False
    for place in map(_plain, ours + upstream):
        exists |= place.exists()
        if not place.exists():
            continue
        if place == pins.REPO:
            place = TESTS
        if place == TESTS or TESTS in place.parents:
            both = [place]
            default = swift / place.relative_to(pins.REPO)
            if place.is_dir() and not os.path.isabs(path):
                if default in (swift / DEFAULT).parents or default == swift / DEFAULT:
                    both += [p for p in [swift / DEFAULT] if p.is_dir()]
            return both
        if any(swift / suite in (place, *place.parents) for suite in _SUITES):
            return [place]
    if exists:
        raise UserError(f"'{path}' is not a folder of tests",
                        f"tests are in {TESTS} and in {swift}/test")
    raise UserError(f"no test '{path}' in this repository or in {swift}",
                    "utils/run-test --show-tests lists the tests")


def _plain(path):
    return Path(os.path.normpath(path))


def _patterns(lit):
    """A function that tells whether --filter and --filter-out let a name pass."""
    wanted, unwanted = "", None
    for option, value in lit:
        if option in ("--filter", "--filter-out"):
            try:
                re.compile(value)
            except re.error as error:
                raise UserError(f"{option} '{value}' is no regular expression: {error}",
                                "a dot matches any character; escape what is special") \
                    from None
            if option == "--filter":
                wanted = value
            else:
                unwanted = value
    return lambda name: (re.search(wanted, name, re.I) and not (
        unwanted and re.search(unwanted, name, re.I)))


def _names(ws, place):
    """Names that lit may give to the tests at `place`, to see whether a filter fits any."""
    root, suite = TESTS, "runtime-patches"
    if place == TOOLS or TOOLS in place.parents:
        root, suite = TOOLS, "tools"
    for name in _SUITES:
        upstream = ws.sources / "swift" / name
        if place == upstream or upstream in place.parents:
            root, suite = upstream, f"Swift {name}"
    if place.is_file():
        yield f"{suite} :: {place.relative_to(root)}"
    for folder, folders, files in os.walk(place):
        if place == TESTS and Path(folder) == TESTS:
            folders[:] = [f for f in folders if f not in ("upstream", "utils")]
        folders[:] = [f for f in folders if f != "Inputs"]
        for file in files:
            if not file.startswith("lit.") and not file.endswith((".md", ".py")):
                yield f"{suite} :: {os.path.relpath(os.path.join(folder, file), root)}"


# The two command lines: (argv, environment, folder).


def _swift_command(ws, runtime, inputs, unittest, output):
    parameters = {
        "swift_toolchain": ws.toolchain, "runtime": runtime,
        "runtime_libdir": runtimes.libdir(runtime), "checkout": ws.sources,
        "unittest_dir": unittest, "test_output": output,
        "without": ",".join(_missing(runtime)),
    }
    fixed = []

    def inside(path):
        """`path` as lit sees it: tests put paths into shell commands unquoted."""
        for place, plain in ((output, "/test-output"), (pins.REPO, "/runtime-patches"),
                             (ws.sources, "/swift-project"), (unittest, "/unittest")):
            if re.search(r"[^\w/.,+@=:-]", str(place)) and (
                    place == path or place in Path(path).parents):
                if (place, plain) not in fixed:
                    fixed.append((place, plain))
                return plain + str(path)[len(str(place)):]
        return str(path)

    for name in ("runtime_libdir", "checkout", "unittest_dir", "test_output"):
        parameters[name] = inside(parameters[name])
    argv = ["lit"] if ws.from_packages else _host_lit(ws)
    for name, value in parameters.items():
        if value:
            argv += ["--param", f"{name}={value}"]
    tail = []
    for place in inputs:
        for name in _SUITES:
            upstream = ws.sources / "swift" / name
            if place == upstream or upstream in place.parents:
                place = TESTS / "upstream" / name / place.relative_to(upstream)
        tail.append(inside(place))
    wrap = lambda options: ws.command([*argv, *options, *tail],  # noqa: E731
                                      fixed=fixed, binds=[output])
    return wrap, ws.environment()


def _missing(runtime):
    """The patches of the series that a runtime lacks."""
    made = runtimes.info(runtime) or {}
    return [slug for slug in series.names() if slug not in made.get("patches", [])]


def _tools_command(ws, runtime, inputs, unittest, output):
    options = []
    if not ws.from_packages:
        options = ["--checkout", str(ws.sources), "--toolchain", str(ws.toolchain)]
    elif ws.sources != ws.cache / "source":
        options = ["--checkout", str(ws.sources)]
    filecheck = _on_path(ws, "FileCheck")
    if ws.from_packages:
        # FileCheck needs the libraries that are inside.
        wrapper = output / "FileCheck"
        command = shlex.join(ws.command([filecheck], binds=[output]))
        wrapper.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        wrapper.chmod(0o755)
        filecheck = wrapper
    argv = [*_host_lit(ws), "--param", f"test_output={output}",
            "--param", f"checkout={ws.sources}", "--param", f"runtime={runtime}",
            "--param", f"unittest_dir={unittest}",
            "--param", f"workspace_options={shlex.join(options)}",
            "--param", f"filecheck={shlex.quote(str(filecheck))}"]
    env = dict(os.environ)
    if not importlib.util.find_spec("psutil"):
        env["PYTHONPATH"] = os.pathsep.join(
            [str(TOOLS / "lit_shims"), *filter(None, [env.get("PYTHONPATH")])])
    return lambda more: [*argv, *more, *map(str, inputs)], env


def _on_path(ws, name):
    """The path of one of LLVM's test tools, as seen inside."""
    for folder in ws.path.split(":"):
        for candidate in (name, *(f"{name}-{n}" for n in range(30, 14, -1))):
            path = os.path.join(folder, candidate)
            outside = path if not ws.from_packages else f"{ws.root}{path}"
            if os.path.exists(outside):
                return path
    raise UserError(f"{name} is not installed", "sudo apt install llvm-21-tools, "
                    "or put LLVM's build folder on PATH")


def _host_lit(ws):
    """The command that runs lit with this Python; it is the workspace's or upstream's."""
    places = [ws.sources / "llvm-project" / "llvm" / "utils" / "lit"]
    if ws.from_packages:
        home = Path(f"{ws.root}{pins.load()['distribution']['llvm_tools']}").parent
        places = [home / "utils" / "lit", home / "build" / "utils" / "lit", *places]
    for place in places:
        if (place / "lit" / "main.py").exists():
            start = (f"import sys; sys.path.insert(0, {str(place)!r}); sys.argv[0] = 'lit'; "
                     "from lit.main import main; main()")
            return [sys.executable, "-c", start]
    if shutil.which("lit"):
        return [shutil.which("lit")]
    raise UserError("lit is not installed", "pip install lit, or check out llvm-project "
                    f"beside {ws.sources / 'swift'}")


# Running and counting.


def _lit(command, env, lit, output, name, results):
    """One run of lit; its reports go to `results`. Returns its exit status."""
    report, total = output / f"{name}.json", output / f"{name}.xml"
    for path in (report, total):
        path.unlink(missing_ok=True)
    given = {option for option, _ in lit}
    options = []
    if not given & {"-v", "--verbose", "-a", "--show-all", "-s", "--succinct"}:
        options += ["-q"] if progress.quiet else ["-sv"]
    if "--no-execute" in given:
        options += ["--skip-test-time-recording"]
    if "--num-shards" in given and "--order" not in given:
        # The default order is by the times of the last run, which the other shards
        # have changed by then: some tests would run in no shard.
        options += ["--order", "lexical"]
    for option, value in lit:
        if option == "--timeout":
            option, value = "--param", f"timeout={value}"
        options += [option] if value is None else [option, value]
    options += ["--allow-empty-runs", "-o", str(report), "--xunit-xml-output", str(total)]
    sys.stdout.flush()
    # In a session of its own: Ctrl-C comes here alone, and then ends every test.
    quiet = "-q" in options and not given & _LISTING
    with terminable():
        process = subprocess.Popen(command(options), env=env, start_new_session=True,
                                   stdout=subprocess.DEVNULL if quiet else None)
        try:
            status = process.wait()
        except BaseException:
            end(process)
            raise
    if not given & _LISTING:
        results.add(report, total, status, outputs=quiet)
    return status


def _limit(lit, results):
    """How many failures --max-failures leaves for the second run; None: any number."""
    limits = [int(value) for option, value in lit
              if option == "--max-failures" and value.isdigit()]
    return max(0, limits[-1] - len(results.of(_FAILED))) if limits else None


def _second(lit, left):
    """lit's options for the second of two runs: other files, what is left of the limit."""
    changed = []
    for option, value in lit:
        if option in _FILES:
            path = Path(value)
            value = str(path.with_name(f"{path.stem}-tools{path.suffix}"))
        elif option == "--max-failures":
            value = str(left)
        changed.append((option, value))
    return changed


_TESTS = {"tests": [{"code": str, "name": str, "output": str}]}


def _reports(report, total):
    """(the tests in lit's JSON, how many its XML counts in all); None where one of the two
    is missing or damaged."""
    try:
        read = json.loads(report.read_text(encoding="utf-8"))
        Check(report).shape(read, _TESTS)
        suites = xml.etree.ElementTree.parse(total).getroot().iter("testsuite")
        return read["tests"], sum(int(suite.get("tests")) for suite in suites)
    except (OSError, ValueError, TypeError, RecursionError, UserError,
            xml.etree.ElementTree.ParseError):
        return None


class _Results:
    """What the runs of lit gave: names by result code."""

    def __init__(self):
        self.names = collections.defaultdict(list)
        self.not_run = 0
        self.broken = False

    def add(self, report, total, status, outputs):
        """Reads lit's JSON, and from its XML how many tests it found in all.

        outputs: whether to show the output of failed tests, which lit did not.
        """
        whole = _reports(report, total)
        if not whole:
            # An empty shard or run writes none and says so; anything else is a fault.
            self.broken |= status != 0
            return
        tests, found = whole
        for test in tests:
            self.names[test["code"]].append(test["name"])
            if outputs and test["code"] in _FAILED:
                print(f"{test['name']}\n{test['output']}")
        self.not_run += found - len(tests)
        if status > 1:
            self.broken = True

    def of(self, codes):
        return sorted(name for code in codes for name in self.names[code])

    def report(self, ignore=False):
        """Prints the failures, the expected ones, and one line of counts."""
        failed = self.of(_FAILED)
        for code in _FAILED:
            for name in sorted(self.names[code]):
                print(f"{code}: {name}")
        if self.names["XFAIL"]:
            note("failed as expected (counted as passed): "
                 + ", ".join(name.split(" :: ")[-1] for name in self.of(["XFAIL"])))
        skipped = len(self.names["UNSUPPORTED"]) + self.not_run
        print(f"{len(self.of(_PASSED))} passed, {len(failed)} failed, {skipped} skipped")
        if self.broken:
            raise UserError("lit could not run all tests", "its message is above")
        return 1 if failed and not ignore else 0
