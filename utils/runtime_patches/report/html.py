"""HTML and SVG: one function, which escapes."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape

VOID = {"circle", "input", "meta", "path", "rect"}


class Html(str):
    """Text that is HTML already."""


def join(parts: Iterable[object]) -> Html:
    """Several parts as one: what is not Html is escaped; None and False are left out."""
    shown = (part for part in parts if part is not None and part is not False)
    return Html("".join(part if isinstance(part, Html) else escape(str(part)) for part in shown))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. Attributes: class_ for class, data_label for data-label; True is one without a value, None
    and False are left out. Children that are lists count as their elements."""
    words = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    flat = [one for child in children for one in (child if isinstance(child, (list, tuple)) else [child])]
    if name in VOID:
        return Html(f"<{name}{words}/>" if name in ("circle", "path", "rect") else f"<{name}{words}>")
    return Html(f"<{name}{words}>{join(flat)}</{name}>")


p, li, code = (partial(tag, name) for name in ("p", "li", "code"))


def span(kind: str, *children: object) -> Html:
    return tag("span", *children, class_=kind)


def place(text: str) -> str:
    """`text` as the name of a place on the page, for links."""
    return "".join(c if c.isalnum() else "-" for c in text)


def choices(name: str, options: Mapping[str, str]) -> list[Html]:
    """Radio buttons of {value: text}; the first one is chosen."""
    found = []
    for value, text in options.items():
        identifier = f"{name}-{value}"
        found.append(
            tag("input", type="radio", name=name, class_=f"show-{value}", id=identifier, checked=value == [*options][0])
        )
        found.append(tag("label", text, for_=identifier))
    return found


def table(title: str, columns: Iterable[str], rows: Iterable[Sequence[object]]) -> Html:
    """rows: cells; Html stays as it is."""
    lines = [tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in rest]) for first, *rest in rows]
    made = tag("table", tag("caption", title), head(columns), tag("tbody", lines))
    # It scrolls by itself when it is wider than the page.
    return tag("div", made, class_="scroll", tabindex=0, role="region", aria_label=title)


def head(columns: Iterable[str]) -> Html:
    return tag("thead", tag("tr", [tag("th", column, scope="col") for column in columns]))


def quiet(*children: object) -> Html:
    """A paragraph in grey."""
    return p(*children, class_="quiet")


def details(summary: object, *children: object) -> Html:
    """What is folded away."""
    return tag("details", tag("summary", summary), *children)


def of(name: object) -> Html:
    """For those who hear the page: they do not see what stands above."""
    return span("hidden", f" of {name}")
