"""Upstream's test/ of the checkout as a test suite: `lit test/upstream/test/PATH`."""

import os

config.upstream_folder = "test"
lit_config.load_config(config, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lit.cfg.py"))
