"""The plots: measured points, and the fitted model as a line.

Needs numpy, statsmodels and matplotlib (inside.require).
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy  # noqa: E402
from matplotlib import pyplot  # noqa: E402

from . import dataset, experiments, fit  # noqa: E402

# Okabe and Ito's colours, which colour-blind people can tell apart.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
MARKS = {BLUE: "o", ORANGE: "^", GREEN: "s", PURPLE: "D"}


class Folder:
    """Datasets NAME.txt in a folder; with `runtime`, NAME.RUNTIME.txt as ./reproduce
    leaves them."""

    def __init__(self, path, runtime=None):
        self.path = Path(path)
        self.suffix = f".{runtime.replace(':', '-')}" if runtime else ""

    def file(self, run):
        """Where the dataset of `run` is expected."""
        return self.path / f"{run.name}{self.suffix}.txt"

    def load(self, run):
        """(values, objects, dataset) as arrays and a Dataset."""
        data = dataset.read_dataset(self.file(run))
        inputs = None
        if data.inputs is None and data.inputs_name:
            inputs = dataset.read_inputs(self.path / os.path.basename(data.inputs_name))
        inputs = dataset.inputs_of(data, inputs)
        return numpy.array(inputs.values), numpy.array(inputs.objects), data


def _series(axes, x, y, line, colour, label):
    """Points (x, y) and the model `line`, a pair of x and y."""
    alpha = min(0.7, max(0.2, 250 / len(x)))
    axes.plot(x, y, MARKS[colour], color=colour, markersize=3.5, alpha=alpha,
              markeredgewidth=0, rasterized=True)
    axes.plot(*line, color=colour, linewidth=2)
    # In the legend, one entry for both.
    axes.plot([], [], color=colour, linewidth=2, marker=MARKS[colour], markersize=6, label=label)


def _finish(figure, axes, title, path):
    for one in axes:
        one.set_xlim(left=0)
        one.grid(alpha=0.3)
        one.legend(frameon=False, fontsize=9, loc="upper left")
        one.yaxis.set_major_formatter("{x:,.0f}")
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    figure.suptitle(title)
    partial = path.with_suffix(".partial.png")
    figure.savefig(partial, dpi=110)
    partial.rename(path)
    pyplot.close(figure)


def _limit(axes, *columns):
    """Ends the axis above the 98th percentile, which leaves disturbed points outside,
    with room for a line of the legend for each column."""
    top = max(numpy.percentile(column, 98) for column in columns)
    axes.set_ylim(0, top * (1.1 + 0.08 * len(columns)))


def _formula(model, unit=""):
    return f"{fit.formula(model)}{unit}, R² = {model.r_squared:.3f}"


def _copying(folder, path, title, copy, reset=None):
    """Time per object by number of task-locals, while scheduling and in total."""
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    series = [(copy, BLUE, "copying")] + ([(reset, ORANGE, "clearing")] if reset else [])
    for one, phase in zip(axes, ("schedule", "total")):
        tops = []
        for run, colour, label in series:
            values, objects, data = folder.load(run)
            times = numpy.array(getattr(data, phase))
            model = fit.fit(["vo", "o"], values, objects, times)
            # Divided by few objects, the constant costs would hide the rest.
            many = objects >= min(100, objects.max())
            x = numpy.array([0, values.max()])
            _series(one, values[many], times[many] / objects[many],
                    (x, model.predict(x, numpy.ones(2))), colour, f"{label}: {_formula(model)}")
            tops.append(times[many] / objects[many])
        _limit(one, *tops)
        one.set_title("Scheduling" if phase == "schedule" else "Total")
        one.set_xlabel("task-local values")
        one.set_ylabel("time per object, ns")
    _finish(figure, axes, title, path)


def _by_values(folder, path, title, runs):
    """Total time per object by number of task-locals, for several numbers of objects."""
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    tops = []
    for run, colour in zip(runs, (BLUE, ORANGE, GREEN)):
        values, objects, data = folder.load(run)
        times = numpy.array(data.total)
        model = fit.fit(["v", "1"], values, objects, times)
        x = numpy.array([values.min(), values.max()])
        _series(axes, values, times / objects, (x, model.predict(x, objects[:2]) / objects[:2]),
                colour, f"{objects[0]:,} objects: {model['v'] / objects[0]:+.2f} ns a value, "
                f"R² = {model.r_squared:.3f}")
        tops.append(times / objects)
    _limit(axes, *tops)
    axes.set_xlabel("task-local values")
    axes.set_ylabel("total time per object, ns")
    _finish(figure, [axes], title, path)


def _by_objects(folder, path, title, series):
    """Time by number of objects: series of (run, phase, colour, label)."""
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    tops = []
    for run, phase, colour, label in series:
        values, objects, data = folder.load(run)
        times = numpy.array(getattr(data, phase)) / 1e6
        model = fit.fit(["o", "1"], values, objects, times * 1e6)
        x = numpy.array([objects.min(), objects.max()])
        _series(axes, objects / 1e3, times, (x / 1e3, model.predict(values[:2], x) / 1e6), colour,
                f"{label}: {_formula(model, ' ns')}")
        tops.append(times)
    _limit(axes, *tops)
    axes.set_xlabel("objects, thousands")
    axes.set_ylabel("time, ms")
    _finish(figure, [axes], title, path)


# Name: the datasets that it needs, and how it is drawn.
PLOTS = {
    "isolated_copy_array": (
        [experiments.COPY_100, experiments.RESET_100],
        lambda folder, path: _copying(
            folder, path, "Slow path of isolated deinit: an array of objects",
            experiments.COPY_100, experiments.RESET_100)),
    "async_tree-vs-values": (
        experiments.ASYNC_TREE_VALUES,
        lambda folder, path: _by_values(
            folder, path, "Async deinit of a tree by number of task-local values",
            experiments.ASYNC_TREE_VALUES)),
    "async_array-vs-values": (
        experiments.ASYNC_ARRAY_VALUES,
        lambda folder, path: _by_values(
            folder, path, "Async deinit of an array by number of task-local values",
            experiments.ASYNC_ARRAY_VALUES)),
    "async-vs-objects": (
        [experiments.ASYNC_TREE, experiments.ASYNC_ARRAY],
        lambda folder, path: _by_objects(
            folder, path, "Async deinit by number of objects", [
                (experiments.ASYNC_TREE, "total", BLUE, "tree, total"),
                (experiments.ASYNC_ARRAY, "total", ORANGE, "array, total"),
                (experiments.ASYNC_ARRAY, "schedule", GREEN, "array, scheduling"),
                (experiments.ASYNC_TREE, "schedule", PURPLE, "tree, scheduling")])),
    "async_copy_array": (
        [experiments.ASYNC_COPY_ARRAY],
        lambda folder, path: _copying(
            folder, path, "Copying task-local values in async deinit: an array of objects",
            experiments.ASYNC_COPY_ARRAY)),
}


def missing(name, folder):
    """The runs whose datasets the plot needs and the folder lacks."""
    return [run for run in PLOTS[name][0] if not folder.file(run).exists()]


def draw(name, folder, target):
    """Draws one plot to target/NAME.png; returns the path."""
    path = Path(target) / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    PLOTS[name][1](folder, path)
    return path
