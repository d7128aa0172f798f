"""The second half of ./reproduce, in a Python that has statsmodels and matplotlib:

    python3 -m deinit_tools.make_report HOME SCALE RUNTIME…

writes report.md, report.json, readme-block.md and img/ in HOME.
"""

import os
import sys
from pathlib import Path

from runtime_patches.errors import run_main

from . import campaign, goals, plots, report, results


def main():
    home, scale, *names = sys.argv[1:]
    home = Path(home)
    measured = campaign.Results(home, campaign.SCALES[scale], names)
    rows = results.rows(measured)
    reached = goals.goals(measured, names[0], names[1] if len(names) > 2 else None, names[-1])
    folder = plots.Folder(measured.data, names[-1])
    drawn = [plots.draw(name, folder, home / "img")
             for name in plots.PLOTS if not plots.missing(name, folder)]
    for name, text in (("report.md", report.markdown(rows, reached, measured, drawn)),
                       ("report.json", report.as_json(rows, reached, measured)),
                       ("readme-block.md", report.readme_block(rows, reached, measured))):
        partial = home / f"{name}.partial"
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, home / name)


run_main(main)
