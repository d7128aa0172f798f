"""The tests of the harnesses: as those of the other tools."""

import os

config.tools_suite = "benchmark"
lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "utils", "lit.cfg.py"))
