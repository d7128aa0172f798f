"""The patch series: patches/series is the order, and each patch is a file beside it."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ..base import files, pins
from ..base.errors import BadUsage, UserError
from ..base.paths import CONFIG, PATCHES, REPO, shown
from ..base.text import nearest
from .patch import NAME, Patch

# The files of this repository that are copied to the same paths in a Swift checkout: (folder, pattern).
_COPIED = (
    ("test/Concurrency", "**/*"),
    ("test/Runtime", "**/*"),
    ("test/programs", "**/*"),
    ("benchmark/single-source", "*.swift"),
    ("liveness/include", "*"),  # what tests of the monitor compile
    ("liveness/samples", "*"),
    ("tracing/include", "*"),
    ("tracing/samples", "*"),
)
COPIED_FOLDERS = tuple(folder for folder, _ in _COPIED)

# How the libraries are compiled.
_SETTINGS = ("runtime.cmake", "vendor/Settings.cmake")


class Series:
    """names: of the patches in order. Their files are read when they are needed, once."""

    def __init__(self, folder: Path | str = PATCHES) -> None:
        self.folder = Path(folder)
        self.order = self.folder / "series"
        self.names = self._names()
        self._patches: dict[str, Patch] = {}

    def __iter__(self) -> Iterator[Patch]:
        return (self.patch(name) for name in self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _names(self) -> list[str]:
        found = []
        for number, line in enumerate(_text(self.order).splitlines(), 1):
            slug = line.split("#")[0].strip()
            if not slug:
                continue
            place = f"{shown(self.order)}:{number}: '{slug}'"
            if not re.fullmatch(NAME, slug):
                raise UserError(f"{place} is not a patch name", "names are lower-case words joined by hyphens")
            if slug in found:
                raise UserError(f"{place} is listed twice", "remove one of the two lines")
            found.append(slug)
        return found

    def path(self, slug: str) -> Path:
        return self.folder / f"{slug}.patch"

    @functools.cached_property
    def version(self) -> str:
        """The version of the series: that of Swift, and a number that grows with each release of the patches. Archives
        and libraries have it."""
        path = self.folder / "version"
        found = _text(path).strip()
        if not re.fullmatch(rf"{re.escape(pins.load().swift.version)}-rp[1-9][0-9]*", found):
            what = f"{shown(path)}: '{found}' is no version of the series"
            raise UserError(what, f"such as {pins.load().swift.version}-rp1: Swift's version, and a number")
        return found

    @property
    def files(self) -> list[Path]:
        """The patch files that exist, listed or not."""
        return sorted(self.folder.glob("*.patch"))

    def patch(self, slug: str) -> Patch:
        """The Patch of that name; UserError if it is missing or not a patch."""
        if slug not in self._patches:
            path = self.path(slug)
            if not path.exists():
                what = f"{shown(self.order)} lists '{slug}', but {shown(path)} does not exist"
                raise UserError(what, "add the file or remove the line")
            self._patches[slug] = Patch(slug, _text(path), path)
        return self._patches[slug]

    def check(self, name: str) -> None:
        if name not in self.names:
            hint = f"{nearest(name, self.names)}{shown(self.order)} lists all"
            raise BadUsage(f"no patch '{name}' in {shown(self.order)}", hint)

    def select(self, only: Collection[str] = ()) -> list[Patch]:
        """All patches in order, or those named in `only` (in the series' order)."""
        for slug in only:
            self.check(slug)
        return [self.patch(slug) for slug in self.names if not only or slug in only]

    @functools.cached_property
    def key(self) -> str:
        """A hash of everything that apply-patches puts on a checkout."""
        return _hash([self.order, *self.files, *copied_files().values()])

    @functools.cached_property
    def patches_key(self) -> str:
        """A hash of the patches alone, without tests and benchmarks."""
        return _hash([self.order, *self.files])

    @functools.cached_property
    def state(self) -> str:
        """A short name for the libraries that the series makes: a hash of its diffs and libdispatch's in order, and of
        the settings with which they are compiled. Headers and comments are not in it, so a figure in a header
        does not make every measurement one of another state."""
        dispatch = self.folder / "dispatch"
        patches = [*self, *(Series(dispatch) if dispatch.exists() else ())]
        settings = (_text(CONFIG / path).splitlines() for path in _SETTINGS)
        compiled = [line for lines in settings for line in lines if not line.startswith("#")]
        digest = hashlib.sha256("\0".join([*(patch.diff for patch in patches), *compiled]).encode())
        return digest.hexdigest()[:12]


@functools.cache
def load() -> Series:
    return Series()


def _text(path: Path) -> str:
    return files.read_text(path, f"git checkout -- {shown(path)}")


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def copied_files() -> dict[str, Path]:
    """{path in swift/: our file} of the tests and benchmark entries."""
    return {
        str(path.relative_to(REPO)): path
        for ours, pattern in _COPIED
        for path in sorted((REPO / ours).glob(pattern))
        if path.is_file() and path.suffix != ".pyc"
    }
