"""The load benchmark: what waits in great number for an actor, and threads that come and go."""

import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]

sys.path.insert(1, str(REPO / "benchmark" / "tools"))  # harness
sys.path.insert(1, str(REPO / "utils"))  # runtime_patches: errors and paths
