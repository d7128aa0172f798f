"""The plots: measured points, and the fitted model as a line."""

from __future__ import annotations

import os
from pathlib import Path

from ...results.outcome import Curve, Points
from . import dataset, fit
from .experiments import RUNS
from .phases import PHASES

_PHASE_OF = {title: key for key, (title, _) in PHASES.items()}


class Folder:
    """Datasets NAME.txt in a folder; with `runtime`, NAME.RUNTIME.txt as ./reproduce leaves them."""

    def __init__(self, path, runtime=None):
        self.path = Path(path)
        self.suffix = f".{runtime.replace(':', '-')}" if runtime else ""

    def file(self, run):
        """Where the dataset of `run` is expected."""
        return self.path / f"{run.name}{self.suffix}.txt"

    def load(self, run):
        """(inputs, dataset)."""
        data = dataset.read_dataset(self.file(run))
        inputs = None
        if data.inputs is None and data.inputs_name:
            inputs = dataset.read_inputs(self.path / os.path.basename(data.inputs_name))
        return dataset.inputs_of(data, inputs), data


def _span(xs):
    low, high = min(0, *xs), max(xs)
    return [low + (high - low) * i / 24 for i in range(25)]


def series(label, model, inputs, times):
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


def axes(param):
    """The names of both axes of a model whose first parameter is `param`."""
    if param.startswith("vo"):
        return "task-local values", "µs an object"
    return ("task-local values", "ms") if param == "v" else ("objects", "ms")


def _curve(folder, title, params, lines):
    """lines: [(run, phase, label)]."""
    made = []
    for run, phase, label in lines:
        inputs, data = folder.load(run)
        times = PHASES[phase][1](data)
        model = fit.fit(params, inputs.values, inputs.objects, times)
        made.append(series(label, model, inputs, times))
    x, y = axes(params[0])
    return Curve(title, x, y, made, clip=0.98)


def _copying(title, *lines):
    """Time per object by number of task-locals, while scheduling and in total: lines of (name of a run, label)."""
    runs = [(RUNS[name], label) for name, label in lines]

    def draw(folder):
        return [
            _curve(folder, f"{title}, {words}", ["vo", "o"], [(run, phase, label) for run, label in runs])
            for phase, words in (("S", "scheduling"), ("T", "total"))
        ]

    return [run for run, _ in runs], draw


def _by_values(title, start):
    runs = [run for name, run in RUNS.items() if name.startswith(start)]
    return runs, lambda folder: [
        _curve(folder, title, ["v", "1"], [(run, "T", f"{run.inputs.objects[0]:,} objects") for run in runs])
    ]


# Name: the datasets that it needs, and what draws it.
PLOTS = {
    "isolated_copy_array": _copying(
        "Isolated deinit of an array, slow path",
        ("isolated_hop_copy_array-b100-5K", "copying"),
        ("isolated_hop_reset_array-b100-5K", "clearing"),
    ),
    "async_tree-vs-values": _by_values("Async deinit of a tree by number of task-local values", "async_tree-vs-values"),
    "async_array-vs-values": _by_values(
        "Async deinit of an array by number of task-local values", "async_array-vs-values"
    ),
    "async-vs-objects": (
        [RUNS["async_tree-vs-objects"], RUNS["async_array-vs-objects"]],
        lambda folder: [
            _curve(
                folder,
                "Async deinit by number of objects",
                ["o", "1"],
                [
                    (RUNS["async_tree-vs-objects"], "T", "tree, total"),
                    (RUNS["async_array-vs-objects"], "T", "array, total"),
                    (RUNS["async_array-vs-objects"], "S", "array, scheduling"),
                    (RUNS["async_tree-vs-objects"], "S", "tree, scheduling"),
                ],
            )
        ],
    ),
    "async_copy_array": _copying("Copying task-locals in async deinit of an array", ("async_copy_array", "copying")),
}


def missing(name, folder):
    """The runs whose datasets the plot needs and the folder lacks."""
    return [run for run in PLOTS[name][0] if not folder.file(run).exists()]


def curves(name, folder):
    """The curves of one plot."""
    return PLOTS[name][1](folder)
