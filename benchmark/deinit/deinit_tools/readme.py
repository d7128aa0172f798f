"""The block of README.md that holds the last result."""

from runtime_patches.errors import UserError

from . import HERE

README = HERE / "README.md"
BEGIN, END = "<!-- result: made by ./reproduce --update-readme -->", "<!-- result ends -->"


def update(block):
    """Puts `block`, with its marks, in the place of the one that README.md has."""
    text = README.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UserError(f"{README} has lost its marks", f"put '{BEGIN}' and '{END}' back")
    partial = README.with_suffix(".partial")
    partial.write_text(before + block.strip() + after, encoding="utf-8")
    partial.rename(README)
