"""Charts as SVG. On the page, colours come from its style sheet (class s0, s1, …); a file has its own.
Series differ in shape or dash, too, and every chart says in words what it shows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from ..base.text import number
from ..results.outcome import Curve, Points
from ..results.verdicts import quantile
from .html import Html, li, quiet, span, tag

WIDTH = 240  # of the small charts in tables
_LANE = 17
# Okabe and Ito's colours, which colour-blind people can tell apart.
_COLOURS = ("#5c6670", "#0072b2", "#d55e00", "#009e73", "#aa4499", "#7a6a00")
# For the parts of bars, in the order of Tol's muted ones; neighbours differ in lightness, too.
_PARTS = (
    *("#332288", "#88ccee", "#44aa99", "#ddcc77", "#117733", "#cc6677", "#882255", "#aa4499", "#999933"),
    *("#5c6670", "#e69f00", "#0072b2", "#c9ced4"),
)
_DASHES = ("7 4", "", "2 3")
_HEAD = 36  # room for the title of a panel


def _text(x: float | str, y: float | str, text: str, anchor: str | None = None) -> Html:
    return tag("text", text, x=x, y=y, text_anchor=anchor)


def _small(kind: str, label: str, width: float, height: float, *parts: object) -> Html:
    size = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
    return tag("svg", *parts, class_=kind, role="img", aria_label=label, **size)


def _path(kind: str, d: str) -> Html:
    return tag("path", class_=kind, d=d)


def _share(value: float, low: float, high: float) -> float:
    """Where a value is on an axis, from 0 to 1."""
    return max(0, min(1, (value - low) / ((high - low) or 1)))


def samples(lanes: Sequence[tuple[int, str, list[float], list[float]]], unit: str) -> Html:
    """Raw samples on one axis: a histogram for each lane, the values of its processes as dots and their median
    as a bar. lanes: [(series number, name, samples, values)].

    The axis ends at the 90th percentile of the widest lane. What is beyond is drawn at its end.
    """
    low = min(min(quantile(raw, 0.005), *values) for _, _, raw, values in lanes)
    high = max(quantile(some, 0.9) for lane in lanes for some in lane[2:])
    left, right = 3, WIDTH - 3

    def x(value: float) -> float:
        return left + _share(value, low, high) * (right - left)

    parts, words = [], []
    for lane, (series, name, raw, values) in enumerate(lanes):
        base = (lane + 1) * _LANE - 1
        bins = [0] * ((right - left) // 3 + 1)
        for value in raw:
            bins[round(_share(value, low, high) * (len(bins) - 1))] += 1
        bars = "".join(
            f"M{left + 3 * i} {base}v-{count / max(bins) * (_LANE - 3):.1f}" for i, count in enumerate(bins) if count
        )
        dots = "".join(f"M{x(value):.0f} {base - 3 - (place * 5) % 9}h0" for place, value in enumerate(values))
        median = statistics.median(values)
        bar = _path("median", f"M{x(median):.1f} {base + 1}v-{_LANE - 2}")
        parts.append(tag("g", _path("bars", bars), _path("dots", dots), bar, class_=f"s{series}"))
        first, third = (number(quantile(raw, q)) for q in (0.25, 0.75))
        words.append(f"{name}: median {number(median)}, quartiles {first} to {third}")
    height = len(lanes) * _LANE
    parts.append(_path("axis", f"M{left} {height + 0.5}H{right}"))
    parts += [_text(left, height + 12, number(low)), _text(right, height + 12, f"{number(high)} {unit}", "end")]
    return _small(
        "samples", f"{len(lanes)} lanes of samples in {unit}. " + "; ".join(words), WIDTH, height + 14, *parts
    )


def ratio_bar(ratio: float, floor: float, limit: float, verdict: str) -> Html:
    """after/before on a log axis: left of the middle is faster. The band is where a change counts as none;
    `limit` is the ratio at both ends (above 1); what is beyond gets an arrow."""
    width, height = 150, 20
    scale = (width / 2 - 6) / math.log(limit)
    place = width / 2 + max(-math.log(limit), min(math.log(limit), math.log(ratio))) * scale
    band = min(2 * math.log1p(floor) * scale, width / 2 - 6)
    if max(ratio, 1 / ratio) <= limit:
        end = tag("circle", cx=f"{place:.1f}", cy=height / 2, r=4)
    else:
        side = 6 if ratio > 1 else -6
        end = _path("arrow", f"M{place:.1f} {height / 2 - 6}v12l{side} -6z")
    parts = [
        tag("rect", class_="band", x=f"{width / 2 - band:.1f}", y=3, width=f"{2 * band:.1f}", height=height - 6),
        _path("axis", f"M{width / 2} 1V{height - 1}"),
        _path("change", f"M{width / 2} {height / 2}H{place:.1f}"),
        end,
    ]
    return _small(f"ratio {verdict}", f"after over before {ratio:.3f}", width, height, *parts)


def dots(values: Sequence[float | None], low: float, high: float, reference: float | None, words: str) -> Html:
    """One marker for each series on an axis from low to high; None is left out. The line is where `reference`
    is; what is beyond the axis is drawn at its end."""
    height = 18

    def x(value: float) -> float:
        return 6 + _share(value, low, high) * (WIDTH - 12)

    parts = [_path("grid", f"M6 {height / 2}H{WIDTH - 6}")]
    if reference is not None:
        parts.append(_path("axis", f"M{x(reference):.1f} 1V{height - 1}"))
    parts += [marker(series, x(value), height / 2) for series, value in enumerate(values) if value is not None]
    return _small("samples", words, WIDTH, height, *parts)


def marker(series: int, x: float, y: float) -> Html:
    """The mark of a series: they differ in shape, too."""
    if series % 3 == 2:
        return _path(f"mark p{series}", f"M{x:.1f} {y - 7}v14")
    return tag("circle", class_=f"mark{' full' * (series % 3)} p{series}", cx=f"{x:.1f}", cy=y, r=4.5)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high."""
    rough = (high - low) / 5
    if rough <= 0:
        return [low]
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Plot:
    """Points and lines over two axes, made from a results.outcome.Curve. Its series give colour, shape and
    dash by their number; if `clip` is a quantile, the points above it are left out."""

    WIDTH, HEIGHT = 380, 240
    _LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 8, 36

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.series = [one for one in curve.series if one.points]
        self.left_out = 0
        every = [point for one in self.series for point in (*one.points, *_line(one))]
        self.log_x = curve.log_x and all(point[0] > 0 for point in every)
        self.log_y = curve.log_y and all(point[1] > 0 for point in every)
        self._fx, self._fy = (math.log10 if log else float for log in (self.log_x, self.log_y))
        if not every:
            return
        xs = [self._fx(point[0]) for point in every]
        ys = sorted(self._fy(point[1]) for point in every)
        clip = curve.clip
        self.low_x, self.high_x = min(xs) if self.log_x else min(0, *xs), max(xs)
        self.low_y = ys[0] if self.log_y else min(0, quantile(ys, 1 - clip) if clip else ys[0])
        tops = [quantile([self._fy(point[1]) for point in one.points], clip or 1) for one in self.series]
        tops += [self._fy(point[1]) for one in self.series for point in one.line or ()]
        self.high_y = max(tops) * (1 if self.log_y else 1.05)

    def __bool__(self) -> bool:
        return bool(self.series)

    def _x(self, value: float) -> float:
        share = (self._fx(value) - self.low_x) / ((self.high_x - self.low_x) or 1)
        return self._LEFT + share * (self.WIDTH - self._LEFT - self._RIGHT)

    def _y(self, value: float) -> float:
        share = (self._fy(value) - self.low_y) / ((self.high_y - self.low_y) or 1)
        return self.HEIGHT - self._BOTTOM - share * (self.HEIGHT - self._TOP - self._BOTTOM)

    def _points(self, points: Sequence[tuple[float, float]]) -> str:
        places = {}
        for x, y in ((self._x(x), self._y(y)) for x, y in points):
            if self._TOP - 1 <= y <= self.HEIGHT - self._BOTTOM + 1:
                places[round(x), round(y)] = None
            else:
                self.left_out += 1
        return "".join(f"M{x} {y}h0" for x, y in places)

    def _axis(self, low: float, high: float, log: bool) -> list[float]:
        if log:
            return [10**e for e in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
        return ticks(low, high)

    def _parts(self) -> list[Html]:
        """Grid and labels, then the points and the line of each series."""
        parts, bottom = [], self.HEIGHT - self._BOTTOM
        for value in self._axis(self.low_y, self.high_y, self.log_y):
            y = self._y(value)
            parts.append(_path("grid", f"M{self._LEFT} {y:.1f}H{self.WIDTH - self._RIGHT}"))
            parts.append(_text(self._LEFT - 5, f"{y + 4:.1f}", _short(value), "end"))
        for value in self._axis(self.low_x, self.high_x, self.log_x):
            x = self._x(value)
            parts.append(_path("grid", f"M{x:.1f} {self._TOP}V{bottom}"))
            parts.append(_text(f"{x:.1f}", bottom + 14, _short(value), "middle"))
        parts += [_path(f"points p{place}", self._points(one.points)) for place, one in enumerate(self.series)]
        for place, one in enumerate(self.series):
            if len(_line(one)) > 1:
                ends = "L".join(f"{self._x(x):.1f} {self._y(y):.1f}" for x, y in _line(one))
                parts.append(_path(f"line p{place}", f"M{ends}"))
        parts.append(_text((self._LEFT + self.WIDTH) / 2, self.HEIGHT - 4, self.curve.x, "middle"))
        return parts

    @property
    def label(self) -> str:
        return f"{self.curve.title}: {self.curve.y} by {self.curve.x}; " + "; ".join(one.name for one in self.series)

    def figure(self) -> Html:
        """The chart with its legend, as a <figure> of the page."""
        chart = tag("svg", *self._parts(), role="img", aria_label=self.label, viewBox=f"0 0 {self.WIDTH} {self.HEIGHT}")
        legend = [
            li(tag("svg", *_key(place), width=30, height=12, aria_hidden="true"), one.name)
            for place, one in enumerate(self.series)
        ]
        caption = tag("figcaption", self.curve.title, span("quiet", f" {self.curve.y}"))
        outside = self.left_out > 0 and quiet(f"outside: {self.left_out} of all points")
        return tag("figure", caption, chart, tag("ul", legend, class_="legend"), outside, class_="plot")

    def panel(self) -> list[Html]:
        """The chart as a part of a file, with title and legend."""
        legend = []
        for place, one in enumerate(self.series):
            y = self.HEIGHT + 8 + 16 * place
            key = tag("g", *_key(place), transform=f"translate({self._LEFT} {y})")
            legend.append(tag("g", key, _text(self._LEFT + 36, y + 10, one.name)))
        title = tag("text", self.curve.title, x=8, y=16, class_="title")
        chart = tag("g", *self._parts(), *legend, transform=f"translate(0 {_HEAD})")
        return [title, _text(8, 30, self.curve.y), chart]


def file(curves: list[Curve]) -> str:
    """An SVG file with a chart for each of `curves` that has points; ValueError if none has."""
    plots = [plot for plot in map(Plot, curves) if plot]
    columns = min(2, len(plots))
    high = _HEAD + Plot.HEIGHT + 16 + 16 * max(len(plot.series) for plot in plots)
    width, height = columns * Plot.WIDTH, -(-len(plots) // columns) * high
    panels = [
        tag("g", *plot.panel(), transform=f"translate({place % columns * Plot.WIDTH} {place // columns * high})")
        for place, plot in enumerate(plots)
    ]
    style = "".join(
        f".p{place}{{stroke:{colour}}}.line.p{place}{{stroke-dasharray:{_DASHES[place % 3] or 'none'}}}"
        for place, colour in enumerate(_COLOURS)
    )
    style += (
        "text{font:11px system-ui,sans-serif;fill:#57606a}.title{font-size:13px;font-weight:600}path{fill:none}"
        ".grid{stroke:#d0d7de}.line{stroke-width:2.2}.points{stroke-width:5;stroke-linecap:round;opacity:.45}"
        "rect{fill:#fff}"
    )
    label = "; ".join(plot.label for plot in plots)
    attributes: dict[str, Any] = {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria_label": label}
    attributes |= {"viewBox": f"0 0 {width} {height}", "width": width}
    content = [tag("style", Html(style)), tag("rect", width=width, height=height), *panels]
    return tag("svg", content, **attributes) + "\n"


def bars(title: str, parts: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    """An SVG file: for each row a bar of its parts, as shares of their sum."""
    left, wide, lane, top, key = 150, 560, 20, 30, 120
    colour = [_PARTS[place % len(_PARTS)] for place in range(len(parts))]
    drawn, words, y = [], [], top
    for name, values in rows:
        drawn.append(_text(left - 6, y + 13, name, "end"))
        x, total = float(left), sum(values) or 1
        for place, value in enumerate(values):
            width = value / total * wide
            drawn.append(tag("rect", x=f"{x:.1f}", y=y, width=f"{width:.1f}", height=lane - 5, fill=colour[place]))
            x += width
        drawn.append(_text(left + wide + 6, y + 13, number(sum(values))))
        words.append(f"{name}: " + ", ".join(f"{part} {value / total:.0%}" for part, value in zip(parts, values)))
        y += lane
    y += 8
    for place, part in enumerate(parts):
        at, line = left + place % 5 * key, y + place // 5 * 18
        drawn += [tag("rect", x=at, y=line, width=12, height=12, fill=colour[place]), _text(at + 17, line + 10, part)]
    width, height = left + wide + 50, y + -(-len(parts) // 5) * 18 + 6
    style = "text{font:11px system-ui,sans-serif;fill:#57606a}.title{font-size:13px;font-weight:600}"
    attributes: dict[str, Any] = {"xmlns": "http://www.w3.org/2000/svg", "role": "img"}
    attributes |= {"aria_label": f"{title}. {'; '.join(words)}", "viewBox": f"0 0 {width} {height}", "width": width}
    back = tag("rect", width=width, height=height, fill="#fff")
    head = tag("text", title, x=8, y=18, class_="title")
    return tag("svg", tag("style", Html(style)), back, head, *drawn, **attributes) + "\n"


def _line(series: Points) -> list[tuple[float, float]]:
    return series.points if series.line is None else series.line


def _key(place: int) -> tuple[Html, Html]:
    return _path(f"line p{place}", "M1 6H29"), _path(f"points p{place}", "M15 6h0")


def _short(value: float) -> str:
    """A tick's label that fits: 20k, 1.5M."""
    for limit, size, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= limit:
            return f"{value / size:.6g}{letter}"
    return f"{value:.6g}"
