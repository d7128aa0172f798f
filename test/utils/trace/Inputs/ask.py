#!/usr/bin/env python3
"""ask TRACE PROGRAM FOLDER -- RUNNER…: the counters of PROGRAM, from a flight recorder and from one that writes a file;
and what is left of the first one's files. The program begins in FOLDER, and is in another one by then. Five ask."""

import os
import shutil
import subprocess
import sys

trace, program, folder = sys.argv[1:4]
for value in ("1", "[1] file"):
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    env = {**os.environ, "SWIFT_TRACE": value, "SWIFT_TRACE_SIGNAL": "USR2", "SWIFT_POOL": "1", "PWD": folder}
    child = subprocess.Popen([*sys.argv[5:], program, "wait"], stdout=subprocess.PIPE, cwd=folder, env=env, text=True)
    try:
        assert child.stdout and child.stdout.readline() == "done\n"
        argv = [trace, "--counters", str(child.pid)]
        asking = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(5)]
        told = [one.communicate()[0] for one in asking][-1]
        assert not any(one.returncode for one in asking)
        print(f"SWIFT_TRACE={value}\n{told}left: {' '.join(os.listdir(folder)) or 'nothing'}")
    finally:
        child.kill()
        child.wait()
