"""Runs inside the workspace: what it takes to read a file of the recorder, as utils/trace does."""

import contextlib
import io
import json
import resource
import time
from typing import Any

from ..harness import inside


def _measure(plan: dict[str, Any]) -> None:
    """Prints the seconds and megabytes that the table of plan["file"] takes, and the number of its events."""
    start = time.monotonic()
    from ...traces import inside as traces

    with contextlib.redirect_stdout(io.StringIO()):
        trace = traces.show({"file": plan["file"], "perfetto": None, "json": None, "rows": 8})
    seconds = time.monotonic() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": megabytes, "events": len(trace.kind)}), flush=True)


if __name__ == "__main__":
    inside.serve(_measure)
