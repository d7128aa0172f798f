"""What the experiments should show, and whether they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .campaign import Campaign
from .experiments import Fit, load
from .fit import Fit as Model
from .fits import model


@dataclass
class Goal:
    """`value` compared with `limit`; `most`: it must not be above, else not below."""

    text: str
    runtime: str
    value: float
    limit: float
    most: bool = True
    form: str = "{:.2f}"

    @property
    def reached(self) -> bool:
        return self.value <= self.limit if self.most else self.value >= self.limit

    @property
    def cells(self) -> list[str]:
        """Its row in a table."""
        limit = ("≤ " if self.most else "≥ ") + self.form.format(self.limit)
        verdict = "✓ reached" if self.reached else "✗ missed"
        return [self.text, self.runtime, limit, self.form.format(self.value), verdict]


# R² of a model: the run, its parameters, the phase. Behind ballast the sender alone decides how long scheduling takes.
_EXPLAINED = (
    ("nonisolated_array-5K", "o", "T"),
    ("isolated_no_hop_reset_array-5K", "o", "T"),
    ("isolated_no_hop_copy_array-5K", "o", "T"),
    ("isolated_hop_reset_array-5K", "o", "T"),
    ("isolated_hop_copy_array-b100-5K", "vo,o", "S"),
    ("async_copy_array", "vo,o", "S"),
    ("task_in_deinit_array-1K", "vo,o", "S"),
)
# What should hardly grow: with the square of the number of objects, and with the task-locals.
_LINEAR = ("isolated_hop_reset_array-vs-objects", "async_array-vs-objects", "async_tree-vs-objects")
_WITHOUT_VALUES = ("isolated_hop_reset_array-5K", "isolated_no_hop_reset_array-5K")


def goals(campaign: Campaign) -> list[Goal]:
    """The goals that can be judged from the runtimes of the campaign. The first is without the series.

    R² is of the least squares; coefficients are fitted to the median, because a few
    disturbed points are enough to turn a parabola.
    """
    found, runs = [], load()[0]
    old, *others = campaign.names

    def fitted(
        name: str, run: str, params: str, phase: str = "T", diff: str | None = None, robust: bool = True
    ) -> Model | None:
        return model(campaign, Fit(runs[run], params, diff=runs[diff] if diff else None), phase, name, robust)

    def add(
        text: str, runtime: str, models: list[Model | None], value: Callable[..., float], limit: float, **options: Any
    ) -> None:
        if all(models):
            found.append(Goal(text, runtime, float(value(*models)), limit, **options))

    for name in campaign.names:
        for run, params, phase in _EXPLAINED:
            words = " and ".join(param.replace("vo", "v⋅o") for param in params.split(","))
            models = [fitted(name, run, params, phase, robust=False)]
            add(f"R² of {words}, {run}", name, models, lambda fit: fit.r_squared, 0.9, most=False)
        for run in (*_LINEAR, *_WITHOUT_VALUES):
            if run in _LINEAR:
                v, o = 1, campaign.scale.inputs(runs[run].inputs)[1][1]
                params, what = "o2,o", f"o² at {o:,} objects"
            else:
                v, o, params, what = 200, 1, "vo,o", "the task-locals at v = 200"
            models = [fitted(name, run, params)]
            add(f"share of {what}, {run}", name, models, lambda fit: abs(fit.shares(v, o)[0]), 0.05, form="{:.1%}")
    today = fitted(old, "task_in_deinit_array-1K", "vo,o", "S")
    for name in others:
        what = f"copying a value: isolated deinit over Task {{}} on {old}"
        models = [fitted(name, "isolated_hop_copy_array-5K", "vo,o", "S"), today]
        add(what, name, models, lambda a, b: a["vo"] / b["vo"], 0.25)
        first = fitted(name, "isolated_hop_copy_array-b5-v1-5K", "o", "S", "isolated_hop_reset_array-b5-v1-5K")
        add("the first value, ns of scheduling", name, [first], lambda fit: fit["o"], 65, form="{:.0f}")
        for kind in ("array", "tree"):
            what = f"an object: async_{kind} over task_in_deinit_{kind} on {old}"
            task = fitted(old, f"task_in_deinit_{kind}-vs-objects", "o")
            models = [fitted(name, f"async_{kind}-vs-objects", "o"), task]
            add(what, name, models, lambda a, b: a["o"] / b["o"], 0.6)
    return found
