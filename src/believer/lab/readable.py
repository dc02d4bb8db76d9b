"""Suggested values with as many digits as one sets on an instrument, which still keep the rules of the space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space import Float, Space
from believer.space.parameter import Number, Parameter

_STEPS = 400
"""The least number of steps in which a continuous range is shown."""

_DIGITS = 3
"""The number of significant digits of a number on a logarithmic scale."""

_FINER = 4
"""The number of further decimals, from 0, that are tried until the rules can be kept."""


class Readable:
    """The points of a space as sheets show them.

    Parameters
    ----------
    space : the space of the study.
    """

    def __init__(self, space: Space) -> None:
        self._parameters = dict(space.parameters) if space.table is None else {}  # rows of a table are shown unchanged
        ruled = {name for rule in space.rules for name in rule.names}
        found = {name: decimals_of(p) for name, p in self._parameters.items()}
        self._decimals = {name: d for name, d in found.items() if d is not None}
        self._ruled = self._decimals.keys() & ruled
        self._space = space
        self._grids: dict[int, _Grid | None] = {}

    def of(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """``params`` with few digits. If the rules cannot be kept, they have more digits, and finally all."""
        shown = {name: v if name in self._ruled else self._rounded(name, v) for name, v in params.items()}
        for more in range(_FINER) if self._ruled and self._ruled <= params.keys() else ():
            if more not in self._grids:
                self._grids[more] = self._grid(more)
            if (grid := self._grids[more]) is not None:
                found = grid.nearest(shown)
                if all(rule.holds(found) for rule in self._space.rules):
                    return found
        return shown

    def is_ruled(self, name: str) -> bool:
        """Whether the shown value of a parameter depends on others, because they are in the same rule."""
        return name in self._ruled

    def half_step(self, name: str, value: float) -> float:
        """Half of the last digit with which a ``value`` of a parameter is shown; 0 if it is shown in full."""
        if name in self._decimals:
            return 0.5 * 10.0 ** -self._decimals[name]
        if name in self._parameters and _is_logarithmic(self._parameters[name]) and value > 0.0:
            return 0.5 * 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
        return 0.0

    def _rounded(self, name: str, value: Any) -> Any:
        """One value with few digits, within its bounds."""
        p = self._parameters.get(name)
        if not isinstance(value, float) or p is None or not has(p, Number):
            return value
        if name in self._decimals:
            value = round(value, self._decimals[name])
        elif _is_logarithmic(p):
            value = float(f"{value:.{_DIGITS}g}")
        return min(max(value, float(p.low)), float(p.high))

    def _grid(self, more: int) -> _Grid | None:
        """The space with the continuous parameters in rules on grids; None if a grid or a rule is impossible there."""
        steps = {name: self._decimals[name] + more for name in self._ruled}
        try:
            parts = {name: _on_grid(p, steps.get(name)) for name, p in self._parameters.items()}
            return _Grid(self._space, Space(parts, rules=self._space.rules), steps)
        except InvalidInput:
            return None


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """A space, and the same space with some continuous parameters on grids of given decimals."""

    space: Space
    gridded: Space
    decimals: Mapping[str, int]

    def nearest(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The point on the grids near to ``params`` that keeps the rules, or nearly."""
        X, start = self.space.encode([dict(params)]), 0
        for name, p in self.gridded.parameters.items():
            if name in self.decimals:
                assert has(p, Number)
                X[0, start] = min(max((params[name] - p.low) / (p.high - p.low), 0.0), 1.0)
            start += p.width
        (found,) = self.gridded.decode(self.gridded.region().project(X))
        return {name: found[name] if name in self.decimals else value for name, value in params.items()}


def decimals_of(p: Parameter) -> int | None:
    """The decimals with which values of a continuous parameter are shown; None for a parameter of any other kind."""
    if not has(p, Number) or p.log or p.count is not None or not isinstance(p.low, float):
        return None
    return max(0, math.ceil(math.log10(_STEPS / (p.high - p.low)) - 1e-9))


def _is_logarithmic(p: Parameter) -> bool:
    return has(p, Number) and p.log and p.count is None


def _on_grid(p: Parameter, decimals: int | None) -> Parameter:
    """The parameter, restricted to values with this number of decimals; InvalidInput if these are too few."""
    if decimals is None:
        return p
    assert has(p, Number)
    step = 10.0**-decimals
    low, high = math.ceil(p.low / step - 1e-6), math.floor(p.high / step + 1e-6)
    return Float(round(low * step, decimals), round(high * step, decimals), step=step)
