"""Starts a command: python3 utils/__main__.py COMMAND ARG…. Python puts this folder on its path by itself."""

import sys

if sys.version_info < (3, 9):
    sys.exit("error: Python 3.9 or later is needed\nhint: sudo apt install python3")

command, *arguments = sys.argv[1:] or [""]
if command == "with-runtime":  # without argparse: it starts for every program
    from runtime_patches.base import errors
    from runtime_patches.commands import with_runtime

    sys.argv[0] = command
    errors.run_main(lambda: with_runtime.start(arguments))
else:
    from runtime_patches import cli

    cli.main(command, arguments)
