"""Fits everything that a campaign has measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import experiments, phases
from .campaign import Campaign
from .fit import Fit, Unfit


@dataclass
class PhaseFits:
    """One phase of one fit. `models` maps a runtime to its Fit; a runtime that lacks the benchmark is not in it."""

    section: str
    experiment: experiments.Fit
    phase: str
    models: dict[str, Fit]

    @property
    def m1(self) -> str | None:
        """The M1's formula and R² as text, or None."""
        found = self.experiment.m1.get(self.phase)
        return f"{found[0]} ({found[1]:.2f})" if found else None

    def ratio(self, old: str | None, new: str) -> float | None:
        """The first coefficient on `new` over that on `old`; None if one of them is missing, or cannot be told
        from 0."""
        if old is None or old not in self.models or new not in self.models:
            return None
        param = self.experiment.params.split(",")[0]
        for name in (old, new):
            low, high = self.models[name].interval(param)
            if low <= 0 <= high:
                return None
        return self.models[new][param] / self.models[old][param]


def points(
    campaign: Campaign, experiment: experiments.Fit, phase: str, name: str
) -> tuple[phases.Selection, list[float]] | None:
    """(the selected points, their times) of one experiment on one runtime; None if the runtime lacks it."""
    diff = experiment.diff
    found, baseline = campaign.load(experiment.run, name), campaign.load(diff, name) if diff else None
    if not found or diff and not baseline:
        return None
    inputs, data = found
    selection = phases.Selection(inputs, (experiment.min_values or 0, math.inf))
    return selection, selection.of(phases.times(phase, data, baseline and baseline[1]))


def model(campaign: Campaign, experiment: experiments.Fit, phase: str, name: str, robust: bool = False) -> Fit | None:
    """The Fit of one experiment on one runtime; None if the runtime lacks it, or if the points are too few or too
    even for it."""
    found = points(campaign, experiment, phase, name)
    if not found:
        return None
    try:
        return campaign.fitter.fit(experiment.params.split(","), found[0].values, found[0].objects, found[1], robust)
    except Unfit:
        return None


def rows(campaign: Campaign) -> list[PhaseFits]:
    found = []
    for section, fits in experiments.load()[1].items():
        for experiment in fits:
            for phase in experiment.phases.split(","):
                models = {name: model(campaign, experiment, phase, name) for name in campaign.names}
                found.append(PhaseFits(section, experiment, phase, {name: m for name, m in models.items() if m}))
    return found
