"""Scaling curves: python3 -m scaling_tools.plots RESULTS FOLDER. Needs matplotlib."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from . import KINDS  # noqa: E402
from .results import Results  # noqa: E402

# Okabe and Ito's colours, which colour-blind people can tell apart.
_LOOK = {"threads": ("#D55E00", "o"), "tasks": ("#0072B2", "s"), "processes": ("#009E73", "^")}


def curves(results, rows, runtimes, path):
    """A panel for each row: the speed-up by number of workers."""
    columns = min(4, len(rows))
    lines = -(-len(rows) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(3.2 * columns, 2.9 * lines),
                                   squeeze=False, sharex=True, sharey=True, layout="constrained")
    numbers = sorted(results.plan["workers"])
    for panel, row in zip(axes.flat, rows):
        panel.plot(numbers, numbers, color="#999999", linewidth=1)
        for runtime, style in zip(runtimes, ("--", "-")):
            for kind in KINDS:
                ups = [results.speed_up(row, kind, number, runtime) for number in numbers]
                colour, mark = _LOOK[kind]
                panel.plot(numbers, ups, style, color=colour, marker=mark, markersize=5,
                           label=f"{kind}, {runtime}")
        panel.set_title(row, fontsize=10)
        panel.set_xticks(numbers)
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    for panel in axes.flat[len(rows):]:
        panel.axis("off")
    for panel in axes[-1]:
        panel.set_xlabel("workers")
    for panel in axes[:, 0]:
        panel.set_ylabel("speed-up")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    partial = path.with_suffix(".partial.png")
    figure.savefig(partial, dpi=100)
    partial.rename(path)
    pyplot.close(figure)


def main():
    data = json.loads(Path(sys.argv[1]).read_text())
    results, folder = Results(data["plan"], data["samples"]), Path(sys.argv[2])
    rows, runtimes = data["plan"]["rows"], list(data["plan"]["libraries"])
    for name, chosen in (("search", [row for row in rows if row.startswith("search")]),
                         ("micro", [row for row in rows if not row.startswith("search")])):
        if chosen:
            curves(results, chosen, runtimes, folder / f"{name}.png")
            print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
