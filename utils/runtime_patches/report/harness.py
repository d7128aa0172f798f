"""The parts of the page that come from other harnesses: tables, dots and curves as given."""

from html import escape

from . import svg


_LONG = 24


def section(result):
    """Tables, curves and notes of one result."""
    data = result.data
    parts = [f"<p>{escape(line)}</p>" for line in (*data.get("summary", []), *data.get("notes", []))]
    parts += [_dots(entry) for entry in data.get("dots", []) if entry["rows"]]
    plots = [_curve(curve) for curve in data.get("curves", [])]
    if any(plots):
        parts.append(f'<div class="plots">{"".join(plots)}</div>')
    for entry in data.get("tables", []):
        text = table(entry["title"], entry["columns"], entry["rows"])
        if len(entry["rows"]) > _LONG:
            text = (f'<details><summary>{escape(entry["title"])}: {len(entry["rows"])} rows'
                    f"</summary>{text}</details>")
        parts.append(text)
    return "".join(parts)


def table(title, columns, rows):
    """A table that scrolls by itself when it is wider than the page."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        "<tr>" + "".join(f'<th scope="row">{_cell(cell)}</th>' if index == 0 else
                         f"<td>{_cell(cell)}</td>" for index, cell in enumerate(row)) + "</tr>"
        for row in rows)
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
            f"<caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div>")


def _cell(value):
    if value is None:
        return "–"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return svg.number(value)
    return escape(str(value))


def _dots(entry):
    """A line for each row: its name, a mark for each series, and the figures."""
    every = [value for _, values in entry["rows"] for value in values if value is not None]
    if not every:
        return ""
    reference = entry.get("reference")
    low, high = min(0, *every), max(every) * 1.05
    if reference is not None:
        high = max(high, reference * 1.05)
    legend = "".join(
        f'<li><svg class="key" width="18" height="16" aria-hidden="true">{svg.marker(series, 9, 8)}'
        f"</svg>{escape(name)}</li>" for series, name in enumerate(entry["series"]))
    if reference is not None:
        legend += f"<li>line: {svg.number(reference)}</li>"
    rows = []
    for name, values in entry["rows"]:
        figures = ["–" if value is None else f"{value:.2f}" if abs(value) < 100 else
                   svg.number(value) for value in values]
        words = f"{entry['x']}: " + ", ".join(map(" ".join, zip(entry["series"], figures)))
        rows.append(f'<li><span>{escape(name)}</span> {svg.dots(values, low, high, reference, words)} '
                    f'<span class="fact">{" · ".join(figures)}</span></li>')
    return (f'<h4>{escape(entry["title"])}</h4><p class="quiet">{escape(entry["x"])}</p>'
            f'<ul class="legend">{legend}</ul><ul class="top">{"".join(rows)}</ul>')


def _curve(curve):
    series = [(number, entry["name"], entry["points"], entry["points"])
              for number, entry in enumerate(curve["series"]) if entry["points"]]
    if not series:
        return ""
    return svg.Plot(curve["title"], curve["x"], curve["y"], series, bool(curve.get("log_x")),
                    bool(curve.get("log_y"))).render()
