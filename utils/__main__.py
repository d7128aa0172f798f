"""Starts a command: python3 utils COMMAND ARG…. Python puts this folder on its path by itself."""

import sys

if sys.version_info < (3, 9):
    sys.exit("error: Python 3.9 or later is needed\nhint: sudo apt install python3")

from runtime_patches import cli

cli.main(sys.argv[1], sys.argv[2:])
