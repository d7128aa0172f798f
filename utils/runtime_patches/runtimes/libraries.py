"""The libraries of a runtime: those that are built, compared and reported, and that take the place of the
toolchain's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Library:
    """A shared library. part: its folder below the build folder; always: whether every program with tasks loads
    it; recipe: the script in build-script-config that builds it, if upstream's Runtimes/ does not; header: a file of
    swift/, and a text in it, that only sources with the library have, None if all sources have it; static: if it has a
    recipe, the object file of its static library."""

    name: str
    part: str
    always: bool = True
    recipe: Optional[str] = None
    header: Optional[tuple[str, str]] = None
    static: Optional[str] = None

    def is_of(self, source: Path) -> bool:
        """Whether the sources in the folder `source` have it."""
        if self.header is None:
            return True
        path, text = source / self.header[0], self.header[1]
        return path.exists() and text in path.read_text()


_LIVENESS = ("stdlib/public/Concurrency/Liveness.h", "Interface")
_TRACE = ("stdlib/public/Concurrency/TracingProbes.h", "struct Recorder")
LIBRARIES = (
    Library("libswiftCore.so", "core"),
    Library("libswift_Concurrency.so", "Concurrency"),
    Library("libswiftSynchronization.so", "Synchronization", False, "synchronization.sh", static="Synchronization.o"),
    Library("libswift_Liveness.so", "Liveness", False, "observer.sh", header=_LIVENESS),
    Library("libswift_Trace.so", "Tracing", False, "observer.sh", header=_TRACE),
)
NAMES = tuple(library.name for library in LIBRARIES)
CONCURRENCY = "libswift_Concurrency.so"
