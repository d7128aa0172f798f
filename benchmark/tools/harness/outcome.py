"""Writes what a harness has measured: for people, for later, and for the page of all results."""

import time

from runtime_patches import bench_results, report


class Outcome:
    """The results of one run, in the form that runtime_patches.report reads."""

    def __init__(self, name, title, command):
        """name: of the folder below benchmark; command: what the user typed, for the page."""
        self.data = {"format": 1, "kind": "harness", "name": name, "title": title, "command": command,
                     "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                     "environment": bench_results.environment(),
                     "summary": [], "dots": [], "tables": [], "curves": [], "notes": []}

    def say(self, sentence):
        """One of the few sentences that belong into the summary of all results."""
        self.data["summary"].append(sentence)

    def dots(self, title, x, series, rows, reference=None):
        """A mark for each of `series` (names) in each of rows {name: [number or None]}."""
        self.data["dots"].append({"title": title, "x": x, "series": list(series), "reference": reference,
                                  "rows": [[name, list(values)] for name, values in rows.items()]})

    def table(self, title, columns, rows):
        """rows: lists of text, as many as there are columns."""
        self.data["tables"].append({"title": title, "columns": columns, "rows": rows})

    def curve(self, title, x, y, series, log_x=False, log_y=False):
        """series: {name: [(x, y)]}; points without a y are left out."""
        self.data["curves"].append({"title": title, "x": x, "y": y, "log_x": log_x, "log_y": log_y, "series": [
            {"name": name, "points": [list(point) for point in points if point[1] is not None]}
            for name, points in series.items()]})

    def write(self, folder, notes, **more):
        """Writes folder/results.json and report.md, and makes the page anew. more: what else
        the file is to hold."""
        self.data["notes"] = notes
        parts = [f"# {self.data['title']}", *(markdown(table["columns"], table["rows"])
                                             for table in self.data["tables"]), *notes]
        folder.mkdir(parents=True, exist_ok=True)
        bench_results.write(folder, {**self.data, **more}, {"report.md": "\n\n".join(parts) + "\n"})
        report.renew(folder)


def text(columns, rows, left=1):
    """A table for the screen; all but the first `left` columns to the right."""
    widths = [max(len(line[column]) for line in [columns, *rows]) for column in range(len(columns))]
    return "\n".join("  ".join(word.ljust(width) if column < left else word.rjust(width)
                               for column, (word, width) in enumerate(zip(line, widths))).rstrip()
                     for line in [columns, *rows])


def markdown(columns, rows):
    """A table of GitHub's Markdown."""
    return "\n".join("| " + " | ".join(line) + " |"
                     for line in [columns, ["---"] + ["--:"] * (len(columns) - 1), *rows])
