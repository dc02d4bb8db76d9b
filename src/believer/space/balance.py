"""Sums that hold in the user's units to the last digit: one part of each sum absorbs the rounding.

Encoding and decoding rounds each number separately, so that three parts may add up to 0.9999999999999999. Here numbers
are rounded to the decimals that matter, and one number of each equation takes the remainder, in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from believer.space.rules import Linear, MaxParts, Rule

_DIGITS = 13
"""The number of decimals of a number in [0, 1] that are kept."""

_NEARLY = 1e-6
"""If a point violates a rule by more than this share of its terms, or of their ranges, it was not meant to keep the
rule."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Sums and products of decimals are exact in it."""

Pivots: TypeAlias = tuple[str | None, ...]
"""The part of each equation that takes the remainder; None if no part can."""


@dataclass(frozen=True, slots=True)
class Balance:
    """The data shared by all points in which the equations are made to hold exactly, in decimals.

    Attributes
    ----------
    equations : the equations, and for each the scale of its violation if all terms are 0.
    names : the names of the parameters in rules.
    free : for each parameter that may change, its least and greatest values and its number of decimals.
    optional : the names of parts of which only a limited number may be present.
    shown : whether the numbers are for display only.
    """

    equations: tuple[tuple[Linear, float], ...]
    names: tuple[str, ...]
    free: Mapping[str, tuple[float, float, int]]
    optional: frozenset[str]
    shown: bool

    @staticmethod
    def of(
        rules: Sequence[Rule],
        parameters: Mapping[str, Any],
        held: Collection[str] = (),
        decimals: int | None = None,
    ) -> Balance:
        """The data for the equations among ``rules``.

        The values of parameters that are ``held`` do not change. ``decimals`` is the number of decimals of numbers for
        display; None for as many as matter for each parameter.
        """
        equations = [rule for rule in rules if isinstance(rule, Linear) and rule.is_equation]
        names = tuple(dict.fromkeys(name for rule in rules for name in rule.names)) if equations else ()
        free = {}
        for name in names:
            p = parameters[name]
            if p.count is None and name not in held:
                own = _DIGITS - math.ceil(math.log10(p.high - p.low)) if decimals is None else decimals
                free[name] = (p.low, p.high, own)
        # If all terms are 0 up to rounding, only their ranges say what is small.
        ranges = [max(abs(c * (parameters[n].high - parameters[n].low)) for n, c in rule.terms) for rule in equations]
        optional = frozenset(name for rule in rules if isinstance(rule, MaxParts) for name in rule.names)
        return Balance(tuple(zip(equations, ranges, strict=True)), names, free, optional, decimals is not None)

    def balanced(self, params: dict[str, Any]) -> dict[str, Any]:
        """``params``, in which the equations that hold up to rounding are made to hold exactly."""
        kept = self.equations if self.free else ()
        equations = tuple([rule for rule, least in kept if _is_nearly_kept(rule, least, params)])
        if not equations:
            return params
        rounded = {**params}
        for name, (low, high, decimals) in self.free.items():
            rounded[name] = _shortened(params[name], low, high, decimals)
        # An absent part that took a remainder would be present.
        free = [name for name in self.free if rounded[name] or name not in self.optional]
        rooms = {name: min(rounded[name] - self.free[name][0], self.free[name][1] - rounded[name]) for name in free}
        found, fits = self._filled(equations, rounded, rooms, False)
        return found if fits else self._filled(equations, rounded, rooms, True)[0]

    def _filled(
        self, equations: tuple[Linear, ...], rounded: dict[str, Any], rooms: Mapping[str, float], weighed: bool
    ) -> tuple[dict[str, Any], bool]:
        """``rounded``, in which the part with the most room takes the remainder of each equation.

        With ``weighed``, the room of a part is multiplied by its coefficient. The flag says whether all remainders fit.
        """
        pivots: Pivots = ()
        for place in range(len(equations)):
            terms = _rows(equations, pivots)[place].terms
            choices = {name: room for name, room in rooms.items() if name not in pivots and terms.get(name)}
            if weighed:
                choices = {name: room * abs(float(terms[name])) for name, room in choices.items()}
            elif self.shown:  # then a remainder has no more decimals than the other numbers
                choices = {name: room for name, room in choices.items() if _is_whole(terms, name)} or choices
            pivots = (*pivots, max(choices, key=choices.__getitem__, default=None))
        found, fits = {**rounded}, True
        exact = {name: Decimal(repr(float(rounded[name]))) for name in self.names}
        for row, pivot in zip(_rows(equations, pivots), pivots, strict=True):
            if pivot is not None:
                value, (low, high, _) = row.left(exact), self.free[pivot]
                found[pivot], fits = min(max(value, low), high), fits and low <= value <= high
        return found, fits


