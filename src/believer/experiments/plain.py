"""Plain JSON: what reads back exactly as it was written, in any process and any later year."""

from __future__ import annotations

import json
from typing import Any

from believer.errors import InvalidInput
from believer.study.formats import parse_object


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
            "numbers, and None if there is no finite number."
        ) from error
    if not same:
        raise InvalidInput(
            f"{what} must read back as it was written; got {line[:200]}, which does not. "
            "Use lists in place of tuples, and strings as keys."
        )
    return line


def decode(line: str, what: str) -> dict[str, Any]:
    """The JSON object of one line; ``InvalidInput`` if it is anything else, or holds numbers that are not finite."""
    return parse_object(line, what)
