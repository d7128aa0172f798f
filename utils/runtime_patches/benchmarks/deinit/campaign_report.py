"""The result of a campaign as an Outcome, like that of every other harness."""

from collections.abc import Sequence

from ...base.schema import Cell
from ...results import outcome
from ...results.outcome import Curve, Points
from . import fits, goals
from .campaign import Campaign
from .fit import Fit
from .phases import PHASES, Selection


def make(campaign: Campaign) -> outcome.Outcome:
    """The Outcome of everything that a campaign has measured. Its runtimes are in order, the oldest one
    first."""
    names, rows, scale = campaign.names, fits.rows(campaign), campaign.scale
    options = " --quick" * (scale.name == "quick") + f" --runtimes {','.join(names)}"
    result = outcome.begin("deinit", "Isolated and async deinit", f"benchmark/deinit/reproduce{options}")
    found = goals.goals(campaign)
    reached = sum(goal.reached for goal in found)
    result.summary.append(f"{reached} of {len(found)} goals are reached.")
    result.table("Goals", ["what", "runtime", "goal", "here", ""], [goal.cells for goal in found])
    columns = ["experiment", "command", "phase", "M1 (R²)", *(f"{n} (R²)" for n in names), "ratio"]
    result.table("Experiments", columns, _lines(rows, names))
    first, last = names[0], names[-1]
    least, most = scale.rounds
    rounds = f"{least} to {most}" if least < most else str(most)
    result.notes = [
        f"{scale.name.capitalize()} run: the number of points of the reference divided by {scale.thin} (at least "
        f"{scale.least}), at most {scale.objects:,} objects a point, {rounds} rounds with all runtimes in turn, the "
        "median of the rounds for each point. Times in ns; the M1's are the reference figures.",
        f"A cell is the fitted model and its R². – : the runtime does not have it. ratio: the first coefficient on "
        f"{last} over that on {first}, or if {first} lacks the benchmark, over that on the first runtime which has "
        "it; ~ : one of the two cannot be told from 0 (95 % confidence).",
    ]
    result.curves = _curves(campaign, rows)
    return result


def _lines(rows: list[fits.PhaseFits], names: list[str]) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    section, command = "", ""
    for row in rows:
        # The runtime that the last one is compared with: the first that has the benchmark.
        old = next((name for name in names[:-1] if name in row.models), None)
        value, shown = row.ratio(old, names[-1]), row.experiment.command
        cells = [f"{row.models[n].formula} ({row.models[n].r_squared:.2f})" if n in row.models else None for n in names]
        ratio = f"{value:.2f}" if value else "~" if old and names[-1] in row.models else None
        heads = [row.section if row.section != section else "", f"`{shown}`" if shown != command else ""]
        lines.append([*heads, PHASES[row.phase][0], row.m1, *cells, ratio])
        section, command = row.section, shown
    return lines


def _curves(campaign: Campaign, rows: list[fits.PhaseFits]) -> list[Curve]:
    """One curve for each dataset and phase; the first fit gives the lines. The time until the last deinit comes
    first: it says most."""
    made, seen = [], set()
    for row in sorted(rows, key=lambda row: row.phase != "T"):
        experiment = row.experiment
        key = experiment.run.name, experiment.diff and experiment.diff.name, experiment.min_values, row.phase
        if key in seen or not row.models:
            continue
        seen.add(key)
        lines = []
        for name, model in row.models.items():
            if found := fits.points(campaign, experiment, row.phase, name):
                lines.append(_series(name, model, *found))
        title = experiment.run.name + (f" − {experiment.diff.name}" if experiment.diff else "")
        if experiment.min_values:
            title += f" from {experiment.min_values} values"
        x = "task-local values" if experiment.params.startswith("v") else "objects"
        y = "µs an object" if experiment.params.startswith("vo") else "ms"
        made.append(Curve(f"{title}, {PHASES[row.phase][0].lower()}", x, y, lines, clip=0.98, chapter=row.section))
    order = list(dict.fromkeys(row.section for row in rows))
    return sorted(made, key=lambda curve: order.index(curve.chapter or ""))


def _span(xs: Sequence[float]) -> list[float]:
    low, high = min(0, *xs), max(xs)
    return [low + (high - low) * i / 24 for i in range(25)]


def _series(label: str, model: Fit, inputs: Selection, times: list[float]) -> Points:
    """Points and the model of one runtime: per object if the model has v⋅o, else by what it has."""
    if model.params[0].startswith("vo"):
        # Divided by few objects, the constant costs would hide the rest.
        least = min(100, max(inputs.objects))
        chosen = [(v, o, t) for v, o, t in zip(inputs.values, inputs.objects, times) if o >= least]
        dots = [(v, t / o / 1e3) for v, o, t in chosen]
        middle = sorted(o for _, o, _ in chosen)[len(chosen) // 2]
        line = [(v, model.predict(v, middle) / middle / 1e3) for v in _span([d[0] for d in dots])]
    elif model.params[0] == "v":
        dots = [(v, t / 1e6) for v, t in zip(inputs.values, times)]
        line = [(v, model.predict(v, 1) / 1e6) for v in _span(inputs.values)]
    else:
        dots = [(o, t / 1e6) for o, t in zip(inputs.objects, times)]
        line = [(o, model.predict(1, o) / 1e6) for o in _span(inputs.objects)]
    return Points(f"{label}: {model.formula}", dots, line)
