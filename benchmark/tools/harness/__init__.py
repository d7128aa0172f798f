"""What the benchmark harnesses share."""

import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]

sys.path.insert(1, str(REPO / "utils"))  # runtime_patches: errors and paths
