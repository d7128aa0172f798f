import json
import tempfile
import unittest
from pathlib import Path

from ..base.errors import UserError
from . import description


class Load(unittest.TestCase):
    def test_the_repository_file(self) -> None:
        self.assertIn("swift-nio", description.load())

    def test_damage_is_one_line(self) -> None:
        for data, words in (
            ("[", "is damaged"),
            ("[]", "packages is missing or wrong"),
            ({}, "packages is missing or wrong"),
            ({"packages": {"one": 1}}, "packages is missing or wrong"),
            ({"packages": {"one": {"tga": "1"}}}, "unknown setting 'tga'"),
            ({"packages": {"one": {"url": "u", "tag": "1"}}}, "needs url, tag and commit together"),
            ({"packages": {"one": {"skip": "x"}}}, "is damaged"),
        ):
            with self.subTest(data=data), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "clients.json"
                path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
                with self.assertRaisesRegex(UserError, words):
                    description.load(path)
