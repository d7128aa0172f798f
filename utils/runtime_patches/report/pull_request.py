"""The text of a pull request for each patch: utils/pull-request."""

import re
import statistics
from collections.abc import Collection, Mapping

from ..base.errors import UserError
from ..base.paths import REPORT
from ..base.schema import Cell
from ..results.outcome import Table
from ..results.table import number
from ..series import series
from ..series.patch import Patch
from . import read
from .groups import Group, groups

_SENT = {
    "Backport": "upstream has it",
    "Denied": "upstream has refused it",
    "Inappropriate": "it is not meant for upstream",
}


def text(slugs: Collection[str]) -> str:
    """The pull requests of the patches `slugs`, or of all that are still to be sent: a title, an empty line, and
    the description as Markdown. UserError if one of `slugs` is not for upstream."""
    patches = series.load().select(slugs)
    for patch in patches:
        if slugs and (reason := _SENT.get(patch.upstream[0])):
            status = f"Upstream-Status: {patch.fields['Upstream-Status']}"
            raise UserError(f"{patch.slug} is not to be sent: {reason}", status)
    chosen = [patch for patch in patches if patch.upstream[0] not in _SENT]
    if not chosen:
        raise UserError("no patch is left to be sent", "each header's Upstream-Status: says why")
    measured = _measured()
    return ("\n" + "-" * 72 + "\n\n").join(_request(patch, measured) for patch in chosen)


def _request(patch: Patch, measured: Mapping[str, Group]) -> str:
    parts, listed = [patch.subject, _unwrapped(patch.why)], series.load()
    before = listed.names[: listed.names.index(patch.slug)]
    if below := [f"`{slug}`" for slug in before if set(listed.patch(slug).files) & set(patch.files)]:
        parts.append(f"Stands on {', '.join(below)} of the same series, which changes the same files.")
    parts += ["### ABI and memory", f"ABI: {patch.fields['ABI']}", f"Memory: {patch.fields['Memory']}"]
    parts += ["### Tests", _tests(patch), "### Benchmarks", patch.fields["Benchmark"]]
    if patch.slug in measured:
        parts.append(_table(measured[patch.slug]))
    return "\n\n".join(parts) + "\n"


def _unwrapped(why: str) -> str:
    """Paragraphs as one line each: line ends count in pull requests. Lists and what is
    indented stay."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", why.strip()):
        lines, in_list = [], False
        for line in paragraph.splitlines():
            # A wrapped line may begin with a number, too: a list begins its paragraph, or follows a colon.
            is_item = re.match(r"[-*|] |\d+\. ", line) and (in_list or not lines or lines[-1].endswith(":"))
            in_list = in_list or bool(is_item)
            if lines and not is_item and not line[0].isspace() and not lines[-1].startswith("  "):
                lines[-1] += " " + line
            else:
                lines.append(line)
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def _tests(patch: Patch) -> str:
    if not patch.tests and not patch.guards:
        return patch.fields["Test"]
    lines = [f"- `{path}`" for path in patch.tests] + [f"- `{path}` (passes before, too)" for path in patch.guards]
    return "\n".join(lines) + "\n\nThey run unchanged in the test suite."


def _measured() -> dict[str, Group]:
    """{slug: Group} of results that tell what one patch alone gives."""
    try:
        results = read.load_all([REPORT])[0]
    except UserError:
        return {}
    return {group.step: group for group in groups(results) if group.step}


def _table(group: Group) -> str:
    lines: list[list[Cell]] = []
    changed = {name for name, _, verdict in group.combined() if verdict != "same"}
    for name, entries in group.rows().items():
        if name in changed:
            medians = (statistics.median(getattr(v, key) for _, v in entries) for key in ("old", "new", "floor"))
            old, new, floor = medians
            lines.append([name, number(old), number(new), f"{new / old:.2f}", f"{floor:.1%}"])
    table = Table("", ["row, us", "before", "after", "after/before", "noise floor"], lines)
    rest = len(group.rows()) - len(changed)
    machines = "; ".join(dict.fromkeys(str(run.data.environment) for run in group.runs))
    said = f"{rest} other rows did not change" if changed else f"None of {rest} rows changed"
    return (table.markdown() + "\n\n" if changed else "") + f"{said}: interleaved samples, rank test, {machines}."
