"""The models of the protocols, which run on the host: as the tests of the tools.

They need g++, relacy and herd7; what is not there is left out, and said.
"""

import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
config.tools_suite = "models"
lit_config.load_config(config, os.path.join(HERE, "..", "utils", "lit.cfg.py"))
config.suffixes = [".cpp", ".litmus", ".test"]

compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or ""
probe = f"echo '#include <relacy/relacy.hpp>' | '{compiler}' -std=c++17 -w -fsyntax-only -x c++ - 2>/dev/null"
if compiler and os.system(probe) == 0:
    config.available_features.add("relacy")
else:
    lit_config.note("models are left out: no C++ compiler with relacy (hint: apt install g++ relacy-dev)")
herd = os.environ.get("HERD7") or shutil.which("herd7")
if herd:
    config.available_features.add("herd7")
else:
    lit_config.note(
        "litmus tests are left out: no herd7, and none was to be had for the workspace"
        " (hint: apt install herdtools7, in Debian 13 and later, or opam install herdtools7)"
    )

quote = "'{}'".format


def tool(name, *words):
    """The command of a program in Inputs."""
    return " ".join(["%python -B", quote(os.path.join(HERE, "Inputs", name)), *words])


config.environment["CXX"] = compiler
config.substitutions = [
    ("%check-model", tool("check_model.py", "'%s'", "'%t'")),
    ("%check-orders", tool("check_orders.py")),
    ("%mutate", tool("mutate.py")),
    ("%herd7", tool("run_herd.py", quote(herd or "herd7"))),
    *config.substitutions,
]
