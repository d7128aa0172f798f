"""Small charts as inline SVG. Colours come from the page's style sheet (class s0, s1, …);
every series also differs in shape or dash, and every chart says in words what it shows."""

import math
from html import escape

WIDTH = 240        # of the small charts in tables
_LANE = 17


def quantile(ordered, q):
    """The q-quantile of a sorted list, between two neighbours."""
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def number(value):
    """A number as people write it: three digits that count, thousands apart."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(size)))
    text = f"{value:.{min(digits, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def samples(lanes, unit):
    """Raw samples on one axis: a histogram for each lane, the values of its processes as
    dots and their median as a bar. lanes: [(series number, name, samples, values)].

    The axis ends at the 90th percentile of the widest lane: the rest lies on its end.
    """
    ordered = [sorted(lane[2]) for lane in lanes]
    low = min(quantile(one, 0.005) for one in ordered)
    high = max(quantile(one, 0.9) for one in ordered)
    for _, _, _, values in lanes:
        low, high = min(low, min(values)), max(high, quantile(sorted(values), 0.9))
    span = (high - low) or 1
    left, right = 3, WIDTH - 3

    def x(value):
        return left + max(0, min(1, (value - low) / span)) * (right - left)

    parts, words = [], []
    for lane, ((series, name, raw, values), sorted_raw) in enumerate(zip(lanes, ordered)):
        base = (lane + 1) * _LANE - 1
        bins = [0] * ((right - left) // 3 + 1)
        for value in raw:
            bins[round((max(low, min(value, high)) - low) / span * (len(bins) - 1))] += 1
        top = max(bins)
        bars = "".join(f"M{left + 3 * i} {base}v-{count / top * (_LANE - 3):.1f}"
                       for i, count in enumerate(bins) if count)
        dots = "".join(f"M{x(value):.0f} {base - 3 - (number_ * 5) % 9}h0"
                       for number_, value in enumerate(values))
        median = quantile(sorted(values), 0.5)
        parts.append(f'<g class="s{series}"><path class="bars" d="{bars}"/>'
                     f'<path class="dots" d="{dots}"/>'
                     f'<path class="median" d="M{x(median):.1f} {base + 1}v-{_LANE - 2}"/></g>')
        words.append(f"{name}: median {number(median)}, quartiles "
                     f"{number(quantile(sorted_raw, 0.25))} to "
                     f"{number(quantile(sorted_raw, 0.75))}")
    height = len(lanes) * _LANE
    label = escape(f"{len(lanes)} lanes of samples in {unit}. " + "; ".join(words))
    return (f'<svg class="samples" role="img" aria-label="{label}" width="{WIDTH}" '
            f'height="{height + 14}" viewBox="0 0 {WIDTH} {height + 14}">{"".join(parts)}'
            f'<path class="axis" d="M{left} {height + .5}H{right}"/>'
            f'<text x="{left}" y="{height + 12}">{number(low)}</text>'
            f'<text x="{right}" y="{height + 12}" text-anchor="end">{number(high)} {unit}'
            "</text></svg>")


def ratio_bar(ratio, floor, limit, verdict):
    """after/before on a log axis: left of the middle is faster. The band is where a
    change counts as none; `limit` is the ratio at both ends (above 1); what
    is beyond gets an arrow."""
    width, height = 150, 20
    scale = (width / 2 - 6) / math.log(limit)

    def x(value):
        return width / 2 + max(-math.log(limit), min(math.log(limit), math.log(value))) * scale

    band = 2 * math.log1p(floor) * scale
    band = min(band, width / 2 - 6)
    label = f"after over before {ratio:.3f}"
    if max(ratio, 1 / ratio) <= limit:
        end = f'<circle cx="{x(ratio):.1f}" cy="{height / 2}" r="4"/>'
    else:  # An arrow: it goes on beyond the axis.
        side = 6 if ratio > 1 else -6
        end = f'<path class="arrow" d="M{x(ratio):.1f} {height / 2 - 6}v12l{side} -6z"/>'
    return (f'<svg class="ratio {verdict}" role="img" aria-label="{label}" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">'
            f'<rect class="band" x="{width / 2 - band:.1f}" y="3" width="{2 * band:.1f}" '
            f'height="{height - 6}"/><path class="axis" d="M{width / 2} 1V{height - 1}"/>'
            f'<path class="change" d="M{width / 2} {height / 2}H{x(ratio):.1f}"/>'
            f'{end}</svg>')


def dots(values, low, high, reference, words):
    """One marker for each series on an axis from low to high; None is left out. The line
    is where `reference` is; what is beyond the axis is drawn at its end."""
    height = 18

    def x(value):
        return 6 + max(0, min(1, (value - low) / ((high - low) or 1))) * (WIDTH - 12)

    parts = [f'<path class="grid" d="M6 {height / 2}H{WIDTH - 6}"/>']
    if reference is not None:
        parts.append(f'<path class="axis" d="M{x(reference):.1f} 1V{height - 1}"/>')
    parts += [marker(series, x(value), height / 2) for series, value in enumerate(values)
              if value is not None]
    return (f'<svg class="samples" role="img" aria-label="{escape(words)}" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}">{"".join(parts)}</svg>')


def marker(series, x, y):
    """The mark of a series: they differ in shape, too."""
    if series % 3 == 1:
        return f'<circle class="mark full p{series}" cx="{x:.1f}" cy="{y}" r="4.5"/>'
    if series % 3 == 2:
        return f'<path class="mark p{series}" d="M{x:.1f} {y - 7}v14"/>'
    return f'<circle class="mark p{series}" cx="{x:.1f}" cy="{y}" r="4.5"/>'


def ticks(low, high, count=5):
    """Round numbers from low to high."""
    rough = (high - low) / count
    if rough <= 0:
        return [low]
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Plot:
    """Points and lines over two axes. Series are (number, name, points, line), where
    points and line are [(x, y)] or empty; the number gives colour, shape and dash."""

    WIDTH, HEIGHT = 380, 240
    _LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 8, 36

    def __init__(self, title, x, y, series, log_x=False, log_y=False, clip=None):
        """clip: the quantile of all points above which they are left out."""
        self.title, self.x_name, self.y_name, self.series = title, x, y, series
        every = [point for _, _, points, line in series for point in (*points, *line)]
        self.log_x = log_x and all(point[0] > 0 for point in every)
        self.log_y = log_y and all(point[1] > 0 for point in every)
        xs = [self._fx(point[0]) for point in every]
        ys = sorted(self._fy(point[1]) for point in every)
        self.low_x, self.high_x = min(xs), max(xs)
        if not self.log_x:
            self.low_x = min(0, self.low_x)
        self.low_y = ys[0] if self.log_y else min(0, quantile(ys, 1 - clip) if clip else ys[0])
        self.high_y = max((quantile(sorted(self._fy(p[1]) for p in points), clip or 1)
                           for _, _, points, _ in series if points), default=ys[-1])
        self.high_y = max(self.high_y, max((self._fy(p[1]) for *_, line in series
                                            for p in line), default=self.high_y))
        if not self.log_y:
            self.high_y *= 1.05
        self.left_out = 0

    def _fx(self, value):
        return math.log10(value) if self.log_x else value

    def _fy(self, value):
        return math.log10(value) if self.log_y else value

    def _place(self, point):
        wide, high = (self.high_x - self.low_x) or 1, (self.high_y - self.low_y) or 1
        inside_w = self.WIDTH - self._LEFT - self._RIGHT
        inside_h = self.HEIGHT - self._TOP - self._BOTTOM
        return (self._LEFT + (self._fx(point[0]) - self.low_x) / wide * inside_w,
                self.HEIGHT - self._BOTTOM - (self._fy(point[1]) - self.low_y) / high * inside_h)

    def _points(self, points):
        places = {}
        for point in points:
            x, y = self._place(point)
            if not self._TOP - 1 <= y <= self.HEIGHT - self._BOTTOM + 1:
                self.left_out += 1
                continue
            places[round(x), round(y)] = None
        return "".join(f"M{x} {y}h0" for x, y in places)

    def _line(self, line):
        places = [self._place(point) for point in line]
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)

    def _axis(self, low, high, log):
        if log:
            return [10 ** e for e in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
        return ticks(low, high)

    def render(self):
        """The chart with its legend, as a <figure>."""
        parts = []
        bottom = self.HEIGHT - self._BOTTOM
        for value in self._axis(self.low_y, self.high_y, self.log_y):
            y = self._place((10 ** self.low_x if self.log_x else self.low_x, value))[1]
            parts.append(f'<path class="grid" d="M{self._LEFT} {y:.1f}H{self.WIDTH - self._RIGHT}"/>'
                         f'<text x="{self._LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">'
                         f'{_short(value)}</text>')
        for value in self._axis(self.low_x, self.high_x, self.log_x):
            x = self._place((value, 10 ** self.low_y if self.log_y else self.low_y))[0]
            parts.append(f'<path class="grid" d="M{x:.1f} {self._TOP}V{bottom}"/>'
                         f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">'
                         f'{_short(value)}</text>')
        lines = []
        for series, _, points, line in self.series:
            if points:
                parts.append(f'<path class="points p{series}" d="{self._points(points)}"/>')
            if line:
                lines.append(f'<path class="line p{series}" d="{self._line(line)}"/>')
        parts += lines
        parts.append(f'<text x="{(self._LEFT + self.WIDTH) / 2}" y="{self.HEIGHT - 4}" '
                     f'text-anchor="middle">{escape(self.x_name)}</text>')
        legend = "".join(
            f'<li><svg width="30" height="12" aria-hidden="true">'
            f'<path class="line p{series}" d="M1 6H29"/><path class="points p{series}" d="M15 6h0"/>'
            f'</svg>{escape(name)}</li>' for series, name, _, _ in self.series)
        label = escape(f"{self.title}: {self.y_name} by {self.x_name}; "
                       + "; ".join(name for _, name, _, _ in self.series), quote=True)
        left_out = (f'<p class="quiet">outside: {self.left_out} of all points</p>'
                    if self.left_out else "")
        return (f'<figure class="plot"><figcaption>{escape(self.title)}<span class="quiet"> '
                f'{escape(self.y_name)}</span></figcaption>'
                f'<svg role="img" aria-label="{label}" viewBox="0 0 {self.WIDTH} {self.HEIGHT}">'
                f'{"".join(parts)}</svg><ul class="legend">{legend}</ul>{left_out}</figure>')


def _short(value):
    """A tick's label that fits: 20k, 1.5M."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            size = 1e3 if letter == "k" else limit
            return f"{value / size:.6g}{letter}"
    return f"{value:.6g}"
