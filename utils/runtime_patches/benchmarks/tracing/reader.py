"""Runs inside the workspace: what it takes to read a file of the recorder, as utils/trace does."""

import contextlib
import io
import resource
import time
from collections.abc import Iterator
from typing import Any

from ..harness import inside


def _measure(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The seconds and megabytes that the table of plan["file"] takes, the number of its events, and the bytes of the
    chunks that hold them: the end of the file may be empty."""
    start = time.monotonic()
    from ...traces import header
    from ...traces import inside as traces

    with contextlib.redirect_stdout(io.StringIO()):
        trace = traces.show({"file": plan["file"], "perfetto": None, "json": None, "rows": 8})
    seconds = time.monotonic() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    written = sum(1 for _ in header.chunks(plan["file"], header.EVENTS, 64)) * header.read(plan["file"]).chunk_size
    yield {"seconds": seconds, "megabytes": megabytes, "events": len(trace.kind), "bytes": written}


if __name__ == "__main__":
    inside.serve(_measure)
