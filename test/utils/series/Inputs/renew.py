#!/usr/bin/env python3
"""renew.py SOURCES [refuse]: makes build/checkout of the repository whose utils/ is on PYTHONPATH, or brings it up to
date. SOURCES holds the unpatched swift/. refuse: fails as measure and prove do if it has what patches/ has not."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from runtime_patches.base import errors
from runtime_patches.series import own_checkout, unexported

ws: Any = SimpleNamespace(sources=Path(sys.argv[1]))
errors.run_main(lambda: unexported.refuse(ws) if sys.argv[2:] else own_checkout.renew(ws))
