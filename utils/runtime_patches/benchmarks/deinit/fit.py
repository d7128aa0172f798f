"""Linear models of time by number of task-locals (v) and objects (o): least squares, or fitted to the median."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from ...base.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# Parameter: its sign in a formula, and its value for v and o.
PARAMS = {
    "vo2": ("⋅v⋅o²", lambda v, o: v * o * o),
    "vo": ("⋅v⋅o", lambda v, o: v * o),
    "v": ("⋅v", lambda v, o: v),
    "o2": ("⋅o²", lambda v, o: o * o),
    "o": ("⋅o", lambda v, o: o),
    "1": ("", lambda v, o: 1.0),
}


@dataclass
class Fit:
    """A fitted model. Coefficients are nanoseconds per unit of their parameter; intervals: of 95 % confidence,
    (low, high) for each coefficient."""

    params: list
    coefficients: list
    intervals: list
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
    def terms(self) -> Any:
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


def parse_params(text: str) -> list[str]:
    """The list of parameters in `vo,o,1`; UserError for one that does not exist."""
    params = [word.strip() for word in text.split(",")]
    for param in params:
        if param not in PARAMS:
            raise UserError(f"--params: there is no parameter '{param}'", f"the parameters are {','.join(PARAMS)}")
    if len(set(params)) != len(params):
        raise UserError(f"--params: a parameter is named twice in '{text}'", "name each once")
    return params


def _dot(one: list[float], other: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other))


class _Factors:
    """Columns as Q⋅R (modified Gram-Schmidt): Q has orthogonal columns of length 1, R is upper triangular."""

    def __init__(self, columns: list[list[float]]) -> None:
        self.q, self.r = [], [[0.0] * len(columns) for _ in columns]
        for j, column in enumerate(columns):
            rest = list(column)
            for i, unit in enumerate(self.q):
                self.r[i][j] = _dot(unit, rest)
                rest = [a - self.r[i][j] * b for a, b in zip(rest, unit)]
            self.r[j][j] = size = math.sqrt(_dot(rest, rest))
            if size < 1e-9 * math.sqrt(_dot(column, column)):
                raise ArithmeticError
            self.q.append([a / size for a in rest])

    def back(self, right: list[float]) -> list[float]:
        """x of R⋅x = right."""
        x = [0.0] * len(right)
        for i in reversed(range(len(right))):
            x[i] = (right[i] - sum(self.r[i][j] * x[j] for j in range(i + 1, len(right)))) / self.r[i][i]
        return x

    def solve(self, y: list[float]) -> list[float]:
        return self.back([_dot(unit, y) for unit in self.q])


def fit(
    params: list[str], values: Sequence[int], objects: Sequence[int], times: Sequence[float], robust: bool = False
) -> Fit:
    """Fits `times` (ns) by least squares, or to the median if `robust`.

    Goodness is 1 - SSR/SST with SST about the mean, also without a constant among the parameters: a model that is
    worse than a constant gets a negative R². The adjustment counts every parameter, the constant too. With
    `robust` both are the same ratios of absolute deviations (about the median).
    """
    y = [float(time) for time in times]
    columns = [[PARAMS[param][1](float(v), float(o)) for v, o in zip(values, objects)] for param in params]
    count = len(y)
    if count < len(params) + 2:
        what = f"{count} points are too few for {len(params)} parameters"
        raise UserError(what, "choose fewer parameters with --params, or a wider range of values and objects")
    scale = [max(map(abs, column)) for column in columns]
    for param, largest in zip(params, scale):
        if largest == 0:
            raise UserError(f"the parameter {param} is 0 at every point", f"leave {param} out of --params")
    # Columns of one size: o² reaches 10⁹ if the constant is 1.
    scaled = [[x / size for x in column] for column, size in zip(columns, scale)]
    try:
        factors = _Factors(scaled)
    except ArithmeticError:
        what = f"the parameters {','.join(params)} cannot be told apart in these points"
        raise UserError(what, "values or objects hardly vary: choose fewer parameters with --params") from None
    found = _median(scaled, y) if robust else factors.solve(y)
    residuals = [b - a for a, b in zip(_product(scaled, found), y)]
    if robust:
        deviation, middle = math.fsum(map(abs, residuals)), statistics.median(y)
        spread = math.fsum(abs(time - middle) for time in y)
    else:
        deviation, mean = _dot(residuals, residuals), math.fsum(y) / count
        spread = math.fsum((time - mean) ** 2 for time in y)
    r_squared = 1 - deviation / spread if spread > 0 else float("nan")
    adjusted = 1 - (1 - r_squared) * (count - 1) / (count - len(params) - 1)
    errors = _errors_of_median(factors, residuals) if robust else _errors(factors, residuals)
    intervals = [((c - 1.96 * e) / size, (c + 1.96 * e) / size) for c, e, size in zip(found, errors, scale)]
    return Fit(list(params), [c / size for c, size in zip(found, scale)], intervals, r_squared, adjusted, robust)


def _product(columns: list[list[float]], coefficients: list[float]) -> list[float]:
    return [sum(c * x for c, x in zip(coefficients, row)) for row in zip(*columns)]


def _errors(factors: _Factors, residuals: list[float]) -> list[float]:
    """Standard errors that allow for noise which grows with the number of objects (HC3)."""
    leverages = [sum(x * x for x in row) for row in zip(*factors.q)]
    weights = [(residual / max(1e-9, 1 - lever)) ** 2 for residual, lever in zip(residuals, leverages)]
    size = range(len(factors.q))
    meat = [[math.fsum(w * a * b for w, a, b in zip(weights, factors.q[i], factors.q[j])) for j in size] for i in size]
    half = list(zip(*(factors.back([row[i] for row in meat]) for i in size)))  # R⁻¹⋅meat
    return [math.sqrt(max(0.0, factors.back(list(half[i]))[i])) for i in size]


def _errors_of_median(factors: _Factors, residuals: list[float]) -> list[float]:
    """Standard errors of a fit to the median: by the spread of the residuals about it (Hall and Sheather)."""
    ordered, count = sorted(residuals), len(residuals)
    width = min(0.4, count ** (-1 / 3) * 1.55)
    low, high = ordered[int((0.5 - width) * (count - 1))], ordered[math.ceil((0.5 + width) * (count - 1))]
    sparsity = (high - low) / (2 * width)
    size = range(len(factors.q))
    inverse = [factors.back([float(i == j) for i in size]) for j in size]  # the columns of R⁻¹
    return [0.5 * sparsity * math.sqrt(sum(column[i] ** 2 for column in inverse)) for i in size]


def _median(columns: list[list[float]], y: list[float]) -> list[float]:
    """The coefficients with the least absolute deviations, by least squares with other weights again and again."""
    weights = [1.0] * len(y)
    found: list[float] = []
    least = 1e-6 * (max(map(abs, y)) or 1)
    for _ in range(200):
        roots = [math.sqrt(w) for w in weights]
        factors = _Factors([[x * r for x, r in zip(column, roots)] for column in columns])
        before, found = found, factors.solve([time * r for time, r in zip(y, roots)])
        if before and max(abs(a - b) for a, b in zip(before, found)) <= 1e-6 * max(map(abs, found)):
            break
        weights = [1 / max(least, abs(b - a)) for a, b in zip(_product(columns, found), y)]
    return found


def formatted(models: Any) -> Iterator[Any]:
    """One line for each phase of {phase: Fit}, in aligned columns."""
    letter = "R¹" if any(model.robust for model in models.values()) else "R²"
    rows = [[phase, *model.terms, f"{model.r_squared:.4f}", f"{model.adjusted:.4f}"] for phase, model in models.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for phase, *row in rows:
        *terms, goodness, adjusted = (cell.rjust(width) for cell, width in zip(row, widths[1:]))
        ends = f"{letter} = {goodness}, Adjusted {letter} = {adjusted}"
        yield f"{phase.ljust(widths[0])}: {' '.join(terms)}, {ends}"
