"""The parts of the page that come from other harnesses: tables and curves as given."""

from html import escape

from . import svg


_LONG = 24


def section(result):
    """Tables, curves and notes of one result."""
    data = result.data
    parts = [f"<p>{escape(line)}</p>" for line in data.get("notes", [])]
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


def _curve(curve):
    series = [(number, entry["name"], entry["points"], entry["points"])
              for number, entry in enumerate(curve["series"]) if entry["points"]]
    if not series:
        return ""
    return svg.Plot(curve["title"], curve["x"], curve["y"], series, bool(curve.get("log_x")),
                    bool(curve.get("log_y"))).render()
