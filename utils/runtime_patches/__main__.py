"""Starts one of the commands in utils/: launch COMMAND ARG…"""

import sys

if sys.version_info < (3, 9):
    sys.exit("error: Python 3.9 or later is needed\nhint: sudo apt install python3")

from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from runtime_patches import errors  # noqa: E402

command = sys.argv[1]
sys.argv = ["utils/" + command, *sys.argv[2:]]
if command == "with-runtime":
    from runtime_patches.with_runtime import main
else:
    from runtime_patches import cli
    main = cli.COMMANDS[command]
errors.run_main(main)
