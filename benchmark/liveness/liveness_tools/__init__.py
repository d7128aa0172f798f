"""The liveness benchmark: marks, scopes and looks of the monitor, by number of threads."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
REPO = HERE.parents[1]

sys.path.insert(1, str(REPO / "benchmark" / "tools"))  # harness
sys.path.insert(1, str(REPO / "utils"))  # runtime_patches: errors and paths
