"""The libraries that are shipped: built against an older system, stripped, marked, and checked (utils/package).

Each architecture has a build folder of its own, build/work/package…; its finished files are in out/ there:
lib/ (shared), static/ (archives) and debug/ (debug symbols by build ID). The cache keeps a copy of the last build.
"""

import functools
import shlex
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..base import files
from ..base.architectures import Architecture
from ..base.errors import UserError
from ..base.files import remove
from ..base.paths import BUILD, CONFIG
from ..base.process import run_logged
from ..base.progress import Step
from ..series import checkout, series, unexported
from ..workspace import sysroot, target
from ..workspace.find import Workspace
from . import dispatch, tree
from .libraries import Library

_OWN = ("package/package.cmake", "package/dispatchConfig.cmake")
_CONFIGURATION = (*_OWN, "runtime.cmake", "vendor/Settings.cmake", "dispatch.sh")
# The section by which a file says which series it is of (bin/swift-runtime-check reads it).
SECTION = ".note.swift_runtime_patches"
# The command line belongs in Core; upstream's shared build has it in a library of its own.
_COMMAND_LINE = "CommandLineSupport/CMakeFiles/swiftCommandLineSupport.dir/CommandLine.cpp.o"


class Package:
    """The libraries for an architecture."""

    def __init__(self, ws: Workspace, architecture: Architecture) -> None:
        self.ws = ws
        self.architecture = architecture
        self.target = target.Target(ws, architecture)
        self.place = BUILD / "work" / architecture.runtime
        self.out = self.place / "out"
        self.tree, self.git = tree.patched(ws)
        self.state = checkout.State(self.git)

    @functools.cached_property
    def edits(self) -> str:
        """What the sources have that patches/ has not, as text; empty if nothing."""
        return unexported.found(self.tree)

    @property
    def mark(self) -> str:
        here = series.load()
        return f"swift-runtime-patches {here.version} series {here.state}{'+edits' * bool(self.edits)}"

    def libraries(self) -> dict[str, Path]:
        return {path.name: path for path in sorted((self.out / "lib").glob("*.so"))}

    def record(self) -> dict[str, Any]:
        """What runtime.json tells of the runtime that is packed."""
        return {
            "base": self.state.base,
            "patches": self.state.applied,
            "commit": self.state.head,
            "checkout": str(self.tree),
            "series": series.load().key,
        }

    def build(self) -> None:
        """Compiles what is missing or out of date, and finishes the files."""
        kept = self._prepare({path: str(folder) for folder, path in self.target.places})
        minutes = "" if (self.place / files.MADE).exists() else " (6-10 min)"
        with Step(f"libraries to ship for {self.architecture.name}: {len(self.state.applied)} patches{minutes}"):
            tree.sync(self.ws, self.git, None, self.place)
            self._compile()
            self._finish()
            tree.keep(self.ws, self.git, self.place, kept)

    def _prepare(self, mounts: Mapping[str, str]) -> Path:
        """Makes the folders of the build, if they are not there or of another configuration. Returns the folder in
        the cache where the last build is kept."""
        text = "\0".join([str(self.ws.toolchain), self.target.triple, sysroot.SUITE])
        key = files.digest(text, map(CONFIG.joinpath, _CONFIGURATION))[:12]
        kept = self.ws.cache / f"{self.place.name}-{key}"
        stamp = {"name": self.place.name, "configuration": key, "mounts": mounts}
        if files.read_record(self.place / "stamp.json") != stamp:
            with files.replaced(self.place) as partial:
                if not tree.go_on(self.ws, kept, stamp, partial):
                    for part in ("source", "build"):
                        (partial / part).mkdir()
                    tree.copy_configuration(_CONFIGURATION, partial)
                    files.write_record(partial / "stamp.json", stamp)
        return kept

    def _compile(self) -> None:
        """Configures the build if that was not done, and builds the libraries."""
        cache = [f"-DSWIFT_TOOLCHAIN_USR:PATH={self.ws.toolchain}", f"-DSYSROOT={sysroot.SYSTEM}"]
        cache += [f"-DRESOURCES={sysroot.LIB}/swift", f"-DTRIPLE={self.target.triple}"]
        cache += ["-C", f"{tree.CONFIGURATION}/package/package.cmake"]
        configure = [] if (self.place / "build" / "build.ninja").exists() else tree.configuration(cache)
        targets = [library.name for library in tree.libraries(self.place) if not library.recipe]
        tree.compile(self.ws, self.place, self.place.name, configure=configure, targets=[*targets, _COMMAND_LINE])
        dispatch.build(self.ws, self.place, self.state.applied)

    def _finish(self) -> None:
        """Makes out/ of what was compiled, if that or the series has changed."""
        mark, made = self.mark, self.out / files.MADE
        built = dispatch.built(self.place)
        key = files.digest(mark, [Path(__file__), *built.values()])
        if files.is_made(made, key):
            return
        with files.replaced(self.out) as partial:
            for part in ("lib", "static", "debug", "notes"):
                (partial / part).mkdir()
            # Relative to the folder of the build, whose own path may hold spaces.
            inside, commands = partial.name, []
            for library in (*tree.libraries(self.place), *[dispatch.LIBRARY] * (dispatch.NAME in built)):
                stem = library.name.removesuffix(".so")
                (partial / "notes" / stem).write_bytes(note(f"{mark} of {stem}\n"))
                commands += self._shared(library, stem, inside)
                if objects := self._objects(library):
                    commands += self._static(stem, objects, inside)
            argv, failed = ["sh", "-e", "-c", "\n".join(commands)], "the libraries could not be finished"
            command = self.ws.command(argv, fixed=tree.places(self.place), cwd=self.place)
            run_logged(command, f"finish-{self.place.name}", env=self.ws.environment(), failed=failed)
            remove(partial / "notes")
            everything = [path for path in partial.rglob("*") if path.is_file()]
            files.write_intact(partial / files.MADE, {"key": key}, everything)

    def _shared(self, library: Library, stem: str, out: str) -> list[str]:
        """Commands that lay a stripped and marked library in out/lib, and its debug symbols in out/debug."""
        source, target = f"{tree.OUT}/{library.part}/{library.name}", f"{out}/lib/{library.name}"
        debug = f"{out}/debug/{library.name}.debug"
        return [
            f"llvm-objcopy --only-keep-debug {source} {debug}",
            f"llvm-objcopy --strip-unneeded --add-gnu-debuglink={debug} "
            f"--add-section {SECTION}={out}/notes/{stem} {source} {target}",
            f"chmod 755 {target}",
        ]

    def _static(self, stem: str, objects: list[str], out: str) -> list[str]:
        """Commands that lay an archive of these objects in out/static."""
        work = f"{out}/notes/{stem}.objects"
        lines = [f"mkdir {work}"]
        for number, path in enumerate(objects):
            name = f"{work}/{number:03}-{path.rpartition('/')[2]}"
            marked = ""
            # Of an archive's members every program links those that were Swift, and libdispatch's queues.
            if not path.endswith((".cpp.o", ".c.o")) or path.endswith("/queue.c.o"):
                marked = f"--add-section {SECTION}={out}/notes/{stem} --set-section-flags {SECTION}=alloc,readonly "
            lines.append(f"llvm-objcopy --strip-debug {marked}{shlex.quote(f'{tree.OUT}/{path}')} {shlex.quote(name)}")
        return [*lines, f"llvm-ar rcsD {out}/static/{stem}.a {work}/*.o"]

    def _objects(self, library: Library) -> list[str]:
        """The object files that a library is linked of; none where it is not linked into programs."""
        if library.recipe:
            return [f"{library.part}/{library.static}"] if library.static else []
        # libdispatch is a build of its own.
        inside = f"{library.part}/" if library is dispatch.LIBRARY else ""
        target = f"{library.part}/{library.name}".removeprefix(inside)
        argv = ["ninja", "-C", f"{tree.OUT}/{inside}", "-t", "commands", target]
        line = self.ws.output(argv, fixed=tree.places(self.place)).splitlines()[-1]
        found = [inside + word for word in shlex.split(line) if word.endswith(".o") and "/swiftrt.dir/" not in word]
        if not found:
            raise UserError(f"no objects of {library.name} are known", f"rm -r {shlex.quote(str(self.place))}")
        return found + ([_COMMAND_LINE] if library.part == "core" else [])


def note(text: str) -> bytes:
    """The content of an ELF note with a text."""
    name, content = b"swift-runtime-patches\0", text.encode()
    return struct.pack("<III", len(name), len(content), 1) + _padded(name) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
