"""Measures all datasets on several runtimes, in rounds, and goes on where it stopped."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import subprocess
from pathlib import Path
from statistics import median

from runtime_patches import runtimes
from runtime_patches.errors import UserError

from . import dataset, driver, points

SEED = 1


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much of the experiments is run: every `thin`-th point, at least `least`
    points, at most `objects` objects a point, each point in `rounds` rounds, each with
    `retry_ms` for disturbed points."""
    name: str
    thin: int
    least: int
    objects: int
    rounds: int
    retry_ms: int

    def inputs(self, inputs):
        """The (values, objects, points) that stand for `inputs`."""
        low, high = inputs.objects
        high = max(low, min(high, self.objects))
        return inputs.values, (low, high), max(self.least, inputs.points // self.thin)


FULL = Scale("full", thin=5, least=200, objects=50000, rounds=3, retry_ms=50)
QUICK = Scale("quick", thin=100, least=60, objects=10000, rounds=3, retry_ms=10)
SCALES = {scale.name: scale for scale in (FULL, QUICK)}


class Results:
    """What has been measured: data/ below `home` has a dataset for each run and each of
    the runtimes `names`, but none where a runtime lacks the benchmark."""

    def __init__(self, home, scale, names):
        self.home, self.scale, self.names = Path(home), scale, list(names)
        self.data = self.home / "data"

    def load(self, run, name):
        """The dataset of `run` on runtime `name`; None where there is none."""
        path = self.path(run, name)
        return dataset.read_dataset(path) if path.exists() else None

    def inputs_of(self, run):
        """The points of a run."""
        return dataset.read_inputs(self.inputs_path(run.inputs))

    def path(self, run, name):
        """The file of a dataset."""
        return self.data / f"{run.name}.{name.replace(':', '-')}.txt"

    def inputs_path(self, inputs):
        """The file of the points that stand for `inputs`."""
        values, objects, _ = self.scale.inputs(inputs)
        name = inputs.name or f"inputs-v{values[0]}-{values[1]}-o{objects[0]}-{objects[1]}"
        return self.data / f"{name}.txt"


class Campaign(Results):
    """Measures. Each round of each dataset is a file in raw/ that appears when it is
    whole, and is measured again when the program, the runtime or the points change."""

    def __init__(self, home, scale, names):
        super().__init__(home, scale, names)
        self.raw = self.home / "raw"
        for folder in (self.raw, self.data):
            folder.mkdir(parents=True, exist_ok=True)
        self.program = driver.build()
        self.keys = {name: self._key(name) for name in names}

    def _key(self, name):
        digest = hashlib.sha256(self.program.read_bytes())
        for library in sorted(runtimes.LIBRARIES):
            digest.update((runtimes.libdir(name) / library).read_bytes())
        return digest.hexdigest()[:12]

    def measure(self, run):
        """Measures one dataset on all runtimes, a round of each in turn, and lays the
        median of the rounds for each point in data/."""
        inputs = self._write_inputs(run.inputs)
        able = list(self.names)
        for number in range(1, self.scale.rounds + 1):
            able = [name for name in able if self._round(run, inputs, name, number)]
        for name in self.names:
            if name in able:
                self._merge(run, inputs, name)
            else:
                self.path(run, name).unlink(missing_ok=True)

    def _write_inputs(self, inputs):
        path = self.inputs_path(inputs)
        text = "\n".join(points.lines(*self.scale.inputs(inputs), SEED)) + "\n"
        if not path.exists() or path.read_text() != text:
            partial = path.with_suffix(".partial")
            partial.write_text(text)
            partial.rename(path)
        return path

    def _raw_path(self, run, name, number):
        return self.raw / f"{run.name}.{name.replace(':', '-')}.{number}.txt"

    def _round(self, run, inputs, name, number):
        """False: the runtime lacks the benchmark."""
        path = self._raw_path(run, name, number)
        points_key = hashlib.sha256(inputs.read_bytes()).hexdigest()[:12]
        label = (f"{run.benchmark} {inputs.name} --ballast={run.ballast} --runtime={name} "
                 f"key={self.keys[name]}-{points_key}")
        if _is_whole(path, label, inputs):
            return True
        path.unlink(missing_ok=True)
        partial = path.with_suffix(".partial")
        argv = driver.command(self.program, name, run.benchmark, inputs, ballast=run.ballast,
                              retry_ms=self.scale.retry_ms, label=label)
        try:
            with open(partial, "wb") as out:
                status, errors = _run(argv, out)
            if status == 0:
                partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
        if status == driver.LACKS_MODE:
            return False
        if status:
            lines = errors.strip().splitlines() or [f"exit status {status}"]
            reason = next((line[7:] for line in lines if line.startswith("error: ")), lines[-1])
            raise UserError(f"{run.benchmark} on runtime '{name}': {reason}",
                            f"./run-benchmark.sh {run.benchmark} '{inputs}' "
                            f"--ballast={run.ballast} --runtime={name}")
        return True

    def _merge(self, run, inputs, name):
        rounds = [dataset.read_dataset(self._raw_path(run, name, number))
                  for number in range(1, self.scale.rounds + 1)]
        columns = [[median(times) for times in zip(*(getattr(data, phase) for data in rounds))]
                   for phase in ("schedule", "total")]
        label = (f"{run.benchmark} data/{inputs.name} --ballast={run.ballast} --runtime={name}, "
                 f"median of {len(rounds)} rounds")
        path = self.path(run, name)
        dataset.write_dataset(path, dataset.Dataset(str(path), label, *columns, inputs=None))


def _is_whole(path, label, inputs):
    try:
        data = dataset.read_dataset(path)
    except UserError:
        return False
    return data.label == label and len(data) == len(dataset.read_inputs(inputs))


def _run(argv, out):
    """Runs a measurement; ends it when this process is told to end. Returns its exit
    status and what it wrote to standard error."""
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, errors = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    return process.returncode, errors
