"""list_probes.py LIBRARY [--places]: prints its probes, one a line: name, number of arguments, and if it has the
semaphore; or the addresses of the probe and of its semaphore.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path


class Elf:
    """As much of a library as the notes need."""

    def __init__(self, path: str) -> None:
        self.data = Path(path).read_bytes()
        sections, size, count, names = struct.unpack_from("<Q10xHHH", self.data, 0x28)
        segments, segment_size, segment_count = struct.unpack_from("<Q14xHH", self.data, 0x20)
        raw = [struct.unpack_from("<IIQQQQ", self.data, sections + i * size) for i in range(count)]
        self.sections = {self.text(raw[names][4] + one[0]): one for one in raw}
        found = [struct.unpack_from("<IIQQQQ", self.data, segments + i * segment_size) for i in range(segment_count)]
        self.segments = [(where, address, length) for kind, _, where, address, _, length in found if kind == 1]

    def text(self, at: int) -> str:
        return self.data[at : self.data.index(0, at)].decode()

    def offset(self, address: int) -> int:
        """Where in the file an address is."""
        found = (address - begin + where for where, begin, size in self.segments if begin <= address < begin + size)
        return int(next(found))

    def probes(self) -> dict[str, tuple[int, int, str]]:
        """Location, semaphore and arguments of each probe."""
        made = {}
        _, _, _, _, at, size = self.sections[".note.stapsdt"]
        end = at + size
        while at < end:
            owner, length, kind = struct.unpack_from("<III", self.data, at)
            body = at + 12 + (owner + 3 & ~3)
            assert kind == 3 and self.text(at + 12) == "stapsdt"
            location, _, semaphore = struct.unpack_from("<QQQ", self.data, body)
            provider = self.text(body + 24)
            name = self.text(body + 25 + len(provider))
            arguments = self.text(body + 26 + len(provider) + len(name))
            assert provider == "swift_concurrency" and name not in made, name
            made[name] = (location, semaphore, arguments)
            at = body + (length + 3 & ~3)
        return made


def main() -> None:
    elf = Elf(os.path.realpath(sys.argv[1]))
    probes = elf.probes()
    assert len({semaphore for _, semaphore, _ in probes.values()}) == 1
    (section,) = (s for name, s in elf.sections.items() if name == ".probes")
    for name, (location, semaphore, arguments) in probes.items():
        if sys.argv[2:] == ["--places"]:
            print(name, location, semaphore)
            continue
        inside = section[3] <= semaphore < section[3] + section[5]
        print(name, len(arguments.split()), "semaphore" if inside else "none")


main()
