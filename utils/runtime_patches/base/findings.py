"""What a part of the installation is like. Each subject reports its own parts; utils/doctor prints them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

READY, MISSING, STALE, FAULT = "ready", "missing", "stale", "fault"


@dataclass
class Line:
    """One finding. hint: the command or the words that help; path: the files that it is about."""

    state: str
    name: str
    text: str = ""
    hint: Optional[str] = ""
    path: Optional[Path] = None
