"""The plots: measured points, and the fitted model as a line."""

from collections.abc import Sequence

from ...results.outcome import Points
from .fit import Fit
from .phases import Selection


def _span(xs: Sequence[float]) -> list[float]:
    low, high = min(0, *xs), max(xs)
    return [low + (high - low) * i / 24 for i in range(25)]


def series(label: str, model: Fit, inputs: Selection, times: list[float]) -> Points:
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


def axes(param: str) -> tuple[str, str]:
    if param.startswith("vo"):
        return "task-local values", "µs an object"
    return ("task-local values", "ms") if param == "v" else ("objects", "ms")
