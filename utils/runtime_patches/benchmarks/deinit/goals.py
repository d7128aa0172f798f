"""What the experiments should show, and whether they do."""

from __future__ import annotations

from dataclasses import dataclass

from . import experiments as e
from .results import model


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
    def reached(self):
        """Whether the figure is on the right side of its limit."""
        return self.value <= self.limit if self.most else self.value >= self.limit

    @property
    def limit_text(self):
        """The limit as `≤ 0.25`."""
        return ("≤ " if self.most else "≥ ") + self.form.format(self.limit)


def goals(campaign):
    """The goals that can be judged from the runtimes of the campaign. The first is without the series.

    R² is of the least squares; coefficients are fitted to the median, because a few
    disturbed points are enough to turn a parabola.
    """
    found = []
    old, *others = campaign.names

    def fitted(name, run, params, phase="T", diff=None, robust=True):
        return model(campaign, e.Fit(run, params, diff=diff), phase, name, robust)

    def add(text, runtime, models, compute, limit, **options):
        if all(models):
            found.append(Goal(text, runtime, float(compute(*models)), limit, **options))

    def r_squared(name, run, params, phase):
        text = " and ".join(p.replace("vo", "v⋅o") for p in params.split(","))
        add(
            f"R² of {text}, {run.name}",
            name,
            [fitted(name, run, params, phase, robust=False)],
            lambda fit: fit.r_squared,
            0.9,
            most=False,
        )

    def share(name, run, params, what, v, o):
        add(
            f"share of {what}, {run.name}",
            name,
            [fitted(name, run, params)],
            lambda fit: abs(fit.shares(v, o)[0]),
            0.05,
            form="{:.1%}",
        )

    for name in campaign.names:
        for run in (e.PLAIN_ARRAY, e.NO_HOP_RESET_ARRAY, e.NO_HOP_COPY_ARRAY, e.RESET_ARRAY):
            r_squared(name, run, "o", "T")
        # Behind ballast the sender alone decides how long scheduling takes.
        for run in (e.COPY_100, e.ASYNC_COPY_ARRAY, e.TASK_COPY):
            r_squared(name, run, "vo,o", "S")
        for run in (e.RESET_OBJECTS, e.ASYNC_ARRAY, e.ASYNC_TREE):
            o = max(campaign.inputs_of(run).objects)
            share(name, run, "o2,o", f"o² at {o:,} objects", 1, o)
        for run in (e.RESET_ARRAY, e.NO_HOP_RESET_ARRAY):
            share(name, run, "vo,o", "the task-locals at v = 200", 200, 1)
    today = fitted(old, e.TASK_COPY, "vo,o", "S")
    for name in others:
        add(
            f"copying a value: isolated deinit over Task {{}} on {old}",
            name,
            [fitted(name, e.COPY_ARRAY, "vo,o", "S"), today],
            lambda a, b: a["vo"] / b["vo"],
            0.25,
        )
        add(
            "the first value, ns of scheduling",
            name,
            [fitted(name, e.COPY_V1, "o", "S", e.RESET_V1)],
            lambda fit: fit["o"],
            65,
            form="{:.0f}",
        )
        for ours, theirs in ((e.ASYNC_ARRAY, e.TASK_ARRAY), (e.ASYNC_TREE, e.TASK_TREE)):
            add(
                f"an object: {ours.benchmark} over {theirs.benchmark} on {old}",
                name,
                [fitted(name, ours, "o"), fitted(old, theirs, "o")],
                lambda a, b: a["o"] / b["o"],
                0.6,
            )
    return found
