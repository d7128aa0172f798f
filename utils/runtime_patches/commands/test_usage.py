"""Bad input of the commands: what is said, and what helps. The lit tests see one of each kind on a terminal."""

import contextlib
import io
import os
import re
import shlex
import tempfile
import unittest
from pathlib import Path
from types import ModuleType

from .. import cli
from ..base.errors import UserError

# Files that the rows below name.
POINTS = "1 10\n2 20\n3 30\n4 45\n"
TIMES = "# b data/in.txt --ballast=0\n#\n# schedule(ns) total(ns)\n1\t2\n3\t4\n5\t6\n7\t9\n"
FILES = {
    "in.txt": POINTS,
    "good.txt": TIMES,
    "nan.txt": TIMES.replace("5\t6", "5\tnan"),
    "more.txt": TIMES.replace("5\t6", "5\t6\t7"),
    "header.txt": TIMES.replace("total(ns)", "size"),
    "twice.txt": TIMES * 2,
    "short.txt": TIMES.replace("7\t9\n", ""),
    "other.txt": TIMES.replace("in.txt", "others.txt"),
    "empty.txt": "",
    "binary.txt": "\udcff\udcfe\0",
    "zero.txt": "1 10\n2 0\n",
    "damaged.txt": "1 2\n3\n",
    "huge.txt": "200 1000000000\n",
    "deep.txt": "20000 1\n",
    "lone/lib/swift/linux/libswift_Concurrency.so": "",
    "x:y/lib/swift/linux/libswift_Concurrency.so": "",
    "x:y/lib/swift/linux/libswiftCore.so": "",
    "empty/file": "",
    "a b/file": "",
    "other/swift/file": "",
    "own/Package.swift": "",
    "future.json": '{"verdicts": [], "format": 99}',
    "rows.json": '{"rows": []}',
    "cut.json": '{"verdicts": [',
    "name.json": '{"kind": "harness", "format": 1, "name": "../x", "title": "T"}',
    "row.json": '{"kind": "harness", "format": 1, "name": "x", "title": "", "tables": '
    '[{"title": "T", "columns": ["a"], "rows": [[]]}]}',
}
RUNTIMES = (
    "runtimes are stock, before, after, package, package-arm64, upto:PATCH, asan, tsan, ubsan, debug, chaos and "
    "before-VARIANT"
)
# Command and arguments, message, hint, each as far as it matters; and the exit status.
ROWS = (
    ("scaling/run --workers 4096", "--workers: 4096 is more than ", "give a number from 1 to ", 2),
    ("scaling/run --workers two", "--workers: 'two' is not a whole number", "", 2),
    ("scaling/run --rounds 0", "--rounds: 0 is less than 1", "give a number from 1", 2),
    ("scaling/run --filter (", "--filter: '(' is not a regular expression", "", 2),
    ("scaling/run before after stock", "3 runtimes are named", "name one or two", 2),
    ("scaling/run before tsan", "benchmarks are not compiled with a sanitizer", "utils/run-clients", 2),
    ("scaling/run no-such", "no runtime 'no-such'", RUNTIMES, 2),
    ("teardown/run --isolated-depth 31", "--isolated-depth: 31 is more than 30", "give a number from 2 to 30", 2),
    ("teardown/run --depth 1", "--depth: 1 is less than 2", "", 2),
    ("load/run --filter nope", "no row matches 'nope'", "run-benchmark --list prints the rows", 2),
    ("instructions/run --fast", "unrecognized arguments: --fast", "run-benchmark --help", 2),
    ("deinit/reproduce --runtimes before", "--runtimes: 'before' does not name different runtimes", "", 2),
    ("deinit/gen-points -v 5:1 10", "--values: the minimum 5 is greater than the maximum 1", "did you mean 1:5?", 2),
    ("deinit/gen-points -v 5 10", "--values: '5' is not a range", "write MIN:MAX", 2),
    ("deinit/gen-points -o 0:5 10", "--objects: 0 is less than 1", "", 2),
    ("deinit/gen-points 1000000000000", "points: 1,000,000,000,000 points would need about ", "are enough", 1),
    ("deinit/gen-points -o 1:1000000000000 5", "--objects: a point with 1,000,000,000,000 objects would need", "", 1),
    ("deinit/gen-points -v 0:20000 5", "--values: 20000 task-locals at once do not fit", "", 2),
    ("deinit/gen-points", "the following arguments are required: points", "gen-points.py --help", 2),
    ("deinit/regression in.txt nan.txt", "nan.txt, line 6: '5 nan' is not '", "times nanoseconds", 1),
    ("deinit/regression in.txt more.txt", "more.txt, line 6: '5 6 7' is not 'schedule(ns) total(ns)'", "", 1),
    ("deinit/regression in.txt header.txt", "header.txt has the columns schedule(ns) size, and is no dataset", "", 1),
    ("deinit/regression in.txt twice.txt", "twice.txt: a second header in line 10", "", 1),
    ("deinit/regression in.txt short.txt", "short.txt has 3 points, in.txt has 4", "", 1),
    ("deinit/regression in.txt other.txt", "other.txt was measured with others.txt (line 1), not with in.txt", "", 1),
    ("deinit/regression in.txt good.txt --diff other.txt", "other.txt was measured with others.txt", "two datasets", 1),
    ("deinit/regression in.txt good.txt -d short.txt", "short.txt has 3 points, in.txt has 4", "two datasets", 1),
    ("deinit/regression good.txt", "good.txt does not hold its inputs", "./regression.py data/in.txt good.txt", 1),
    ("deinit/regression good.txt in.txt", "good.txt has the columns schedule(ns) total(ns), and is no", "", 1),
    ("deinit/regression in.txt empty.txt", "the dataset empty.txt has no points", "", 1),
    ("deinit/regression empty.txt good.txt", "the inputs file empty.txt has no points", "", 1),
    ("deinit/regression in.txt no-such.txt", "there is no no-such.txt", "", 1),
    ("deinit/regression in.txt binary.txt", "binary.txt is damaged: it is not text", "", 1),
    ("deinit/regression zero.txt good.txt", "zero.txt, line 2: '2 0' is not 'values objects'", "objects from 1", 1),
    ("deinit/regression in.txt good.txt -p vo,x", "--params: there is no 'x'", "give some of vo2,", 2),
    ("deinit/regression in.txt good.txt -p o,o", "--params: 'o,o' has a word twice", "", 2),
    ("deinit/regression in.txt good.txt -y Z", "--phases: there is no 'Z'", "give some of S,T,E", 2),
    ("deinit/regression in.txt good.txt --min-values=9", "no point of in.txt is left", "", 1),
    ("deinit/regression in.txt good.txt --min-values=3 --max-values=2", "--min-values 3 is greater than", "", 2),
    ("deinit/regression in.txt good.txt -p vo,v,o", "4 points are too few for 3 parameters", "", 1),
    ("deinit/regression", "the following arguments are required: dataset", "regression.py --help", 2),
    ("deinit/run isolated_hop_copy in.txt", "there is no benchmark 'isolated_hop_copy'", "did you mean ", 2),
    ("deinit/run nonisolated_array", "no inputs file is named", "", 2),
    ("deinit/run in.txt", "no benchmark is named", "--list prints all", 2),
    ("deinit/run nonisolated_array no-such.txt", "there is no no-such.txt", "", 1),
    ("deinit/run nonisolated_array damaged.txt", "damaged.txt, line 2: '3' is not 'values objects'", "", 1),
    ("deinit/run isolated_hop_copy_array huge.txt", "1,000,000,000 objects would need about ", "take fewer", 1),
    ("deinit/run isolated_hop_copy_array deep.txt", "deep.txt: 20000 task-locals at once do not fit", "", 1),
    ("deinit/run nonisolated_array in.txt --balast=1", "unrecognized arguments: --balast", "--help", 2),
    ("deinit/run nonisolated_array in.txt --points=5", "both an inputs file (in.txt) and --points", "", 2),
    ("deinit/run nonisolated_array in.txt more.txt", "'more.txt' is one argument too many", "", 2),
    ("run-smoke-bench before", "1 runtime given", "give two runtimes, OLD NEW, or none for before and after", 1),
    ("run-smoke-bench before nope", "no runtime 'nope'", RUNTIMES + ", or a folder", 1),
    ("run-smoke-bench before upto:nope", "no patch 'nope' in patches/series", "", 1),
    ("run-smoke-bench before ./none", "no folder ", "give a runtime's name or folder", 1),
    ("run-smoke-bench before empty", "empty is not a runtime: it has no lib/swift/linux/lib", "utils/build-runtime", 1),
    ("run-smoke-bench 'a b' before", "/a b is not a runtime", "", 1),
    ("run-smoke-bench lone before", "lone is not a runtime: it has no lib/swift/linux/libswiftCore.so", "", 1),
    ("run-smoke-bench before x:y", "x:y holds a colon", "", 1),
    ("run-smoke-bench --filter (", "--filter: '(' is not a regular expression", "", 1),
    ("run-smoke-bench --samples 3", "--samples 3 cannot show any change", "the rank test needs 5 or more", 1),
    ("run-smoke-bench --samples many", "--samples: 'many' is not a whole number", "", 1),
    ("run-smoke-bench --show no.json", "there is no no.json", "utils/run-smoke-bench makes it", 1),
    ("run-smoke-bench --show cut.json", "cut.json is damaged: ", "utils/run-smoke-bench measures again", 1),
    ("run-smoke-bench --show rows.json", "rows.json is not a result of run-smoke-bench", "", 1),
    ("run-smoke-bench --show future.json", "future.json has format 99, this version reads 1", "", 1),
    ("run-smoke-bench --show empty", "empty is a folder", "", 1),
    ("report no.json", "there is no no.json", "give results.json of utils/run-smoke-bench", 1),
    ("report empty", "no results in empty", "give results.json", 1),
    ("report cut.json", "cut.json is damaged: ", "measure again, or leave it out", 1),
    ("report binary.txt", "binary.txt is damaged", "", 1),
    ("report rows.json", "rows.json holds no results that are known here", "give results.json", 1),
    ("report future.json", "future.json has format 99, this version reads 1", "measure again", 1),
    ("report name.json", "name.json is damaged: name is missing or wrong", "measure again", 1),
    ("report row.json", "row.json is damaged: the rows of T is missing or wrong", "measure again", 1),
    ("report --fast", "unrecognized arguments: --fast", "utils/report --help", 2),
    ("run-clients nope", "no package 'nope' is described", "there are swift-async-algorithms, ", 2),
    ("run-clients empty", "no package 'empty' is described", "for a folder: utils/run-clients --packages empty", 2),
    ("run-clients --packages none", "none: no such folder", "give a package", 1),
    ("run-clients --packages 'a b'", "a b is no package, and holds none: no Package.swift", "give a package", 1),
    ("run-clients --packages own swift-nio", "own is a package itself, and swift-nio is named, too", "", 2),
    ("run-clients --runtime after after", "--runtime names a runtime twice", "", 2),
    ("run-clients --timeout 0", "--timeout: '0' is not a time from 0.01 to 999999", "give seconds", 2),
    ("server/run --profile --filter nio", "--profile has no rows of swift-nio's own", "leave them out", 2),
    ("server/run --seconds 0", "--seconds: '0' is not a time from 0.2 to 99", "give seconds", 2),
    ("server/run --port 70000", "--port: 70000 is more than 65535", "", 2),
    ("measure", "the following arguments are required: MACHINE", "utils/measure --help", 2),
    ("measure ../x smoke", "MACHINE: '../x' is not a name", "name the machine", 2),
    ("measure vm nope", "nothing is measured by 'nope'", "the names are smoke, ", 2),
    ("prove '' asan", "MACHINE: the value is empty", "utils/prove --help", 2),
    ("doctor --checkout ''", "--checkout: the value is empty", "utils/doctor --help", 2),
    ("report ''", "FILE: the value is empty", "utils/report --help", 2),
    ("nope", "no command 'nope'", "ls utils", 2),
    ("nope/run", "no command 'benchmark/nope/run-benchmark'", "ls utils", 2),
    ("prove vm nope", "no suite 'nope'", "the suites are after, ", 2),
    ("update-figures a/b", "MACHINE: 'a/b' is not a name", "name the machine", 2),
    ("save-results ../x rows.json", "MACHINE: '../x' is not a name", "", 2),
    ("pull-request mutex-plain-futx", "no patch 'mutex-plain-futx'", "did you mean mutex-plain-futex", 2),
    ("pull-request nope", "no patch 'nope' in patches/series", "patches/series lists all", 2),
    ("build-runtime upto:nope", "no patch 'nope' in patches/series", "patches/series lists all", 2),
    ("build-runtime nope", "no runtime 'nope'", RUNTIMES, 2),
    ("check-abi before after stock", "unrecognized arguments: stock", "utils/check-abi --help", 2),
    ("apply-patches --only nope", "--only needs --checkout", "build/checkout always holds the whole series", 2),
    ("apply-patches --checkout empty", "empty is not a Swift workspace: it has no swift/", "give the folder", 1),
    ("apply-patches --checkout other", "other/swift is not a checkout of Swift", "check out swift-6", 1),
    ("check-patches --configurations nope", "no configuration 'nope'", "configurations are pthreads, c11", 2),
    ("check-patches --headers --configurations", "--headers needs no sources", "leave --headers out", 2),
    ("stress --seeds 3:1", "--seeds: '3:1' is not FIRST[:LAST]", "utils/stress --help", 2),
    ("stress --seeds 1:", "--seeds: '1:' is not FIRST[:LAST]", "utils/stress --help", 2),
    ("stress --time 0", "--time: '0' is not a time from 0.001 to 999999", "give seconds", 2),
    ("stress --runtime after", "unrecognized arguments: --runtime", "utils/stress --help", 2),
    ("trace", "give one of FILE, --record -- PROGRAM and --counters PID", "utils/trace --help", 2),
    ("trace no.trace", "no.trace cannot be read: No such file or directory", "give a file that SWIFT_TRACE wrote", 1),
    ("trace empty", "empty is a folder", "give a file that SWIFT_TRACE wrote", 1),
    ("trace rows.json", "rows.json is no trace: it does not begin with SwiftTrc", "", 1),
    ("trace --record", "--record needs a program", "utils/trace --record -- PROGRAM", 2),
    ("trace in.txt -- true", "'true' is not for --record", "", 2),
    ("trace --output x in.txt", "--output needs --record", "", 2),
    ("trace in.txt --perfetto no/x", "/no is no folder", "mkdir -p ", 1),
    ("trace --counters 99999999", "process 99999999: No such file", "give the number of a process", 1),
    ("trace --rows 0 in.txt", "--rows: 0 is less than 1", "", 2),
    ("doctor --dry-run", "--dry-run needs --clean", "", 2),
    ("with-runtime", "no runtime is named", "utils/with-runtime after -- CMD", 2),
    ("with-runtime ''", "no runtime is named", "utils/with-runtime after -- CMD", 2),
    ("with-runtime upto:nope -- true", "no patch 'nope' in patches/series", "", 2),
    ("with-runtime after", "no command is given", "", 2),
    ("with-runtime --bind /no/such stock -- true", "--bind: no folder '/no/such'", "", 2),
    ("with-runtime --toolchain / stock -- true", "/ is not a toolchain: it has no bin/swiftc", "give the", 1),
)


class BadInput(unittest.TestCase):
    def test_each_is_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for name, text in FILES.items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(text, errors="surrogateescape")
            for line, message, hint, status in ROWS:
                command, *words = shlex.split(line)
                silent = contextlib.redirect_stdout(io.StringIO())
                with self.subTest(line), self.assertRaises(UserError) as raised, silent:
                    cli._run(_module(command), words)
                found = raised.exception
                with self.subTest(line):
                    self.assertIn(message, found.message)
                    self.assertIn(hint, found.hint or "")
                    self.assertEqual(found.status, status)


def _module(command: str) -> ModuleType:
    """Of NAME, or of HARNESS/NAME; "run" is run-benchmark."""
    path = re.sub("/run$", "/run-benchmark", command)
    return cli.module_of(f"benchmark/{path}" if "/" in path else path)
