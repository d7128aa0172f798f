#!/usr/bin/env python3
"""ask TRACE PROGRAM FOLDER -- RUNNER…: the counters of PROGRAM, from a flight recorder and from one that writes a file;
and what is left of the first one's files."""

import os
import shutil
import subprocess
import sys

trace, program, folder = sys.argv[1:4]
for value in ("1", "file"):
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    env = {**os.environ, "SWIFT_TRACE": value, "SWIFT_TRACE_SIGNAL": "USR2", "SWIFT_POOL": "1"}
    child = subprocess.Popen([*sys.argv[5:], program, "wait"], stdout=subprocess.PIPE, cwd=folder, env=env, text=True)
    try:
        assert child.stdout and child.stdout.readline() == "done\n"
        told = subprocess.check_output([trace, "--counters", str(child.pid)], text=True)
        print(f"SWIFT_TRACE={value}\n{told}left: {' '.join(os.listdir(folder)) or 'nothing'}")
    finally:
        child.kill()
        child.wait()
