"""The rounds of a variant, and what they say."""

import statistics
from dataclasses import dataclass, field

from ...results.verdicts import COLUMNS, Verdict, judge

# Reference figures of a malloc for each node and of one buffer. The benchmark was made to compare with them.
REFERENCE = [
    "reference figures, depth 26, malloc: total of the rounds 6.904, 6.455, 4.529, 6.461, 4.559 s; median "
    "generate 1.581, copy 1.873, delete 2.273 s; VM 4100 MB",
    "reference figures, depth 26, buffer: total of the rounds 2.248, 2.277, 2.242, 2.268, 2.288 s; median "
    "generate 1.063, copy 1.150, delete 0.046 s; VM 2276 MB",
]


@dataclass
class Round:
    """Times in ns, memory in bytes. waited: for a core."""

    generate: int
    copy: int
    delete: int
    virtual: int
    resident: int
    waited: int

    @property
    def total(self) -> float:
        return self.generate + self.copy + self.delete

    @property
    def disturbed(self) -> float:
        """The share of the round that its thread waited for a core."""
        return self.waited / self.total


@dataclass
class Run:
    """The rounds of a variant in a column of the comparison, each of which is a process."""

    variant: str
    column: str
    depth: int
    rounds: list[Round] = field(default_factory=list)

    def times(self, phase: str) -> list[float]:
        return [float(getattr(one, phase)) for one in self.rounds]


PHASES = ("generate", "copy", "delete", "total")


def columns(names: list[str]) -> list[str]:
    """What is measured in turn: one runtime; or two, with the first one again, whose difference is the noise."""
    return [names[0], f"{names[0]} again", names[1]] if len(names) == 2 else names


def rounds_table(runs: list[Run], quiet: float) -> tuple[list[str], list[list[str]]]:
    rows = []
    for run in runs:
        for number, one in enumerate(run.rounds, 1):
            noisy = " (noisy)" if one.disturbed > quiet else ""
            times = [f"{getattr(one, phase) / 1e6:.2f}" for phase in PHASES]
            memory = [f"{size / 1e6:.0f}" for size in (one.virtual, one.resident)]
            rows.append([run.variant, run.column, str(run.depth), f"{number}{noisy}", *times, *memory])
    return ["variant", "runtime", "depth", "round", *(f"{phase}, ms" for phase in PHASES), "VM, MB", "RSS, MB"], rows


def judged(runs: list[Run]) -> dict[str, list[Verdict]]:
    """{phase: [how each variant differs]} of the runs on two runtimes, which are in the order of their columns()."""
    trios = list(zip(runs[::3], runs[1::3], runs[2::3]))
    return {
        phase: judge({trio[0].variant: dict(zip(COLUMNS, (run.times(phase) for run in trio))) for trio in trios})
        for phase in PHASES
    }


def summary_table(runs: list[Run], names: list[str]) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) of the medians; of two runtimes also new/old, and what the old one differs by from itself."""
    header = ["variant", "depth", *(cell for name in names for cell in (f"{name}: generate, ms", *PHASES[1:]))]
    if len(names) == 1:
        shown = [[f"{statistics.median(run.times(phase)) / 1e6:.2f}" for phase in PHASES] for run in runs]
        return header, [[run.variant, str(run.depth), *cells] for run, cells in zip(runs, shown)]
    old, new = names
    rows = []
    for run, found in zip(runs[::3], zip(*judged(runs).values())):
        times = [f"{time / 1e6:.2f}" for time in (*(one.old for one in found), *(one.new for one in found))]
        compared = found[PHASES.index("delete") :]
        ratios = [f"{ratio:.2f}" for ratio in (*(one.ratio for one in compared), *(1 + one.noise for one in compared))]
        rows.append([run.variant, str(run.depth), *times, *ratios])
    return [*header, f"delete, {new}/{old}", "total", f"delete, {old} again", "total"], rows
