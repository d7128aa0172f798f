"""The programs of harnesses: their rows, one process of them, and their report."""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import report
from ...base.errors import UserError
from ...base.process import ending
from ...base.progress import Step
from ...results.outcome import Outcome
from ...runtimes.runtime import Runtime, stock
from ...workspace.find import Workspace
from . import inside

# Hash seeds as upstream's Benchmark_Driver sets them. And glibc must not give memory back between samples. Whether it
# does depends on the block that happens to be on top of the heap. That made single rows 50 % slower on either side.
# The user's own values win.
VARIABLES = {
    "SWIFT_DETERMINISTIC_HASHING": "1",
    "SWIFT_BACKTRACE": "enable=off",
    "GLIBC_TUNABLES": f"glibc.malloc.trim_threshold={64 << 20}",
}
NO_PART = "there is no table of a part; --filter leaves a row out"


def rows(ws: Workspace, program: Path) -> dict[str, str]:
    """{row: what the program says of it}."""
    hint = f"rm '{program}'; the same command compiles it again"
    text = output(ws, stock(), [str(program), "--list"], program.name, hint)
    return dict(line.split("\t") for line in text.splitlines())


def output(ws: Workspace, runtime: Runtime, argv: Sequence[str], what: str, hint: str = NO_PART, **options: Any) -> str:
    """The standard output of one process on a runtime; UserError if it fails, or does not end in time. what: it is, in
    the error; options: of subprocess.run."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    try:
        done = runtime.run(ws, argv, check=False, **streams, **options)
    except subprocess.TimeoutExpired as late:
        raise UserError(f"{what} on {runtime} did not end within {late.timeout:g} s", hint) from None
    if done.returncode:
        raise UserError(f"{what} on {runtime} {ending(done.returncode, done.stderr or done.stdout)}", hint)
    text: str = done.stdout
    return text


def samples(
    ws: Workspace, module: str, plan: Mapping[str, Any], count: int, unit: str, binds: Iterable[Path] = ()
) -> list[dict[str, Any]]:
    """What the program `module` measures for `plan`, inside the workspace: so many dictionaries; UserError if a process
    fails. unit: what one is, in the step that is shown."""
    taken = []
    with Step(f"{count} {unit}") as step:
        for sample in inside.events(ws, module, plan, binds):
            if "failed" in sample:
                raise UserError(sample["failed"], NO_PART)
            taken.append(sample)
            step.text = f"{len(taken)} of {count} {unit}"
    if len(taken) != count:
        raise UserError(f"the sampler ended after {len(taken)} of {count} {unit}", "its messages are above")
    return taken


def show(outcome: Outcome, folder: Path, left: int = 1) -> None:
    """Prints the tables and the notes of an Outcome, writes it to `folder`, and renews the page of all results."""
    for table in outcome.tables:
        print(table.text(left), end="\n\n")
    for note in outcome.notes:
        print(note)
    outcome.write(folder)
    report.renew(folder)
    print(folder / "report.md")
