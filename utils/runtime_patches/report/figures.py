"""The figures in the headers of patches: `Benchmark:` names rows of the suite, whose times are those of the records."""

from __future__ import annotations

import re
import statistics
import textwrap
from collections.abc import Collection

from ..results.comparison import Comparison
from ..results.table import number
from ..series.patch import Patch

_WORDS = {"faster": "", "slower": "", "perhaps": " (perhaps slower)", "same": " (in the noise)"}
MOST = 3  # rows in a header; the records have the rest
_FIELD = re.compile(r"^Benchmark:[ \t]*(.*\n(?:[ \t]+\S.*\n)*)", re.M)
_FIGURE = re.compile(r"\b([A-Z]\w*(?:\.\w+)+)\s+[\d.,]*\d(?:/[\d.,]*\d)?")


def rows(text: str, known: Collection[str]) -> list[str]:
    """The known rows whose figures a text has, each once. After `Name.First 1/2`, or `Name.First 1`, the text may say
    `Part.Second 3/4` for `Name.Part.Second`."""
    found: list[str] = []
    for name in _FIGURE.findall(text):
        first = found[-1].partition(".")[0] if found else ""
        row = next((one for one in (name, f"{first}.{name}") if one in known), None)
        if row and row not in found:
            found.append(row)
    return found


def header(patch: Patch, result: Comparison, machine: str) -> str | None:
    """The text of the file of a patch with the recorded figures of its first rows; None if its `Benchmark:` does not
    tell the times of rows of the suite in us, before/after, or after alone if before lacks them."""
    present = patch.fields.get("Benchmark", "")
    if re.match(r"before/after\b.* us\b", present):
        what = "before/after the whole series"
        verdicts = {row.name: row for row in result.verdicts}
        shown = {name: f"{number(row.old)}/{number(row.new)}{_WORDS[row.verdict]}" for name, row in verdicts.items()}
        named = rows(present, shown)
        # A row that loses is among those that are shown.
        named.sort(key=lambda name: verdicts[name].verdict not in ("slower", "perhaps"))
    elif re.match(r"after\b.* us\b", present):
        what = "after, since before lacks these rows,"
        shown = {row.name: number(statistics.median(row.values)) for row in result.one_sided if row.side == "new"}
        named = rows(present, shown)
    else:
        return None
    if not named:
        return None
    figures = ", ".join(f"{name} {shown[name]}" for name in named[:MOST])
    text = f"Benchmark: {what} in us ({machine}/smoke.json): {figures}"
    lines = textwrap.wrap(text, 80, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
    return _FIELD.sub("\n".join(lines) + "\n", patch.text, count=1)
