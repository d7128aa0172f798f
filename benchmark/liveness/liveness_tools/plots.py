"""Plots: python3 -m liveness_tools.plots RESULTS FOLDER. Needs matplotlib."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from . import results  # noqa: E402

# Okabe and Ito's colours, which colour-blind people can tell apart.
_LOOK = {"CPU": ("#0072B2", "-", "o"), "time": ("#0072B2", ":", "s"),
         "CPU, elsewhere": ("#D55E00", "-", "o"), "time, elsewhere": ("#D55E00", ":", "s")}
_PLOTS = {"registration": ("BM_ConcurrentCreateDelete", "A scope begins and ends"),
          "checkpoint": ("BM_Checkpoint", "A checkpoint")}


def draw(found, row, title, path):
    """Time and CPU of a row by the number of threads."""
    figure, panel = pyplot.subplots(figsize=(6.4, 4), layout="constrained")
    for name, points in results.curves(found, row).items():
        colour, line, mark = _LOOK[name]
        panel.plot(*zip(*points), line, color=colour, marker=mark, markersize=5, label=name)
    panel.set(title=title, xlabel="threads", ylabel="ns", xscale="log", yscale="log")
    ticks = sorted(results.SEED[row])
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    panel.legend(frameon=False, fontsize=9)
    partial = path.with_suffix(".partial.png")
    figure.savefig(partial, dpi=100)
    partial.rename(path)
    pyplot.close(figure)


def main():
    data, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    found = results.rows(data["output"])
    for name, (row, title) in _PLOTS.items():
        if any(one.name == row for one in found):
            draw(found, row, title, folder / f"{name}.png")


if __name__ == "__main__":
    main()
