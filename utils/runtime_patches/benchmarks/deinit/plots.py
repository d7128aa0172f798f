"""The plots: measured points, and the fitted model as a line."""

from __future__ import annotations

from .experiments import load
from .phases import PHASES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...results.outcome import Curve, Points
    from .dataset import Folder, Inputs
    from .experiments import Run
    from .fit import Fit, Fitter
    from .phases import Selection

    # (run, phase, label), and (title, parameters of the model, lines).
    _Line = tuple[Run, str, str]
    _Plot = tuple[str, list[str], list[_Line]]


def _span(xs: Sequence[float]) -> list[float]:
    low, high = min(0, *xs), max(xs)
    return [low + (high - low) * i / 24 for i in range(25)]


def series(label: str, model: Fit, inputs: Inputs | Selection, times: list[float]) -> Points:
    """Points and the model of one runtime: per object if the model has v⋅o, else by what it has."""
    from ...results.outcome import Points  # takes long to import, and --help needs the names of the plots only

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


def _copying(title: str, **labels: str) -> list[_Plot]:
    """The time of an object by number of task-locals, while scheduling and in total; labels: {label: name of a run}."""
    return [
        (f"{title}, {words}", ["vo", "o"], [(load()[0][name], phase, label) for label, name in labels.items()])
        for phase, words in (("S", "scheduling"), ("T", "total"))
    ]


def _by_values(kind: str) -> list[_Plot]:
    lines = [
        (run, "T", f"{run.inputs.objects[0]:,} objects")
        for name, run in load()[0].items()
        if name.startswith(f"async_{kind}-vs-values")
    ]
    return [(f"Async deinit of a {kind} by number of task-local values", ["v", "1"], lines)]


def _by_objects() -> list[_Plot]:
    tree, array = (load()[0][f"async_{kind}-vs-objects"] for kind in ("tree", "array"))
    lines = [(tree, "T", "tree, total"), (array, "T", "array, total")]
    lines += [(array, "S", "array, scheduling"), (tree, "S", "tree, scheduling")]
    return [("Async deinit by number of objects", ["o", "1"], lines)]


# Name: what makes [(title, parameters of the model, [(run, phase, label)])].
PLOTS: dict[str, Callable[[], list[_Plot]]] = {
    "isolated_copy_array": lambda: _copying(
        "Isolated deinit of an array, slow path",
        copying="isolated_hop_copy_array-b100-5K",
        clearing="isolated_hop_reset_array-b100-5K",
    ),
    "async_tree-vs-values": lambda: _by_values("tree"),
    "async_array-vs-values": lambda: _by_values("array"),
    "async-vs-objects": _by_objects,
    "async_copy_array": lambda: _copying("Copying task-locals in async deinit of an array", copying="async_copy_array"),
}


def missing(name: str, folder: Folder) -> list[Run]:
    """The runs whose datasets the plot needs and the folder lacks."""
    return [run for _, _, lines in PLOTS[name]() for run, _, _ in lines if not folder.file(run).exists()]


def curves(fitter: Fitter, name: str, folder: Folder) -> list[Curve]:
    return [_curve(fitter, folder, *one) for one in PLOTS[name]()]


def _curve(fitter: Fitter, folder: Folder, title: str, params: list[str], lines: list[_Line]) -> Curve:
    from ...results.outcome import Curve

    parts = []
    for run, phase, label in lines:
        found = folder.load(run)
        assert found
        inputs, data = found
        times = PHASES[phase][1](data)
        parts.append(series(label, fitter.fit(params, inputs.values, inputs.objects, times), inputs, times))
    x, y = axes(params[0])
    return Curve(title, x, y, parts, clip=0.98)
