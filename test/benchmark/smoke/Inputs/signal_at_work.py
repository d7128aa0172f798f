#!/usr/bin/env python3
"""signal_at_work.py SIGNAL CMD…: sends SIGNAL to CMD when it measures; prints its exit status."""

import signal
import subprocess
import sys

# A shell may have us ignore it, which the command would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
child = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE, text=True)
assert child.stderr
for line in child.stderr:
    if "measuring" in line:
        child.send_signal(getattr(signal, "SIG" + sys.argv[1]))
        break
rest = child.stderr.read()
print(f"status {child.wait()}\n{rest}")
