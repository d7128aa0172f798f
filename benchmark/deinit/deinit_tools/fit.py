"""Linear models of time by number of task-locals (v) and objects (o).

Needs numpy and statsmodels (inside.require).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy
from runtime_patches.errors import UserError
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.quantile_regression import QuantReg

# Parameter: its sign in a formula, and its column for values v and objects o.
PARAMS = {
    "vo2": ("⋅v⋅o²", lambda v, o: v * o * o),
    "vo": ("⋅v⋅o", lambda v, o: v * o),
    "v": ("⋅v", lambda v, o: v),
    "o2": ("⋅o²", lambda v, o: o * o),
    "o": ("⋅o", lambda v, o: o),
    "1": ("", lambda v, o: numpy.ones_like(o)),
}


@dataclass
class Fit:
    """A fitted model. Coefficients are nanoseconds per unit of their parameter."""
    params: list
    coefficients: list
    intervals: list          # 95 % confidence: (low, high) for each coefficient
    r_squared: float
    adjusted: float
    robust: bool

    def __getitem__(self, param):
        return self.coefficients[self.params.index(param)]

    def predict(self, values, objects):
        """Nanoseconds for arrays of values and objects."""
        return design(self.params, values, objects) @ numpy.asarray(self.coefficients)

    def shares(self, values, objects):
        """The part of the time at one point that each parameter makes up; the sum is 1."""
        parts = design(self.params, [values], [objects])[0] * self.coefficients
        return parts / parts.sum()

    def interval(self, param):
        """The 95 % confidence interval of one coefficient."""
        return self.intervals[self.params.index(param)]


def parse_params(text):
    """The list of parameters in `vo,o,1`; UserError for one that does not exist."""
    params = [word.strip() for word in text.split(",")]
    for param in params:
        if param not in PARAMS:
            raise UserError(f"--params: there is no parameter '{param}'",
                            f"the parameters are {','.join(PARAMS)}")
    if len(set(params)) != len(params):
        raise UserError(f"--params: a parameter is named twice in '{text}'", "name each once")
    return params


def design(params, values, objects):
    """The matrix with a row for each point and a column for each parameter."""
    v, o = (numpy.asarray(column, dtype=float) for column in (values, objects))
    return numpy.column_stack([PARAMS[param][1](v, o) for param in params])


def fit(params, values, objects, times, robust=False):
    """Fits `times` (ns) by least squares, or to the median when `robust`.

    Goodness is 1 - SSR/SST with SST about the mean, also without a constant among
    the parameters: a model that is worse than a constant gets a negative R². The
    adjustment counts every parameter, the constant too. With `robust` both are the
    same ratios of absolute deviations (about the median).
    """
    y = numpy.asarray(times, dtype=float)
    matrix = design(params, values, objects)
    _check(params, matrix)
    # Columns of one size: o² reaches 10⁹ where the constant is 1.
    scale = numpy.abs(matrix).max(axis=0)
    if robust:
        with warnings.catch_warnings():
            # Going round in a circle of equally good fits ends the search, too.
            warnings.simplefilter("ignore")
            result = QuantReg(y, matrix / scale).fit(q=0.5, max_iter=5000)
        deviation, spread = numpy.abs(result.resid).sum(), numpy.abs(y - numpy.median(y)).sum()
    else:
        # Noise grows with the number of objects: intervals that allow for it.
        result = OLS(y, matrix / scale).fit(cov_type="HC3")
        deviation, spread = (result.resid ** 2).sum(), ((y - y.mean()) ** 2).sum()
    r_squared = 1 - deviation / spread if spread > 0 else float("nan")
    points, freedom = len(y), len(y) - len(params) - 1
    adjusted = 1 - (1 - r_squared) * (points - 1) / freedom
    return Fit(list(params), list(result.params / scale),
               [tuple(pair) for pair in result.conf_int() / scale[:, None]],
               float(r_squared), float(adjusted), robust)


def _check(params, matrix):
    points = len(matrix)
    if points < len(params) + 2:
        raise UserError(f"{points} points are too few for {len(params)} parameters",
                        "choose fewer parameters with --params, or a wider range of values and objects")
    size = numpy.abs(matrix).max(axis=0)
    for param, largest in zip(params, size):
        if largest == 0:
            raise UserError(f"the parameter {param} is 0 at every point",
                            f"leave {param} out of --params")
    if numpy.linalg.matrix_rank(matrix / size) < len(params):
        raise UserError(f"the parameters {','.join(params)} cannot be told apart in these points",
                        "values or objects hardly vary: choose fewer parameters with --params")


def _number(param, coefficient):
    # A quadratic term matters long before it rounds to 1.
    return f"{coefficient:.3g}" if param in ("vo2", "o2") else f"{coefficient:.0f}"


def terms(model):
    """The terms of the formula: `32⋅v⋅o`, then with the sign apart: `+ 486⋅o`."""
    result = []
    for param, coefficient in zip(model.params, model.coefficients):
        text = _number(param, coefficient) + PARAMS[param][0]
        if result:
            text = f"- {text[1:]}" if text.startswith("-") else f"+ {text}"
        result.append(text)
    return result


def formula(model):
    """The formula in one line: `32⋅v⋅o + 486⋅o`."""
    return " ".join(terms(model))


def formatted(models):
    """One line for each phase of {phase: Fit}, in aligned columns."""
    letter = "R¹" if any(model.robust for model in models.values()) else "R²"
    rows = [[phase, *terms(model), f"{model.r_squared:.4f}", f"{model.adjusted:.4f}"]
            for phase, model in models.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        phase = row[0].ljust(widths[0])
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append(f"{phase}: {' '.join(cells[:-2])}, {letter} = {cells[-2]}, "
                     f"Adjusted {letter} = {cells[-1]}")
    return lines
