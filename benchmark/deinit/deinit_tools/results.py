"""Fits everything that a campaign has measured.

Needs numpy and statsmodels (inside.require).
"""

from __future__ import annotations

from dataclasses import dataclass

from runtime_patches.errors import UserError

from . import experiments, fit, phases


@dataclass
class Row:
    """One phase of one fit. `models` maps a runtime to its Fit; a runtime that lacks
    the benchmark is not in it."""
    section: str
    experiment: experiments.Fit
    phase: str
    models: dict

    @property
    def m1(self):
        """The M1's (formula, R²), or None."""
        return self.experiment.m1.get(self.phase)


def model(campaign, experiment, phase, name, robust=False):
    """The Fit of one experiment on one runtime; None where the runtime lacks it, or
    where the points are too few or too even for it."""
    run, diff = experiment.run, experiment.diff
    data = campaign.load(run, name)
    baseline = campaign.load(diff, name) if diff else None
    if data is None or diff and baseline is None:
        return None
    selection = phases.Selection(campaign.inputs_of(run), (experiment.min_values, None))
    times = selection.of(phases.times(phase, data, baseline))
    try:
        return fit.fit(experiment.params.split(","), selection.values, selection.objects, times,
                       robust)
    except UserError:
        return None


def rows(campaign):
    """All rows, in the order of the experiments."""
    found = []
    for section in experiments.SECTIONS:
        for experiment in section.fits:
            for phase in experiment.phases.split(","):
                models = {name: model(campaign, experiment, phase, name) for name in campaign.names}
                found.append(Row(section.title, experiment, phase,
                                 {name: m for name, m in models.items() if m}))
    return found


def ratio(row, old, new):
    """The first coefficient on `new` over that on `old`; None where one of them is
    missing, or cannot be told from 0."""
    if old not in row.models or new not in row.models:
        return None
    param = row.experiment.params.split(",")[0]
    for name in (old, new):
        low, high = row.models[name].interval(param)
        if low <= 0 <= high:
            return None
    return row.models[new][param] / row.models[old][param]
