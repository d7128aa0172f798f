#!/bin/sh
# Compiles the benchmark where needed, and runs it on the chosen runtime: --help.
here=$(dirname "$(readlink -f "$0")")
PYTHONPATH=$here exec python3 -B -m deinit_tools.run_benchmark "$@"
