"""The instructions that rows of the benchmark suite take."""

import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]

sys.path.insert(1, str(REPO / "benchmark" / "tools"))  # harness
sys.path.insert(1, str(REPO / "utils"))  # runtime_patches: errors and paths
