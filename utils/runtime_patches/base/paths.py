"""The folders of this repository."""

import os
import zlib
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
UTILS = REPO / "utils"
BUILD = REPO / "build"
# Of clang. Its modules name the folder that they are in, so a clone that was copied or moved has other ones.
MODULE_CACHE = BUILD / "module-cache" / f"{zlib.crc32(os.fsencode(BUILD)):08x}"
CONFIG = REPO / "build-script-config"
SHIPPED = REPO / "package"  # what the archives hold beside the libraries
PATCHES = REPO / "patches"
BENCHMARK = REPO / "benchmark"
TEST = REPO / "test"
LIVENESS = REPO / "liveness"
REPORT = BUILD / "report"
SAVED_RESULTS = BENCHMARK / "results"


def shown(path: Path) -> Path:
    """`path` as messages show it: relative to this repository if it is inside."""
    return path.relative_to(REPO) if path.is_relative_to(REPO) else path