@dataclass(frozen=True, slots=True)
class _Row:
    """An equation in exact arithmetic. If it is solved for a pivot, the pivot is eliminated from the other equations.

    Attributes
    ----------
    terms, total : the coefficients by name, and the required sum.
    whole : the other names with whole coefficients; their terms and ``from_`` add up to ``scale`` times the pivot.
    """

    terms: Mapping[str, Fraction]
    total: Fraction
    whole: tuple[tuple[str, Decimal], ...] = ()
    from_: Decimal = Decimal(0)
    scale: int = 1

    def left(self, exact: Mapping[str, Decimal]) -> float:
        """The value of the pivot for the ``exact`` values of the others."""
        left = self.from_
        for name, c in self.whole:
            left = _EXACT.fma(c, exact[name], left)
        return float(left) if self.scale == 1 else float(Fraction(left) / self.scale)


@lru_cache(maxsize=256)
def _rows(equations: tuple[Linear, ...], pivots: Pivots) -> tuple[_Row, ...]:
    """The ``equations``, of which the first are solved for their ``pivots``, in exact arithmetic."""
    rows = [({name: _written(c) for name, c in rule.terms}, _written(rule.at_most)) for rule in equations]
    for place, pivot in enumerate(pivots):
        if pivot is None:
            continue
        terms, total = rows[place]
        own = terms[pivot]
        terms, total = {name: c / own for name, c in terms.items()}, total / own
        for other, (others, sum_) in enumerate(rows):
            by = others.get(pivot)
            if other == place:
                rows[place] = terms, total
            elif by:
                names = dict.fromkeys((*others, *terms))
                kept = {name: others.get(name, Fraction(0)) - by * terms.get(name, 0) for name in names}
                rows[other] = kept, sum_ - by * total
    solved = [_solved(*row, pivot) for row, pivot in zip(rows, pivots, strict=False)]
    return (*solved, *(_Row(*row) for row in rows[len(pivots) :]))


def _solved(terms: Mapping[str, Fraction], total: Fraction, pivot: str | None) -> _Row:
    """A row with the whole coefficients that determine its pivot."""
    others = {name: c for name, c in terms.items() if name != pivot and c}
    scale = math.lcm(total.denominator, *(c.denominator for c in others.values()))
    whole = tuple([(name, Decimal(int(-c * scale))) for name, c in others.items()])
    return _Row(terms, total, whole, Decimal(int(total * scale)), scale)


def _is_whole(terms: Mapping[str, Fraction], pivot: str) -> bool:
    """Whether all coefficients are multiples of the pivot's coefficient."""
    return all((c / terms[pivot]).denominator == 1 for c in terms.values())


def _is_nearly_kept(rule: Linear, least: float, params: Mapping[str, Any]) -> bool:
    assert rule.at_most is not None
    parts = [c * params[name] for name, c in rule.terms]
    largest = max(least, abs(rule.at_most), max(parts), -min(parts))
    return bool(abs(math.fsum(parts) - rule.at_most) <= _NEARLY * largest)


def _written(value: float | None) -> Fraction:
    """The exact value of a number as it is written in decimals: 0.1 is a tenth."""
    assert value is not None
    return Fraction(Decimal(repr(float(value))))


def _shortened(value: float, low: float, high: float, decimals: int) -> float:
    """``value`` rounded to ``decimals``; a bound is unchanged."""
    if value in (low, high):
        return value
    short = round(value, decimals) if decimals < 300 else value
    return float(min(max(short, low), high))
