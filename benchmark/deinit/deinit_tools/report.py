"""The result of a campaign: as Markdown, as JSON, and as the block in README.md."""

from __future__ import annotations

import json
import os
import platform
import re

from runtime_patches import bench_results

from . import fit
from .phases import PHASES
from .readme import BEGIN, END
from .results import ratio


def conditions(campaign):
    """What the figures depend on, as a sentence."""
    scale = campaign.scale
    least, most = scale.rounds
    rounds = f"{least} to {most}" if least < most else str(most)
    return (f"{scale.name.capitalize()} run: the number of points of the seed divided by "
            f"{scale.thin} (at least {scale.least}), "
            f"at most {scale.objects:,} objects a point, {rounds} rounds with all runtimes in turn, the "
            f"median of the rounds for each point. {_cpu()}, {os.cpu_count()} cores, "
            f"{platform.system()} {platform.release()}. Times in ns; the M1's are the seed's.")


def _cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return re.search(r"^model name\s*: (.*)$", info.read(), re.M).group(1)
    except (OSError, AttributeError):
        return platform.processor() or platform.machine()


def _cell(found):
    return f"{fit.formula(found)} ({found.r_squared:.2f})" if found else "–"


def _baseline(row, campaign):
    """The runtime that the last one is compared with: the first that has the benchmark."""
    return next((name for name in campaign.names[:-1] if name in row.models), None)


def table(rows, campaign):
    """The table of all fits: formula (R²)."""
    names = campaign.names
    lines = [f"| experiment | command | phase | M1 (R²) | {' | '.join(f'{n} (R²)' for n in names)} | ratio |",
             "|" + "---|" * (5 + len(names))]
    section = command = None
    for row in rows:
        old = _baseline(row, campaign)
        value = ratio(row, old, names[-1])
        m1 = f"{row.m1[0]} ({row.m1[1]:.2f})" if row.m1 else "–"
        shown = row.experiment.command
        lines.append("| " + " | ".join([
            row.section if row.section != section else "",
            f"`{shown}`" if shown != command else "",
            PHASES[row.phase][0], m1, *(_cell(row.models.get(n)) for n in names),
            f"{value:.2f}" if value else "~" if old and names[-1] in row.models else "–"]) + " |")
        section, command = row.section, shown
    return "\n".join(lines)


def goal_table(goals):
    """The table of goals."""
    lines = ["| what | runtime | goal | here | |", "|---|---|---|---|---|"]
    for goal in goals:
        lines.append(f"| {goal.text} | {goal.runtime} | {goal.limit_text} | "
                     f"{goal.form.format(goal.value)} | {'reached' if goal.reached else 'missed'} |")
    return "\n".join(lines)


def _explanation(campaign):
    first, last = campaign.names[0], campaign.names[-1]
    return (f"A cell is the fitted model and its R². – : the runtime does not have it. "
            f"ratio: the first coefficient on {last} over that on {first}, or where {first} "
            f"lacks the benchmark, over that on the first runtime which has it; ~ : one of the "
            f"two cannot be told from 0 (95 % confidence).")


def markdown(rows, goals, campaign, plots):
    """The whole report as text."""
    parts = ["# Isolated and async deinit", conditions(campaign), "## Goals", goal_table(goals),
             "## Experiments", _explanation(campaign), table(rows, campaign), "## Plots",
             *(f"![{path.stem}](img/{path.name})" for path in plots)]
    return "\n\n".join(parts) + "\n"


def as_json(rows, goals, campaign):
    """The whole report as data: coefficients in ns, intervals of 95 % confidence."""
    def of(found):
        return {"formula": fit.formula(found), "params": found.params, "coefficients": list(map(float, found.coefficients)),
                "intervals": [list(map(float, pair)) for pair in found.intervals],
                "r_squared": found.r_squared, "adjusted_r_squared": found.adjusted}
    return json.dumps({
        "conditions": conditions(campaign), "scale": campaign.scale.name,
        "environment": bench_results.environment(),
        "runtimes": campaign.names,
        "goals": [{"text": g.text, "runtime": g.runtime, "value": float(g.value), "limit": g.limit_text,
                   "reached": bool(g.reached)} for g in goals],
        "rows": [{"experiment": row.section, "run": row.experiment.run.command,
                  "name": row.experiment.run.name, "params": row.experiment.params.split(","),
                  "diff": row.experiment.diff and row.experiment.diff.name,
                  "min_values": row.experiment.min_values,
                  "command": row.experiment.command, "phase": PHASES[row.phase][0],
                  "m1": row.m1 and {"formula": row.m1[0], "r_squared": row.m1[1]},
                  "here": {name: of(found) for name, found in row.models.items()},
                  "ratio": ratio(row, _baseline(row, campaign), campaign.names[-1])}
                 for row in rows]}, indent=1, ensure_ascii=False) + "\n"


def readme_block(rows, goals, campaign):
    """The lines between the marks of README.md."""
    return "\n\n".join([BEGIN, conditions(campaign), goal_table(goals), _explanation(campaign),
                        table(rows, campaign), END])
