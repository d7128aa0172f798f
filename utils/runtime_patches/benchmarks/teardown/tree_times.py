"""The rounds of a variant, and what they say."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

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


@dataclass
class Run:
    variant: str
    runtime: str
    depth: int
    rounds: list[Round]

    @property
    def waited(self) -> float:
        """The largest share of a round that its thread waited for a core."""
        return max(one.waited / one.total for one in self.rounds)

    def median(self, phase: str) -> float:
        return float(statistics.median(getattr(one, phase) for one in self.rounds))


PHASES = ("generate", "copy", "delete", "total")


def rounds_table(runs: list[Run], quiet: float) -> tuple[list[str], list[list[str]]]:
    rows = []
    for run in runs:
        for number, one in enumerate(run.rounds, 1):
            noisy = " (noisy)" if one.waited / one.total > quiet else ""
            times = [f"{getattr(one, phase) / 1e6:.2f}" for phase in PHASES]
            memory = [f"{size / 1e6:.0f}" for size in (one.virtual, one.resident)]
            rows.append([run.variant, run.runtime, str(run.depth), f"{number}{noisy}", *times, *memory])
    return ["variant", "runtime", "depth", "round", *(f"{phase}, ms" for phase in PHASES), "VM, MB", "RSS, MB"], rows


def ratios(runs: list[Run]) -> dict[str, list[float]]:
    """{variant: [time of each phase on the second runtime over that on the first]}."""
    found = {}
    for run in runs:
        found.setdefault(run.variant, []).append(run)
    return {
        variant: [new.median(phase) / old.median(phase) for phase in PHASES] for variant, (old, new) in found.items()
    }


def summary_table(runs: list[Run], runtimes: list[str]) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) of the medians; new/old if two runtimes were measured."""
    columns = ["variant", "depth"]
    for runtime in runtimes:
        columns += [f"{runtime}: generate, ms", "copy", "delete", "total"]
    if len(runtimes) == 2:
        columns += [f"delete, {runtimes[1]}/{runtimes[0]}", "total"]
    rows = []
    compared = ratios(runs) if len(runtimes) == 2 else {}
    for variant in dict.fromkeys(run.variant for run in runs):
        found = [run for run in runs if run.variant == variant]
        row = [variant, str(found[0].depth)]
        for run in found:
            row += [f"{run.median(phase) / 1e6:.2f}" for phase in PHASES]
        # Of delete and of all.
        rows.append(row + [f"{ratio:.2f}" for ratio in compared.get(variant, ())[2:]])
    return columns, rows
