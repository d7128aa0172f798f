"""herd7 for the litmus tests, from the distribution of the workspace: older hosts have no package of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..base import files
from ..base.errors import UserError
from ..base.progress import note
from . import cached, provision
from .find import Workspace


def starter(ws: Workspace, folder: Path) -> Path | None:
    """A program in `folder` that runs herd7 inside the workspace; None where the host's own is
    taken, or there is none to have."""
    if os.environ.get("HERD7") or shutil.which("herd7") or not ws.from_packages:
        return None
    try:
        place = cached.folder(
            ws, "herd7", "herd7, for the litmus tests (20 s)", lambda place: _fetch(ws, place), _fetch
        )
    except UserError as error:
        note(f"no herd7: {error}")
        return None
    usr = place / "usr"
    herd = ws.command([usr / "bin" / "herd7", "-set-libdir", usr / "share" / "herdtools7" / "herd"], binds=[folder])
    files.write_starter(folder / "herd7", herd)
    return folder / "herd7"


def _fetch(ws: Workspace, place: Path) -> None:
    """Downloads the package, whose signed hash apt checks, and unpacks it; its libraries are in the workspace."""
    script = "apt-get download herdtools7 && dpkg-deb -x herdtools7*.deb .."
    provision.apt(ws.cache, place / "download", "deb", script, log="herd7", failed="its package could not be fetched")
    files.remove(place / "download")
