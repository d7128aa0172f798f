"""The suites that prove the series: what each one runs, and its record."""

import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from ..base import files, schema
from ..base.paths import REPO, SAVED_RESULTS
from ..results import environment
from ..results.environment import Environment, State
from ..results.outcome import Table

_RUNTIME = "test/Concurrency test/Runtime"
# {name: (command, what it shows)}, in the order in which they run.
SUITES = {
    "after": ("utils/run-test", "all tests of this repository and upstream's concurrency tests"),
    "dispatch": (
        f"utils/run-test --param environment=SWIFT_POOL=0 {_RUNTIME}",
        "the tests of the runtime, on Dispatch's queues instead of the pool",
    ),
    "upstream": (
        "utils/run-test swift/test/Distributed/Runtime swift/test/stdlib/Observation",
        "upstream's tests of distributed actors and of Observation",
    ),
    "debug": (f"utils/run-test --runtime debug {_RUNTIME}", "assertions of the runtime"),
    "asan": (f"utils/run-test --runtime asan {_RUNTIME}", "memory errors and leaks"),
    "tsan": (f"utils/run-test --runtime tsan {_RUNTIME}", "data races"),
    "ubsan": (f"utils/run-test --runtime ubsan {_RUNTIME}", "undefined behaviour"),
    "chaos": (f"utils/run-test --runtime chaos {_RUNTIME}", "random delays at atomic operations"),
    "models": ("utils/run-test test/models", "models of the protocols, and that weaker orders are found"),
    "stress": ("utils/stress --seeds 1:20", "random programs print the same on before and after"),
    "clients": ("utils/run-clients", "tests of packages that others wrote lose nothing"),
    "patches": ("utils/check-patches --build", "each patch builds, and its tests pass on it"),
    "configurations": ("utils/check-patches --configurations", "other builds of the runtime compile"),
    "abi": ("utils/check-abi", "no exported symbol is removed, no layout changes that is not named"),
}
_COUNT = re.compile(r"(?m)^(\d+) passed, (\d+) failed, (\d+) skipped$")
# What lit prints of a test that has failed, which may be one of run-test itself.
_OUTPUT = re.compile(r"(?ms)^\*{20} TEST .*?^\*{20}$")
_FAILED = re.compile(r"(?m)^(?:FAIL|TIMEOUT|XPASS|UNRESOLVED): (.*)$")


@dataclass
class Proof:
    """One run of a suite. status: its exit status; passed, failed, skipped: tests, if it counts them; failures: the
    tests that failed, or the last line of a command that counts none; reason: why they failed, and why the series is
    proven nevertheless. A person adds it to the file, and the next run of the suite removes it."""

    name: str
    state: State
    started: str
    seconds: float
    status: float
    environment: Environment
    passed: Optional[float] = None
    failed: Optional[float] = None
    skipped: Optional[float] = None
    failures: list[str] = field(default_factory=list)
    reason: Optional[str] = None


@dataclass
class Proofs:
    """The last run of each suite."""

    proofs: list[Proof] = field(default_factory=list)

    def find(self, name: str) -> Optional[Proof]:
        return next((one for one in self.proofs if one.name == name), None)


def load(machine: str) -> Proofs:
    path = SAVED_RESULTS / machine / "proofs.json"
    hint = "git checkout -- benchmark/results"
    return schema.checked(Proofs, files.read_json(path, hint), path, hint) if path.exists() else Proofs()


def save(machine: str, proof: Proof) -> None:
    """Puts a proof into the file of the machine, where an older one of its name was. Removes those of suites
    that no longer exist."""
    path = SAVED_RESULTS / machine / "proofs.json"
    found = {one.name: one for one in [*load(machine).proofs, proof]}
    made = Proofs([found[name] for name in SUITES if name in found])
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, schema.dump(made))


def run(name: str) -> Proof:
    """Runs a suite, whose output goes to the screen as well."""
    started, begin, lines = environment.now(), time.monotonic(), []
    here, state = environment.here(), environment.state()
    # Not in a session of its own: Ctrl-C ends it, too.
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(SUITES[name][0].split(), cwd=REPO, text=True, errors="replace", **streams)
    assert process.stdout
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    status, text = process.wait(), "".join(lines)
    proof = Proof(name, state, started, round(time.monotonic() - begin), status, here)
    proof.passed, proof.failed, proof.skipped = counted(text)
    proof.failures = failed(text)
    if status and not proof.failures:
        proof.failures = [line.strip() for line in lines if line.strip()][-1:]
    return proof


def counted(text: str) -> Sequence[Optional[float]]:
    """[passed, failed, skipped] in the output of a suite: the sums of its runs of lit; None if it has no such lines."""
    return [sum(map(float, column)) for column in zip(*_COUNT.findall(_OUTPUT.sub("", text)))] or [None] * 3


def failed(text: str) -> list[str]:
    """The tests that failed: lit names each when it ends, with its number and its attempts, and again at the end."""
    return sorted({re.sub(r".* :: | \(\d+ of \d+.*\)$", "", line) for line in _FAILED.findall(text)})


def table(machine: str) -> Table:
    """The proofs of a machine, with a row for each suite, also for those that have not run."""
    found = load(machine)
    rows: list[list[schema.Cell]] = []
    for name, (command, what) in SUITES.items():
        proof = found.find(name)
        if proof is None:
            rows.append([name, f"`{command}`", what, "has not run", None, None])
            continue
        count = "passed" if not proof.status else "failed"
        if proof.passed is not None and proof.failed is not None and proof.skipped is not None:
            count = f"{proof.passed:.0f} passed, {proof.failed:.0f} failed, {proof.skipped:.0f} skipped"
        if proof.failures:
            count += ": " + ", ".join(proof.failures[:5]) + (f" ({proof.reason})" if proof.reason else "")
        when = f"{proof.started.partition('T')[0]}, {proof.state.patches:.0f} patches (state {proof.state.key})"
        minutes = f"{proof.seconds / 60:.0f}" if proof.seconds >= 60 else "<1"
        rows.append([name, f"`{command}`", what, count, when, minutes])
    return Table("", ["name", "command", "what it shows", "result", "of", "minutes"], rows)
