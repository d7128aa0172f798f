#!/usr/bin/env python3
"""make_trace.py FILE [LENGTH | --tasks N]: writes the trace of the program that the unit tests know, or its first
bytes; or one of N tasks on two threads, each resumed by the other thread before the run in which it waits has ended."""

import sys
from pathlib import Path

from runtime_patches.traces import test_traces

path = Path(sys.argv[1])
if sys.argv[2:3] == ["--tasks"]:
    path.write_bytes(test_traces.overtaking(int(sys.argv[3])))
else:
    path.write_bytes(test_traces.program()[: int(sys.argv[2]) if sys.argv[2:] else None])
