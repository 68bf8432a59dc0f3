"""Small plots as inline SVG: curves and bars, coloured by the page's own style in light and dark.

Every function returns one `<svg>` element. Text is escaped here; numbers have few digits, so that equal results give equal
bytes.
"""

import math
from collections.abc import Sequence
from html import escape

from thinkback.values import dataclass

WIDTH, HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 16, 44
COLOURS = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line through points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A named value, with bounds where they are known."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def line_chart(curves: Sequence[Curve], *, x_label: str, y_label: str, y_max: float | None = None) -> str:
    """Curves over a common pair of axes that start at zero."""
    points = [point for curve in curves for point in curve.points]
    if not points:
        return _nothing(y_label)
    right = max(x for x, _ in points) or 1.0
    top = y_max if y_max is not None else round_up(max(y for _, y in points))
    parts = [*_y_axis(top, y_label), *_x_axis(right, x_label)]
    for number, curve in enumerate(curves):
        path = " ".join(f"{_n(_x(x, right))},{_n(_y(min(y, top), top))}" for x, y in curve.points)
        parts.append(
            f'<polyline class="line c{number % COLOURS}" points="{path}"><title>{escape(curve.name)}</title></polyline>'
        )
    return _svg(parts, y_label)


def grouped_bars(groups: Sequence[tuple[str, Sequence[Bar]]], *, y_label: str, y_max: float = 1.0) -> str:
    """For each group one bar a series, with whiskers for the bounds."""
    if not groups:
        return _nothing(y_label)
    parts = _y_axis(y_max, y_label)
    room = (WIDTH - _LEFT - _RIGHT) / len(groups)
    for place, (name, bars) in enumerate(groups):
        start = _LEFT + place * room + room * 0.1
        width = room * 0.8 / max(len(bars), 1)
        for number, bar in enumerate(bars):
            parts += _bar(bar, number, start + number * width, width * 0.9, y_max)
        parts.append(_text(_LEFT + (place + 0.5) * room, HEIGHT - _BOTTOM + 16, name, "middle"))
    return _svg(parts, y_label)


def _bar(bar: Bar, number: int, x: float, width: float, y_max: float) -> list[str]:
    top, bottom = _y(min(max(bar.value, 0.0), y_max), y_max), _y(0, y_max)
    title = f"<title>{escape(bar.name)}: {bar.value:.3f}</title>"
    parts = [
        f'<rect class="bar c{number % COLOURS}" x="{_n(x)}" y="{_n(top)}" width="{_n(width)}" '
        f'height="{_n(bottom - top)}">{title}</rect>'
    ]
    if bar.low is not None and bar.high is not None:
        middle = x + width / 2
        low, high = _y(max(bar.low, 0.0), y_max), _y(min(bar.high, y_max), y_max)
        parts.append(f'<line class="whisker" x1="{_n(middle)}" x2="{_n(middle)}" y1="{_n(low)}" y2="{_n(high)}"/>')
    return parts


def horizontal_bars(bars: Sequence[Bar], *, label: str) -> str:
    """Named values from left to right, negative ones to the left of zero."""
    if not bars:
        return _nothing(label)
    names, row = 190, 22
    height = row * len(bars) + 16
    low, high = min(0.0, *(bar.value for bar in bars)), max(0.0, *(bar.value for bar in bars))
    span = (high - low) or 1.0
    room = WIDTH - names - 70
    zero = names + room * (0 - low) / span
    parts = []
    for place, bar in enumerate(bars):
        y = 8 + place * row
        length = room * abs(bar.value) / span
        start = zero if bar.value >= 0 else zero - length
        parts.append(_text(names - 8, y + 14, bar.name, "end"))
        parts.append(
            f'<rect class="bar c0" x="{_n(start)}" y="{y + 3}" width="{_n(max(length, 0.5))}" height="{row - 6}"/>'
        )
        parts.append(_text(max(zero, start + length) + 6, y + 14, f"{bar.value:g}", "start"))
    parts.append(f'<line class="axis" x1="{_n(zero)}" x2="{_n(zero)}" y1="4" y2="{height - 4}"/>')
    return _svg(parts, label, height)


def legend(names: Sequence[str]) -> str:
    """The legend as HTML."""
    rows = "".join(f'<li><i class="swatch c{i % COLOURS}"></i>{escape(name)}</li>' for i, name in enumerate(names))
    return f'<ul class="legend">{rows}</ul>'


def _svg(parts: Sequence[str], label: str, height: int = HEIGHT) -> str:
    body = "".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label, quote=True)}">{body}</svg>'


def _nothing(label: str) -> str:
    return f"<p>Nothing to draw: {escape(label)}.</p>"


def _y_axis(top: float, label: str) -> list[str]:
    parts = []
    for step in range(6):
        value = top * step / 5
        y = _y(value, top)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{_n(y)}" y2="{_n(y)}"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{value:g}" if top >= 5 else f"{value:.2g}", "end"))
    parts.append(_text(_LEFT, 11, label, "start"))
    return parts


def _x_axis(right: float, label: str) -> list[str]:
    parts = []
    for step in range(6):
        value = right * step / 5
        shown = f"{value:.0f}" if right >= 10 else f"{value:.2g}"
        parts.append(_text(_x(value, right), HEIGHT - _BOTTOM + 16, shown, "middle"))
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, label, "middle"))
    return parts


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">{escape(text)}</text>'


def _x(value: float, right: float) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * value / right


def _y(value: float, top: float) -> float:
    return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - value / top)


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def round_up(value: float) -> float:
    """The next number that is easy to read on an axis."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 7.5, 10) if value <= step * power * (1 + 1e-9))
