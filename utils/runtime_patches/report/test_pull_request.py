"""The text of a pull request: its paragraphs are lines, and lists stay."""

import unittest

from .pull_request import _unwrapped


class Unwrapped(unittest.TestCase):
    def test_a_wrapped_line_is_no_item(self) -> None:
        self.assertEqual(
            _unwrapped("With 8 or\n16. They get it.\n- 3 is\nless."), "With 8 or 16. They get it. - 3 is less."
        )

    def test_lists_stay(self) -> None:
        for first in ("", "Two\ncases:\n", "Text\nof its own.\n\n"):
            with self.subTest(first):
                found = _unwrapped(f"{first}1. one\n   and more\n2. two\n10. ten")
                self.assertTrue(found.endswith("1. one\n   and more\n2. two\n10. ten"), found)

    def test_what_is_indented_stays(self) -> None:
        self.assertEqual(_unwrapped("So:\n\n    a\n    b\n\nand\nso on"), "So:\n\n    a\n    b\n\nand so on")
