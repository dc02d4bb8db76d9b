"""Values and text for a page: plain JSON, with text escaped for figures."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from unicodedata import bidirectional

Json: TypeAlias = dict[str, Any]

_SAFE = 2**53
"""Whole numbers beyond this one are not exact in a browser, and are shown as text."""

_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def cell(value: Any) -> float | int | str | None:
    """A value as a table shows it: a number if a browser represents it exactly, and text otherwise."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return readable(str(value))
    if isinstance(value, int):
        return value if abs(value) <= _SAFE else str(value)
    return value if math.isfinite(value) else str(value)


def readable(text: str) -> str:
    """Text without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers with six digits; None in place of values that are not finite."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in map(float, values)]


def clipped(text: str, most: int) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def label(text: str, most: int = 40) -> str:
    """Text for a figure, escaped so that plotly reads neither markup nor mathematics in it."""
    return html.escape(clipped(readable(text), most), quote=False).replace("$", "&#36;")


def in_script(value: Any) -> str:
    """JSON that is safe in a ``<script>`` of a page, whatever text it contains."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False).translate(_SCRIPT)


_TURNED = {"R", "AL", "RLE", "RLO", "LRE", "LRO", "RLI", "LRI", "FSI"}
"""The classes of characters that change the direction of the following text."""

_ISOLATE, _END = "\u2068", "\u2069"
_MAX_LETTERS, _MAX_TEXT = 60, 600


def isolated(text: str) -> str:
    """Text for a sentence, isolated so that right-to-left text does not reorder the rest."""
    turned = any(bidirectional(letter) in _TURNED for letter in text)
    return f"{_ISOLATE}{text}{_END}" if turned else text


def point(params: Mapping[str, Any], units: Mapping[str, str]) -> str:
    """A point in a sentence: "lr=0.01, depth=3"; long names and values, and long lists, are cut short."""
    values = {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in params.items()}
    values = {name: f"{text} {units[name]}" if units.get(name) else text for name, text in values.items()}
    parts = [
        "=".join(isolated(clipped(readable(part), _MAX_LETTERS)) for part in (name, value))
        for name, value in values.items()
    ]
    whole = ", ".join(parts)
    if len(whole) <= _MAX_TEXT:
        return whole
    kept = [part for i, part in enumerate(parts) if len(", ".join(parts[: i + 1])) <= _MAX_TEXT]
    return f"{', '.join(kept)} and {len(parts) - len(kept)} more"


def number(value: float) -> str:
    """A number in a sentence."""
    return f"{value:.6g}"


def percent(probability: float) -> str:
    """A probability in a sentence; a probability near 0 or 1 is never rounded to certainty."""
    if probability > 0.995:
        return "more than 99 %"
    return "less than 1 %" if probability < 0.005 else f"{probability:.0%}".replace("%", " %")
