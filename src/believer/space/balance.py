"""Sums that hold in the user's units to the last digit: one part of each sum absorbs the rounding.

Encoding and decoding rounds each number separately, so that three parts may add up to 0.9999999999999999. Here numbers
are rounded to the decimals that matter, and one number of each equation takes the remainder, in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from believer.space.parameter import Parameter
from believer.space.rules import Linear, MaxParts, Rule

_DIGITS = 13
"""The number of decimals of a number in [0, 1] that are kept."""

_NEARLY = 1e-6
"""If a point violates a rule by more than this share of its terms, or of their ranges, it was not meant to keep the
rule."""


def balanced(
    params: dict[str, Any],
    rules: Sequence[Rule],
    parameters: Mapping[str, Parameter],
    held: Collection[str] = (),
    decimals: int | None = None,
) -> dict[str, Any]:
    """``params``, in which the equations that hold up to rounding are made to hold exactly, in decimals.

    Parameters
    ----------
    params : the point, in the user's units.
    rules : the rules; only equations are used.
    parameters : the parameters, by name.
    held : the names of parameters whose values must not change.
    decimals : the number of decimals; None for as many as matter for each number.
    """
    equations = [
        rule for rule in rules if isinstance(rule, Linear) and rule.is_equation and _nearly(rule, params, parameters)
    ]
    if not equations:
        return params
    names = dict.fromkeys(name for rule in rules for name in rule.names)
    free = [name for name in names if parameters[name].count is None and name not in held]
    rounded = {**params, **{name: _shortened(params[name], parameters[name], decimals) for name in free}}
    absent = {name for rule in rules if isinstance(rule, MaxParts) for name in rule.names if not rounded[name]}
    free = [name for name in free if name not in absent]  # an absent part that took a remainder would be present
    exact = {name: _written(rounded[name]) for name in names}
    rows = [_Row(rule) for rule in equations]
    pivots: dict[str, _Row] = {}
    for row in rows:
        rooms = {
            name: _room(rounded[name], parameters[name]) for name in free if name not in pivots and row.terms.get(name)
        }
        pivot = max(rooms, key=rooms.__getitem__, default=None)
        if pivot is not None:
            row.scale(pivot)
            for other in rows:
                if other is not row:
                    other.take(row, pivot)
            pivots[pivot] = row
    for pivot, row in pivots.items():
        left = row.total - sum(c * exact[name] for name, c in row.terms.items() if name != pivot)
        number: Any = parameters[pivot]
        rounded[pivot] = min(max(float(left), number.low), number.high)
    return rounded


class _Row:
    """An equation in exact arithmetic, during the elimination."""

    def __init__(self, rule: Linear) -> None:
        assert rule.at_most is not None
        self.terms = {name: _written(c) for name, c in rule.terms}
        self.total = _written(rule.at_most)

    def scale(self, pivot: str) -> None:
        by = self.terms[pivot]
        self.terms = {name: c / by for name, c in self.terms.items()}
        self.total /= by

    def take(self, row: _Row, pivot: str) -> None:
        by = self.terms.get(pivot)
        if by:
            names = dict.fromkeys((*self.terms, *row.terms))
            self.terms = {name: self.terms.get(name, Fraction(0)) - by * row.terms.get(name, 0) for name in names}
            self.total -= by * row.total


def _nearly(rule: Linear, params: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    assert rule.at_most is not None
    parts = [c * params[name] for name, c in rule.terms]
    # If all terms are 0 up to rounding, only their ranges say what is small.
    ranges = [c * (parameters[name].high - parameters[name].low) for name, c in rule.terms]
    return bool(abs(math.fsum(parts) - rule.at_most) <= _NEARLY * max(map(abs, [*parts, *ranges, rule.at_most])))


def _written(value: float) -> Fraction:
    """The exact value of a number as it is written in decimals: 0.1 is a tenth."""
    return Fraction(Decimal(repr(float(value))))


def _shortened(value: float, parameter: Any, decimals: int | None) -> float:
    """``value`` rounded to ``decimals``, by default those that matter; a bound is unchanged."""
    if value in (parameter.low, parameter.high):
        return value
    if decimals is None:
        decimals = _DIGITS - math.ceil(math.log10(parameter.high - parameter.low))
    short = round(value, decimals) if decimals < 300 else value
    return float(min(max(short, parameter.low), parameter.high))


def _room(value: float, parameter: Any) -> float:
    """The distance of a number from the nearer bound."""
    return float(min(value - parameter.low, parameter.high - value))
