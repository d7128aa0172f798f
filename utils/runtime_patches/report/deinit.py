"""The part of the page that comes from benchmark/deinit: points, fitted models, goals."""

import math
import os
import sys
from html import escape

from .. import pins
from . import harness, svg

_PHASES = {"Scheduling": ("schedule", lambda data: data.schedule),
           "Total": ("total", lambda data: data.total),
           "Execution": ("execution", lambda data: [t - s for s, t in
                                                    zip(data.schedule, data.total)])}


def goals(result):
    """The goals as one line and a table."""
    found = result.data["goals"]
    reached = sum(goal["reached"] for goal in found)
    rows = [[goal["text"], goal["runtime"], goal["limit"],
             f"{goal['value']:.1%}" if goal["limit"].endswith("%") else goal["value"],
             "✓ reached" if goal["reached"] else "✗ missed"] for goal in found]
    return f"{reached} of {len(found)} goals are reached", harness.table(
        "Goals", ["what", "runtime", "goal", "here", ""], rows)


def section(result):
    """Goals, plots and the table of all fits of one report.json; its datasets are in
    data/ beside it."""
    data = result.data
    line, table = goals(result)
    parts = [f'<p>{escape(data["conditions"])}</p><p>{line}.</p>'
             f"<details><summary>All goals</summary>{table}</details>"]
    reader = _Datasets(result.path.parent / "data")
    chapters = {}
    for row in data["rows"]:
        chapters.setdefault(row["experiment"], []).append(row)
    missing, boxes = set(), []
    for title, rows in chapters.items():
        # The time until the last deinit says most.
        rows = sorted(rows, key=lambda row: row["phase"] != "Total")
        first, *more = _plots(rows, data["runtimes"], reader, missing) or [""]
        if more:
            first += (f'<details><summary>{len(more)} more plots{_of(title)}</summary>'
                      f'<div class="plots">{"".join(more)}</div></details>')
        boxes.append(f"<div><h4>{escape(title)}</h4>{first}{_fits(title, rows, data['runtimes'])}</div>")
    parts.append(f'<div class="chapters">{"".join(boxes)}</div>')
    if missing:
        parts.append(f'<p>{len(missing)} datasets are not beside the report, or are damaged; '
                     f'their plots are left out: {escape(", ".join(sorted(missing)))}.</p>')
    return "".join(parts)


def _of(title):
    """For those who hear the page: they do not see what stands above."""
    return f'<span class="hidden"> of {escape(title)}</span>'


def _key(row):
    return row["name"], row["diff"], row["min_values"], row["phase"]


def _fits(title, rows, runtimes):
    def cell(model):
        if not model:
            return None
        r = model["r_squared"]
        return model["formula"] + (f" ({r:.2f})" if math.isfinite(r) else "")
    lines = []
    for row in rows:
        m1 = row["m1"]
        lines.append([row["command"], row["phase"],
                      f'{m1["formula"]} ({m1["r_squared"]:.2f})' if m1 else None,
                      *(cell(row["here"].get(name)) for name in runtimes), row["ratio"]])
    return (f'<details><summary>Fitted models{_of(title)}</summary>'
            + harness.table("ns: fitted model (R²); M1: the figures this benchmark began with; "
                            "ratio: first coefficient on the last runtime over the first",
                            ["command", "phase", "M1", *runtimes, "ratio"], lines)
            + "</details>")


def _plots(rows, runtimes, reader, missing):
    """One chart for each dataset and phase; the first fit gives the lines."""
    made, seen = [], set()
    for row in rows:
        if _key(row) in seen:
            continue
        seen.add(_key(row))
        series = []
        # The same colours for the first and the last one, however many there are.
        for number, runtime in zip((0, 1) if len(runtimes) == 2 else (0, *range(2, len(runtimes)), 1),
                                   runtimes):
            model = row["here"].get(runtime)
            if not model:
                continue
            points = reader.points(row, runtime)
            if points is None:
                missing.add(f"{row['name']} on {runtime}")
                continue
            series.append(_series(number, runtime, row, model, points))
        if series:
            name = row["name"] + (f" − {row['diff']}" if row["diff"] else "")
            x, y = _axes(row)
            made.append(svg.Plot(f"{name}, {_PHASES[row['phase']][0]}", x, y, series,
                                 clip=0.98).render())
    return made


def _axes(row):
    if _by_value(row):
        return "task-local values", "µs an object"
    if row["params"][0] == "v":
        return "task-local values", "ms"
    return "objects", "ms"


def _by_value(row):
    return row["params"][0].startswith("vo")


def _series(number, runtime, row, model, points):
    """Points and the model of one runtime: per object where the model has v⋅o."""
    def predict(v, o):
        terms = {"vo2": v * o * o, "vo": v * o, "v": v, "o2": o * o, "o": o, "1": 1}
        return sum(c * terms[p] for p, c in zip(row["params"], model["coefficients"]))
    if _by_value(row):
        # Divided by few objects, the constant costs would hide the rest.
        least = min(100, max(o for _, o, _ in points))
        dots = [(v, t / o / 1e3) for v, o, t in points if o >= least]
        o = sorted(o for _, o, _ in points)[len(points) // 2]
        line = [(v, predict(v, o) / o / 1e3) for v in _span([d[0] for d in dots])]
    else:
        x = 0 if row["params"][0] == "v" else 1
        dots = [(point[x], point[2] / 1e6) for point in points]
        line = [(at, (predict(at, 1) if x == 0 else predict(1, at)) / 1e6)
                for at in _span([d[0] for d in dots])]
    return number, f"{runtime}: {model['formula']}", dots, line


def _span(xs):
    low, high = min(0, min(xs)), max(xs)
    return [low + (high - low) * i / 24 for i in range(25)]


class _Datasets:
    """The points of datasets, as benchmark/deinit reads them."""

    def __init__(self, folder):
        self.folder = folder
        path = str(pins.REPO / "benchmark" / "deinit")
        if path not in sys.path:
            sys.path.append(path)
        from deinit_tools import dataset
        self.files = dataset

    def points(self, row, runtime):
        """[(values, objects, ns)] of a row on a runtime; None where they are missing."""
        from ..errors import UserError
        try:
            inputs, own = self._load(row["name"], runtime, row["phase"])
            if row["diff"]:
                base = self._load(row["diff"], runtime, row["phase"])[1]
                own = [a - b for a, b in zip(own, base)]
        except UserError:
            return None
        least = row["min_values"] or 0
        return [(v, o, t) for v, o, t in zip(inputs.values, inputs.objects, own)
                if v >= least] or None

    def _load(self, name, runtime, phase):
        data = self.files.read_dataset(self.folder / f"{name}.{runtime.replace(':', '-')}.txt")
        inputs = None
        if data.inputs is None:
            inputs = self.files.read_inputs(
                self.folder / os.path.basename(data.inputs_name or "none"))
        return self.files.inputs_of(data, inputs), _PHASES[phase][1](data)
