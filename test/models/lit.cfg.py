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
if (
    compiler
    and os.system(
        f"echo '#include <relacy/relacy.hpp>' | '{compiler}' -std=c++17 -w -fsyntax-only -x c++ - 2>/dev/null"
    )
    == 0
):
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

inputs = os.path.join(HERE, "Inputs")
quote = "'{}'".format
config.substitutions = [
    # Compiled once: the orders are arguments.
    (
        "%check-model",
        f"{quote(compiler)} -std=c++17 -O1 -w -I {quote(inputs)} -o '%t' '%s' && "
        f"%{{python}} -B {quote(os.path.join(inputs, 'check_model.py'))} '%s' '%t'",
    ),
    ("%check-orders", f"%{{python}} -B {quote(os.path.join(inputs, 'check_orders.py'))}"),
    ("%mutate", f"env CXX={quote(compiler)} %{{python}} -B {quote(os.path.join(inputs, 'mutate.py'))}"),
    ("%herd7", quote(herd or "herd7")),
    *config.substitutions,
]
