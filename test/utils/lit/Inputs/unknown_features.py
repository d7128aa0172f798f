#!/usr/bin/env python3
"""unknown_features.py SWIFT TESTS < OUTPUT-OF-SHOW-SUITES: prints what the tests below the folder TESTS name in their
conditions and neither the configuration nor a test of upstream's in SWIFT/test has. Misspelt, it would go unnoticed."""

import re
import subprocess
import sys
from pathlib import Path

swift, tests = map(Path, sys.argv[1:])
known = set(sys.stdin.read().partition("Available Features: ")[2].partition("\n")[0].split())
for path in sorted(tests.rglob("*.swift")):
    lines = re.findall(r"(?m)^// (?:REQUIRES|UNSUPPORTED|XFAIL):(.*)", path.read_text())
    for feature in sorted(set(re.findall(r"[\w.=+-]+", " ".join(lines))) - known):
        # test/README.md has the few that are ours.
        theirs = rf"(REQUIRES|UNSUPPORTED|XFAIL):.*[ !(]{re.escape(feature)}([ ,)]|$)"
        if not re.match("runtime_|without_|(tsan|emulated|one_processor|no_real_time_threads)$", feature):
            if subprocess.run(["grep", "-rqE", theirs, swift / "test"]).returncode:
                print(f"{path.relative_to(tests)}: upstream has no feature {feature}")
        known.add(feature)
