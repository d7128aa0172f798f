"""While something is measured."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ...base import locks
from ...base.errors import UserError
from ...base.paths import REPORT
from ...series import series


@contextlib.contextmanager
def alone(home: Path | None = None) -> Iterator[None]:
    """While the block runs, no other command of this clone measures, which would disturb both, or replaces programs in
    the folder `home`. Results are of the state that the series has now, also if patches are edited meanwhile."""
    with locks.exclusive(REPORT), locks.exclusive(home) if home else contextlib.nullcontext():
        with contextlib.suppress(UserError):  # a damaged patch: who reads the state says so
            _ = series.load().state
        yield
