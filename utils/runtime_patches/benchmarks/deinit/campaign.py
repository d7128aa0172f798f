"""Measures all datasets on several runtimes, in rounds, and goes on where it stopped."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ...base import files
from ...base.errors import UserError
from ...base.process import ended
from ...runtimes import dispatch
from ...runtimes.libraries import NAMES
from ...runtimes.runtime import Runtime, plain
from ...workspace.find import Workspace
from . import dataset, driver, fit, points
from .experiments import Inputs, Run

SEED = 1


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much of the experiments is run: every `thin`-th point, at least `least`
    points, at most `objects` objects a point, each point in as many rounds as take
    `seconds`, but in no less and no more than `rounds` says, each with `retry_ms` for
    disturbed points."""

    name: str
    thin: int
    least: int
    objects: int
    rounds: tuple[int, int]
    seconds: float
    retry_ms: int

    def inputs(self, inputs: Inputs) -> tuple[tuple[int, int], tuple[int, int], int]:
        """The (values, objects, points) that stand for `inputs`."""
        low, high = inputs.objects
        high = max(low, min(high, self.objects))
        return inputs.values, (low, high), max(self.least, inputs.points // self.thin)

    def rounds_of(self, data: dataset.Dataset) -> int:
        """How many rounds a run deserves whose first round gave `data`: an odd number,
        so that the median is a round and no mean of two. Two threads that share a queue
        stay in one of two speeds for some time (3x apart, also on an idle machine);
        which one a round meets is chance, and a median of more rounds depends less on it."""
        low, high = self.rounds
        rounds = int(self.seconds * 1e9 / max(1, sum(data.total)))
        return max(low, min(high, rounds - 1 + rounds % 2))


FULL = Scale("full", thin=5, least=200, objects=50000, rounds=(3, 9), seconds=30, retry_ms=50)
QUICK = Scale("quick", thin=100, least=60, objects=10000, rounds=(5, 5), seconds=0, retry_ms=10)


class Campaign:
    """Each round of each dataset is a file in raw/ that appears when it is complete. It is measured again when the
    program, the runtime or the points change. data/ has the datasets, and the files of their points."""

    def __init__(self, ws: Workspace, home: Path, scale: Scale, runtimes: list[Runtime]) -> None:
        self.ws, self.home, self.scale = ws, Path(home), scale
        self.runtimes = {runtime.name: runtime for runtime in runtimes}
        self.names = list(self.runtimes)
        self.raw, self.data = self.home / "raw", self.home / "data"
        for folder in (self.raw, self.data):
            folder.mkdir(parents=True, exist_ok=True)
        self.program = driver.build(ws)
        self.fitter = fit.Fitter(lambda: ws)
        self.keys = {name: self._key(runtime) for name, runtime in self.runtimes.items()}
        # The runtimes that have the benchmark, by the name of the run.
        self._able: dict[str, list[str]] = {}

    def inputs_path(self, inputs: Inputs) -> Path:
        """The file of the points that stand for `inputs`."""
        values, objects, _ = self.scale.inputs(inputs)
        name = inputs.name or f"inputs-v{values[0]}-{values[1]}-o{objects[0]}-{objects[1]}"
        return self.data / f"{name}.txt"

    def dataset_path(self, run: Run, name: str) -> Path:
        """The file of the dataset of a run on a runtime."""
        return self.data / f"{run.name}.{plain(name)}.txt"

    def load(self, run: Run, name: str) -> tuple[dataset.Inputs, dataset.Dataset] | None:
        """(inputs, dataset) of a run on a runtime; None if the runtime lacks the benchmark."""
        if not self.dataset_path(run, name).exists():
            return None
        return dataset.read_inputs(self.inputs_path(run.inputs)), dataset.read_dataset(self.dataset_path(run, name))

    def _key(self, runtime: Runtime) -> str:
        libraries = map(runtime.library, sorted((*NAMES, dispatch.NAME)))
        return files.digest("", [self.program, *(path for path in libraries if path.exists())])[:12]

    def rounds(self, runs: Sequence[Run]) -> Iterator[tuple[int, Run]]:
        """What to `measure` next, as (number of the round, run). One round of all runs
        follows the other: a state of the machine that lasts for minutes meets one round
        of many runs, and not all rounds of one."""
        for number in range(1, self.scale.rounds[1] + 1):
            for run in runs:
                if number == 1 or number <= self._count(run):
                    yield number, run

    def measure(self, number: int, run: Run) -> None:
        inputs = self.inputs_path(run.inputs)
        points.ensure(inputs, *self.scale.inputs(run.inputs), SEED)
        if number == 1:
            self._able[run.name] = self.names
        self._able[run.name] = [name for name in self._able[run.name] if self._round(run, inputs, name, number)]

    def merge(self, runs: Sequence[Run]) -> None:
        for run in runs:
            for name in self.names:
                if name in self._able[run.name]:
                    self._merge(run, name)
                else:
                    self.dataset_path(run, name).unlink(missing_ok=True)

    def _count(self, run: Run) -> int:
        """The number of rounds; by the oldest runtime: the others are not slower, as a
        rule."""
        able = self._able[run.name]
        return self.scale.rounds_of(dataset.read_dataset(self._raw_path(run, able[0], 1))) if able else 0

    def _raw_path(self, run: Run, name: str, number: int) -> Path:
        return self.raw / f"{run.name}.{plain(name)}.{number}.txt"

    def _round(self, run: Run, inputs: Path, name: str, number: int) -> bool:
        """False: the runtime lacks the benchmark."""
        path, key = self._raw_path(run, name, number), f"{self.keys[name]}-{files.sha256(inputs)[:12]}"
        label = f"{run.benchmark} {inputs.name} --ballast={run.ballast} --runtime={name} key={key}"
        if _is_complete(path, label, inputs):
            return True
        path.unlink(missing_ok=True)
        partial = path.with_suffix(".partial")
        limits = {"timeout": 60, "retry_ms": self.scale.retry_ms}
        options = {"ballast": run.ballast, "runtime": name, "label": label, **limits}
        argv = driver.command(self.program, run.benchmark, inputs, **options)
        try:
            with open(partial, "wb") as out:
                streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.PIPE}
                env = self.runtimes[name].environment(self.ws)
                status, errors = ended(self.ws.popen(argv, env=env, binds=[self.home], **streams))
            if status == 0:
                partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
        if status == driver.LACKS_MODE:
            return False
        if status:
            lines = errors.strip().splitlines() or [f"exit status {status}"]
            reason = next((line[7:] for line in lines if line.startswith("error: ")), lines[-1])
            hint = f"./run-benchmark.sh {run.benchmark} '{inputs}' --ballast={run.ballast} --runtime={name}"
            raise UserError(f"{run.benchmark} on runtime '{name}': {reason}", hint)
        return True

    def _merge(self, run: Run, name: str) -> None:
        rounds = [dataset.read_dataset(self._raw_path(run, name, number)) for number in range(1, self._count(run) + 1)]
        of_points = ([data.schedule for data in rounds], [data.total for data in rounds])
        schedule, total = ([median(times) for times in zip(*columns)] for columns in of_points)
        label = (
            f"{run.benchmark} data/{self.inputs_path(run.inputs).name} --ballast={run.ballast} --runtime={name}, "
            f"median of {len(rounds)} rounds"
        )
        dataset.write_dataset(self.dataset_path(run, name), label, schedule, total)


def _is_complete(path: Path, label: str, inputs: Path) -> bool:
    try:
        data = dataset.read_dataset(path)
    except UserError:
        return False
    return data.label == label and len(data) == len(dataset.read_inputs(inputs))
