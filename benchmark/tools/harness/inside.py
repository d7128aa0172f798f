"""Python with numpy, statsmodels and matplotlib: here, or in the project's workspace."""

import importlib.util
import os
import subprocess
import sys

from runtime_patches.errors import UserError

from . import REPO

_MARK = "BENCHMARK_INSIDE"
_MATPLOTLIB = str(REPO / "build" / "matplotlib")


def python(*modules, binds=()):
    """The start of a command line: Python that has `modules`, and that sees the folders
    `binds` as well as this one, the repository and the temporary folder."""
    if all(importlib.util.find_spec(name) for name in modules):
        return [sys.executable]
    return [str(REPO / "utils" / "with-runtime"), *(f"--bind={folder}" for folder in binds), "stock", "--",
            "python3"]


def draw(module, home, folder):
    """Draws the plots of folder/results.json there with `module`, which lies in `home`."""
    subprocess.run([*python("matplotlib", binds=[folder]), "-B", "-m", module,
                    str(folder / "results.json"), str(folder)], cwd=home, check=True,
                   env={**os.environ, "PYTHONPATH": str(home), "MPLCONFIGDIR": _MATPLOTLIB})


def require(*modules):
    """Returns if `modules` can be imported; otherwise starts this command anew in the
    workspace, which has them."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return
    with_runtime = REPO / "utils" / "with-runtime"
    if os.environ.get(_MARK):
        raise UserError(f"Python has no {', '.join(missing)}",
                        f"pip install {' '.join(missing)}, or utils/update-checkout")
    paths = [os.path.abspath(word.partition("=")[2] or word) for word in sys.argv[1:]]
    binds = {path if os.path.isdir(path) else os.path.dirname(path)
             for path in paths if os.path.exists(path)}
    sys.stdout.flush()
    os.environ[_MARK] = "1"
    os.environ.setdefault("MPLCONFIGDIR", _MATPLOTLIB)
    os.execv(with_runtime, [str(with_runtime), *(f"--bind={path}" for path in sorted(binds)),
                            "stock", "--", "python3", "-B", os.path.abspath(sys.argv[0]),
                            *sys.argv[1:]])
