"""Tables, sentences and small pictures as HTML, for notebooks.

Colors are inherited from the page, so that everything is readable in light and dark mode. Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from believer.space.units import amount
from believer.study.columns import Column, shortened

_RULE = "1px solid rgba(128,128,128,.35)"
_ACCENT = "#2f80c9"
_QUIET = "rgba(128,128,128,.8)"
_LONG = 40
"""The number of characters from which on a text may take several lines."""

_WIDTH, _HEIGHT, _EDGE = 260, 72, 6


def text(value: str) -> str:
    """``value`` as the text of an element; lone surrogates, which are not valid in a page, are escaped."""
    return escape(value.encode("utf-8", "backslashreplace").decode("utf-8"))


def block(title: str, *parts: str) -> str:
    """A heading and what is below it, as one element."""
    head = f'<div style="font-weight:600">{text(title)}</div>'
    return f'<div style="max-width:100%;overflow-x:auto;line-height:1.45">{head}{"".join(parts)}</div>'


def sentence(*lines: str, quiet: bool = False) -> str:
    """Lines of text, one below the other; empty lines are left out."""
    style = ' style="opacity:.75"' if quiet else ""
    return "".join(f"<div{style}>{text(line)}</div>" for line in lines if line)


def table(columns: Sequence[Column], rows: int | None = None) -> str:
    """A table with a heading for each column; a long table is cut, and a line says so."""
    columns, left_out = shortened(columns) if rows is None else shortened(columns, rows)
    head = "".join(f'<th scope="col" style="{_cell(one)};font-weight:600">{text(one.title)}</th>' for one in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_cell(one)}">{text(one.cells[i])}</td>' for one in columns) + "</tr>"
        for i in range(max((len(one.cells) for one in columns), default=0))
    )
    style = "border-collapse:collapse;margin:.4em 0;font-variant-numeric:tabular-nums"
    made = f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return made + sentence(left_out, quiet=True)


def _cell(one: Column) -> str:
    is_long = any(len(cell) > _LONG for cell in one.cells)
    room = "min-width:20em" if is_long else "white-space:nowrap"
    side = "right" if one.is_number else "left"
    return f"text-align:{side};{room};padding:.15em .8em .15em 0;border-bottom:{_RULE}"


def convergence(values: Sequence[float | None], best: Sequence[float | None], units: str) -> str:
    """The ``values`` of trials as dots, in their order, and the ``best`` so far as a line; "" without two results."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    across = _Scale(0.0, len(values) - 1.0, _EDGE, _WIDTH - _EDGE)
    # A few outliers must not flatten the line.
    line = [value for value in best if value is not None]
    middle = sorted(known)[len(known) // 10 : len(known) - len(known) // 10]
    low, high = min(*line, *middle), max(*line, *middle)
    up = _Scale(low, high, _HEIGHT - _EDGE, _EDGE)
    dots = "".join(_dot(across(i), up(y), 1.8, _QUIET) for i, y in enumerate(values) if y is not None)
    corners: list[str] = []
    for i, y in enumerate(best):
        if y is not None:
            corners.append(
                f"{'H' if corners else 'M'}{across(i):.1f}{f' V{up(y):.1f}' if corners else f' {up(y):.1f}'}"
            )
    path = f'<path d="{" ".join(corners)}" fill="none" stroke="{_ACCENT}" stroke-width="2"/>'
    caption = f"results (dots) and the best so far (line) by trial, {low:.4g} to {amount(f'{high:.4g}', units)}"
    return _svg(dots + path, caption) + sentence(caption, quiet=True)


def scatter(points: Sequence[tuple[float, float]], names: tuple[str, str], words: str) -> str:
    """Pairs of numbers as points, to the right and up, joined in the order of the first; "" without two.

    ``words`` is a description of the picture, for screen readers.
    """
    if len(points) < 2:
        return ""
    across = _Scale(min(x for x, _ in points), max(x for x, _ in points), _EDGE, _WIDTH - _EDGE)
    up = _Scale(min(y for _, y in points), max(y for _, y in points), _HEIGHT - _EDGE, _EDGE)
    places = [(across(x), up(y)) for x, y in sorted(points)]
    line = f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{_QUIET}"/>'
    caption = sentence(f"{names[0]} to the right, {names[1]} up", quiet=True)
    return _svg(line + "".join(_dot(x, y, 3.0, _ACCENT) for x, y in places), words) + caption


def _dot(x: float, y: float, radius: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>'


def _svg(inner: str, words: str) -> str:
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    style = f"display:block;margin:.4em 0;border-left:{_RULE};border-bottom:{_RULE};max-width:100%"
    return f'<svg {size} role="img" aria-label="{text(words)}" style="{style}">{inner}</svg>'


class _Scale:
    """A linear scale from one interval to another; values outside are clipped."""

    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        self._low, self._span, self._start, self._stop = low, high - low, start, stop

    def __call__(self, value: float) -> float:
        share = (value - self._low) / self._span if self._span > 0.0 else 0.5
        return self._start + min(max(share, 0.0), 1.0) * (self._stop - self._start)
