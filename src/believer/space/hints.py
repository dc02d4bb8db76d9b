"""Guesses at the meaning of a constraint function."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any


def adds_up(constraint: Callable[..., Any] | None) -> bool:
    """Whether the code of a function adds numbers, so that it may be a linear rule."""
    code = getattr(getattr(constraint, "func", constraint), "__code__", None)
    if code is None:
        return False
    added = any(step.opname.startswith("BINARY") and step.argrepr == "+" for step in dis.get_instructions(code))
    return added or not {"sum", "fsum"}.isdisjoint(code.co_names)
