"""What the experiments should show, and whether they do.

Needs numpy and statsmodels (inside.require).
"""

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


def _fits(campaign, name, run, params, phase="T", diff=None):
    return model(campaign, e.Fit(run, params, diff=diff), phase, name)


def goals(campaign, old, feature, new):
    """The goals that can be judged from the runtimes of the campaign.

    old: without the series; feature: with the first patch that copies task-locals and
    runs async deinits (None if it was not measured); new: with the whole series.
    """
    found = []

    def add(text, runtime, compute, limit, **options):
        try:
            found.append(Goal(text, runtime, compute(), limit, **options))
        except (TypeError, AttributeError):
            pass    # a model is missing: the runtime lacks the benchmark

    for name in [n for n in (old, feature, new) if n]:
        # Off the actor, the total is a race of two threads; on the releasing thread
        # it is a sum of costs.
        for run in (e.PLAIN_ARRAY, e.NO_HOP_RESET_ARRAY, e.NO_HOP_COPY_ARRAY, e.RESET_ARRAY):
            add(f"R² of o, {run.benchmark}", name,
                lambda run=run: _fits(campaign, name, run, "o").r_squared, 0.9, most=False)
        for run in (e.COPY_100, e.ASYNC_COPY_ARRAY, e.TASK_COPY):
            add(f"R² of v⋅o and o, {run.name}", name,
                lambda run=run: _fits(campaign, name, run, "vo,o", "S").r_squared, 0.9, most=False)
        for run in (e.RESET_OBJECTS, e.ASYNC_ARRAY, e.ASYNC_TREE):
            add(f"share of o² at 50,000 objects, {run.benchmark}", name,
                lambda run=run: abs(_fits(campaign, name, run, "o2,o").shares(1, 50000)[0]), 0.05,
                form="{:.1%}")
        for run in (e.RESET_ARRAY, e.NO_HOP_RESET_ARRAY):
            add(f"share of the task-locals at v = 200, {run.benchmark}", name,
                lambda run=run: abs(_fits(campaign, name, run, "vo,o").shares(200, 1)[0]), 0.05,
                form="{:.1%}")
    for name in [n for n in (feature, new) if n]:
        add(f"copying a value: isolated deinit over Task {{}} on {old}", name,
            lambda: _fits(campaign, name, e.COPY_ARRAY, "vo,o", "S")["vo"]
            / _fits(campaign, old, e.TASK_COPY, "vo,o", "S")["vo"], 0.25)
        add("the first value, ns when scheduling", name,
            lambda: _fits(campaign, name, e.COPY_V1, "o", "S", e.RESET_V1)["o"], 65, form="{:.0f}")
        for ours, theirs in ((e.ASYNC_ARRAY, e.TASK_ARRAY), (e.ASYNC_TREE, e.TASK_TREE)):
            add(f"an object: {ours.benchmark} over {theirs.benchmark} on {old}", name,
                lambda a=ours, b=theirs: _fits(campaign, name, a, "o")["o"]
                / _fits(campaign, old, b, "o")["o"], 0.6)
    return found
