"""What is packed: the same bytes, whatever the files are like besides; marks; versions."""

import hashlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

from . import archive, elf, gates, package


class Archive(unittest.TestCase):
    def packed(self, folder: Path, names: list[str], time: int, mode: int) -> bytes:
        content: dict[str, Path | bytes] = {"manifest.json": b"{}"}
        for name in names:
            path = folder / name.replace("/", "-")
            path.write_text(name)
            os.utime(path, (time, time))
            path.chmod(mode)
            content[name] = path
        out = io.BytesIO()
        archive.write_tar(out, "package", content)
        return out.getvalue()

    def test_same_files_give_same_bytes(self) -> None:
        names = ["lib/libswiftCore.so", "LICENSE", "bin/swift-runtime-check"]
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            first = self.packed(Path(one), names, 1, 0o600)
            self.assertEqual(first, self.packed(Path(other), names[::-1], 2_000_000_000, 0o777))

    def test_lists(self) -> None:
        content: dict[str, Any] = archive.with_lists({"lib/b": b"b", "LICENSE": b"a"}, {"swift": "6.2.3"})
        self.assertEqual(list(content), sorted(content))
        sums = dict(reversed(line.split("  ")) for line in content["SHA256SUMS"].decode().splitlines())
        self.assertEqual(sums, {n: hashlib.sha256(w).hexdigest() for n, w in content.items() if n != "SHA256SUMS"})


class Gates(unittest.TestCase):
    def test_folders(self) -> None:
        with tempfile.TemporaryDirectory() as place:
            texts = {"sound": b"/swift-build/a.cpp", "other": b"\0/home/clone2\0", "named": b"\0/home/clone/a.cpp\0"}
            for name, text in texts.items():
                Path(place, name).write_bytes(text)
            found = gates.folders({name: Path(place, name) for name in texts}, ["/home/clone", "/cache"])
            self.assertEqual(list(found), ["named names the folder /home/clone"])


class Marks(unittest.TestCase):
    def test_note_is_padded(self) -> None:
        for text in ("", "a", "abcd", "swift-runtime-patches 6.2.3 series 0 of libswiftCore\n"):
            made = package.note(text)
            self.assertEqual(len(made) % 4, 0)
            self.assertIn(text.encode(), made)
            self.assertEqual(int.from_bytes(made[4:8], "little"), len(text))


class Versions(unittest.TestCase):
    def test_newest(self) -> None:
        one = elf.parse(
            "  1: 0 0 FUNC GLOBAL DEFAULT UND a@GLIBC_2.4\n  2: 0 0 FUNC GLOBAL DEFAULT UND b@GLIBC_2.34 (3)"
        )
        self.assertEqual(elf.newest([one], "GLIBC"), "2.34")
        self.assertIsNone(elf.newest([one], "GLIBCXX"))

    def test_symbols(self) -> None:
        one = elf.parse(
            "Num: Value Size Type Bind Vis Ndx Name\n"
            "  1: 0 0 FUNC GLOBAL DEFAULT UND needed\n"
            "  2: 0 0 FUNC WEAK DEFAULT UND may_be_missing\n"
            "  3: 1 0 FUNC GLOBAL DEFAULT 11 given\n"
            "  4: 1 0 TLS LOCAL DEFAULT 11 local\n"
        )
        self.assertEqual((one.imports, one.weak, one.exports), ({"needed"}, {"may_be_missing"}, {"given"}))
