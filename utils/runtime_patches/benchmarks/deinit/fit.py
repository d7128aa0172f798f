"""Linear models of time by number of task-locals (v) and objects (o): least squares, or fitted to the median."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base import process
from ...base.errors import UserError
from ...base.paths import UTILS
from ...workspace.find import Workspace

# Parameter: its sign in a formula, and its value for v and o.
PARAMS: dict[str, tuple[str, Callable[[float, float], float]]] = {
    "vo2": ("⋅v⋅o²", lambda v, o: v * o * o),
    "vo": ("⋅v⋅o", lambda v, o: v * o),
    "v": ("⋅v", lambda v, o: v),
    "o2": ("⋅o²", lambda v, o: o * o),
    "o": ("⋅o", lambda v, o: o),
    "1": ("", lambda v, o: 1.0),
}


class Unfit(UserError):
    """Points that a model cannot be fitted to."""


@dataclass
class Fit:
    """A fitted model. Coefficients are nanoseconds per unit of their parameter; intervals: of 95 % confidence,
    (low, high) for each coefficient."""

    params: list[str]
    coefficients: list[float]
    intervals: list[tuple[float, float]]
    r_squared: float
    adjusted: float
    robust: bool

    def __getitem__(self, param: str) -> float:
        return self.coefficients[self.params.index(param)]

    def predict(self, v: float, o: float) -> float:
        """Nanoseconds at one point."""
        return sum(c * PARAMS[p][1](v, o) for p, c in zip(self.params, self.coefficients))

    def shares(self, v: float, o: float) -> list[float]:
        """The part of the time at one point that each parameter makes up; the sum is 1."""
        parts = [c * PARAMS[p][1](v, o) for p, c in zip(self.params, self.coefficients)]
        return [part / sum(parts) for part in parts]

    def interval(self, param: str) -> tuple[float, float]:
        return self.intervals[self.params.index(param)]

    @property
    def terms(self) -> list[str]:
        """The terms of the formula: `32⋅v⋅o`, then with the sign apart: `+ 486⋅o`."""
        result = []
        for param, coefficient in zip(self.params, self.coefficients):
            # A quadratic term matters long before it rounds to 1.
            number = f"{coefficient:.3g}" if param in ("vo2", "o2") else f"{coefficient:.0f}"
            text = number + PARAMS[param][0]
            if result:
                text = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
            result.append(text)
        return result

    @property
    def formula(self) -> str:
        """The formula in one line: `32⋅v⋅o + 486⋅o`."""
        return " ".join(self.terms)


class Fitter:
    """Fits models in the workspace, whose Python has statsmodels (estimate.py): one process for all fits, which ends
    with the context. ready: returns the workspace; it is called when a fit needs it."""

    def __init__(self, ready: Callable[[], Workspace]) -> None:
        self.ready = ready
        self.child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Fitter:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child:
            process.end(self.child)

    def fit(
        self,
        params: list[str],
        values: Sequence[int],
        objects: Sequence[int],
        times: Sequence[float],
        robust: bool = False,
    ) -> Fit:
        """Fits `times` (ns) by least squares, or to the median if `robust`.

        Goodness is 1 - SSR/SST with SST about the mean, also without a constant among the parameters: a model that is
        worse than a constant gets a negative R². The adjustment counts every parameter, the constant too. With
        `robust` both are the same ratios of absolute deviations (about the median).
        """
        columns = [[PARAMS[param][1](float(v), float(o)) for v, o in zip(values, objects)] for param in params]
        count = len(times)
        if count < len(params) + 2:
            what = f"{count} points are too few for {len(params)} parameters"
            raise Unfit(what, "choose fewer parameters with --params, or a wider range of values and objects")
        for param, column in zip(params, columns):
            if not any(column):
                raise Unfit(f"the parameter {param} is 0 at every point", f"leave {param} out of --params")
        found = self._ask({"columns": columns, "times": list(times), "robust": robust})
        if not found:
            what = f"the parameters {','.join(params)} cannot be told apart in these points"
            raise Unfit(what, "values or objects hardly vary: choose fewer parameters with --params")
        adjusted = 1 - (1 - found["goodness"]) * (count - 1) / (count - len(params) - 1)
        return Fit(list(params), found["coefficients"], found["intervals"], found["goodness"], adjusted, robust)

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if not self.child:
            argv = ["python3", "-B", "-m", "runtime_patches.benchmarks.deinit.estimate"]
            self.child = self.ready().popen(argv, env={"PYTHONPATH": str(UTILS)})
        assert self.child.stdin and self.child.stdout
        line = ""
        with contextlib.suppress(BrokenPipeError):  # it has ended
            self.child.stdin.write(json.dumps(request) + "\n")
            self.child.stdin.flush()
            line = self.child.stdout.readline()
        if not line:
            hint = "its message is above; the workspace's Python needs numpy and statsmodels: utils/doctor checks it"
            raise UserError("the fit failed in the workspace", hint)
        answer: dict[str, Any] = json.loads(line)
        return answer


def formatted(models: Mapping[str, Fit]) -> Iterator[str]:
    """One line for each phase of {phase: Fit}, in aligned columns."""
    letter = "R¹" if any(model.robust for model in models.values()) else "R²"
    rows = [[phase, *model.terms, f"{model.r_squared:.4f}", f"{model.adjusted:.4f}"] for phase, model in models.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for phase, *row in rows:
        *terms, goodness, adjusted = (cell.rjust(width) for cell, width in zip(row, widths[1:]))
        ends = f"{letter} = {goodness}, Adjusted {letter} = {adjusted}"
        yield f"{phase.ljust(widths[0])}: {' '.join(terms)}, {ends}"
