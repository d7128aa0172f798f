"""What the experiments should show, and whether they do."""

from __future__ import annotations

from dataclasses import dataclass

from .experiments import RUNS, Fit
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
        return model(campaign, Fit(run, params, diff=diff), phase, name, robust)

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
        for run in (
            RUNS["nonisolated_array-5K"],
            RUNS["isolated_no_hop_reset_array-5K"],
            RUNS["isolated_no_hop_copy_array-5K"],
            RUNS["isolated_hop_reset_array-5K"],
        ):
            r_squared(name, run, "o", "T")
        # Behind ballast the sender alone decides how long scheduling takes.
        for run in (RUNS["isolated_hop_copy_array-b100-5K"], RUNS["async_copy_array"], RUNS["task_in_deinit_array-1K"]):
            r_squared(name, run, "vo,o", "S")
        for run in (
            RUNS["isolated_hop_reset_array-vs-objects"],
            RUNS["async_array-vs-objects"],
            RUNS["async_tree-vs-objects"],
        ):
            o = max(campaign.inputs_of(run).objects)
            share(name, run, "o2,o", f"o² at {o:,} objects", 1, o)
        for run in (RUNS["isolated_hop_reset_array-5K"], RUNS["isolated_no_hop_reset_array-5K"]):
            share(name, run, "vo,o", "the task-locals at v = 200", 200, 1)
    today = fitted(old, RUNS["task_in_deinit_array-1K"], "vo,o", "S")
    for name in others:
        add(
            f"copying a value: isolated deinit over Task {{}} on {old}",
            name,
            [fitted(name, RUNS["isolated_hop_copy_array-5K"], "vo,o", "S"), today],
            lambda a, b: a["vo"] / b["vo"],
            0.25,
        )
        add(
            "the first value, ns of scheduling",
            name,
            [
                fitted(
                    name, RUNS["isolated_hop_copy_array-b5-v1-5K"], "o", "S", RUNS["isolated_hop_reset_array-b5-v1-5K"]
                )
            ],
            lambda fit: fit["o"],
            65,
            form="{:.0f}",
        )
        for ours, theirs in (
            (RUNS["async_array-vs-objects"], RUNS["task_in_deinit_array-vs-objects"]),
            (RUNS["async_tree-vs-objects"], RUNS["task_in_deinit_tree-vs-objects"]),
        ):
            add(
                f"an object: {ours.benchmark} over {theirs.benchmark} on {old}",
                name,
                [fitted(name, ours, "o"), fitted(old, theirs, "o")],
                lambda a, b: a["o"] / b["o"],
                0.6,
            )
    return found
