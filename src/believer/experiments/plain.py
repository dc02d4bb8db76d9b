"""Plain JSON: what reads back exactly as it was written, in any process and any later year."""

from __future__ import annotations

import json
import math
from typing import Any

from believer.errors import InvalidInput


def encode(value: Any, what: str, *, sort: bool = False) -> str:
    """``value`` as one line of ASCII JSON; floats by ``repr``, so they come back bit for bit.

    Raises ``InvalidInput`` unless the line reads back equal: NaN, tuples, arrays, keys that are not strings.
    """
    try:
        line = json.dumps(value, allow_nan=False, sort_keys=sort, separators=(",", ":"))
        same = bool(json.loads(line) == value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{what} must be plain JSON; got something else: {error}. Use float(x), int(x) or x.tolist() for NumPy's "
            "numbers, and None where there is no finite number."
        ) from error
    if not same:
        raise InvalidInput(
            f"{what} must read back as it was written; got {line[:200]}, which does not. "
            "Use lists in place of tuples, and strings as keys."
        )
    return line


def decode(line: str, what: str) -> dict[str, Any]:
    """The JSON object of one line; ``InvalidInput`` if it is anything else, or holds numbers that are not finite."""
    try:
        record = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} must be a JSON object; got {line[:80]!r}: {error}") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"{what} must be a JSON object; got {line[:80]!r}.")
    return record


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"numbers must be finite; got {number:.50}")
    return value
