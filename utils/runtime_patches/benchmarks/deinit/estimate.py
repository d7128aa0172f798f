"""Estimates linear models; runs inside the workspace, whose Python has statsmodels.

It reads requests from standard input, one JSON object a line: columns, times, and whether to fit to the median. It
answers each with a line: coefficients, their 95 % confidence intervals, and the goodness; or with an empty object if
the columns cannot be told apart.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.quantile_regression import QuantReg


def estimate(columns: Sequence[Sequence[float]], times: Sequence[float], robust: bool) -> dict[str, Any]:
    """Least squares with standard errors that allow for noise which grows with the number of objects (HC3); or the
    fit to the median, by quantile regression."""
    y, x = numpy.array(times, float), numpy.array(columns, float).T
    # Columns of one size: o² reaches 10⁹ if the constant is 1.
    scale = abs(x).max(axis=0)
    x = x / scale
    if numpy.linalg.matrix_rank(x) < x.shape[1]:
        return {}
    # Numbers of one size are what the iterations of the quantile regression need, too.
    unit = abs(y).max() or 1.0
    found = QuantReg(y / unit, x).fit(0.5, max_iter=5000) if robust else OLS(y / unit, x).fit(cov_type="HC3")
    residuals, middle = y / unit - x @ found.params, (numpy.median if robust else numpy.mean)(y / unit)
    power = 1 if robust else 2
    spread = (abs(y / unit - middle) ** power).sum()
    goodness = 1 - (abs(residuals) ** power).sum() / spread if spread > 0 else float("nan")
    size = unit / scale
    return {
        "coefficients": list(found.params * size),
        "intervals": [list(ends) for ends in found.conf_int() * size[:, None]],
        "goodness": float(goodness),
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(estimate(**json.loads(line))), flush=True)
