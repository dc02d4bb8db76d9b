"""Sums that hold in the user's units to the last digit: what rounding leaves over is given to one part of each.

Encoding and decoding rounds each number for itself, so that three parts may add up to 0.9999999999999999. Numbers are
written here with as many decimals as matter, and one of each equation takes what is left, in exact arithmetic.
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
"""Decimals of a number in [0, 1] that are kept."""

_NEARLY = 1e-6
"""A point that fails a rule by more of its terms, or of their ranges, was never meant to keep it."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
"""Sums and products of decimals are exact in it."""

Pivots: TypeAlias = tuple[str | None, ...]
"""The part of each equation that takes what is left; None where no part can."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What is the same for all points whose equations are to hold exactly, in decimals.

    Attributes
    ----------
    equations : the rules that matter, and for each what a failure is measured by, where all terms are 0.
    names : the parameters in rules.
    free : of those that may change their least and greatest values, and their decimals.
    optional : parts of which no more than so many may be present.
    shown : whether the numbers are for display alone.
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
        """What the equations among ``rules`` need.

        The values of parameters that are ``held`` do not change. Numbers that are only shown have so many ``decimals``;
        None for as many as matter for each parameter.
        """
        equations = [rule for rule in rules if isinstance(rule, Linear) and rule.is_equation]
        names = tuple(dict.fromkeys(name for rule in rules for name in rule.names)) if equations else ()
        free = {}
        for name in names:
            p = parameters[name]
            if p.count is None and name not in held:
                own = _DIGITS - math.ceil(math.log10(p.high - p.low)) if decimals is None else decimals
                free[name] = (p.low, p.high, own)
        # Where all terms are 0 but for rounding, only their ranges say what is small.
        ranges = [max(abs(c * (parameters[n].high - parameters[n].low)) for n, c in rule.terms) for rule in equations]
        optional = frozenset(name for rule in rules if isinstance(rule, MaxParts) for name in rule.names)
        return Balance(tuple(zip(equations, ranges, strict=True)), names, free, optional, decimals is not None)

    def balanced(self, params: dict[str, Any]) -> dict[str, Any]:
        """``params`` with equations that hold but for rounding made to hold exactly."""
        kept = self.equations if self.free else ()
        equations = tuple([rule for rule, least in kept if _is_nearly_kept(rule, least, params)])
        if not equations:
            return params
        rounded = {**params}
        for name, (low, high, decimals) in self.free.items():
            rounded[name] = _shortened(params[name], low, high, decimals)
        # A part that takes what rounding leaves would be present.
        free = [name for name in self.free if rounded[name] or name not in self.optional]
        rooms = {name: min(rounded[name] - self.free[name][0], self.free[name][1] - rounded[name]) for name in free}
        found, fits = self._filled(equations, rounded, rooms, False)
        return found if fits else self._filled(equations, rounded, rooms, True)[0]

    def _filled(
        self, equations: tuple[Linear, ...], rounded: dict[str, Any], rooms: Mapping[str, float], weighed: bool
    ) -> tuple[dict[str, Any], bool]:
        """``rounded`` where the part with the most room takes what is left, ``weighed`` by how much it counts.

        The flag says whether all of it had room.
        """
        pivots: Pivots = ()
        for place in range(len(equations)):
            terms = _rows(equations, pivots)[place].terms
            choices = {name: room for name, room in rooms.items() if name not in pivots and terms.get(name)}
            if weighed:
                choices = {name: room * abs(float(terms[name])) for name, room in choices.items()}
            elif self.shown:  # what is left over has no more decimals than the others have
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
    """An equation, solved for a pivot that has been taken out of the others if there is one.

    Attributes
    ----------
    terms, total : coefficients by name, and what the sum must be.
    whole : the other names with whole numbers, and what they are taken from, all ``scale`` times as large.
    """

    terms: Mapping[str, Fraction]
    total: Fraction
    whole: tuple[tuple[str, Decimal], ...] = ()
    from_: Decimal = Decimal(0)
    scale: int = 1

    def left(self, exact: Mapping[str, Decimal]) -> float:
        """What the pivot has to be for the ``exact`` values of the others."""
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
    """A row with the whole numbers that say what its pivot has to be."""
    others = {name: c for name, c in terms.items() if name != pivot and c}
    scale = math.lcm(total.denominator, *(c.denominator for c in others.values()))
    whole = tuple([(name, Decimal(int(-c * scale))) for name, c in others.items()])
    return _Row(terms, total, whole, Decimal(int(total * scale)), scale)


def _is_whole(terms: Mapping[str, Fraction], pivot: str) -> bool:
    """Whether all coefficients are multiples of that of the pivot."""
    return all((c / terms[pivot]).denominator == 1 for c in terms.values())


def _is_nearly_kept(rule: Linear, least: float, params: Mapping[str, Any]) -> bool:
    assert rule.at_most is not None
    parts = [c * params[name] for name, c in rule.terms]
    largest = max(least, abs(rule.at_most), max(parts), -min(parts))
    return bool(abs(math.fsum(parts) - rule.at_most) <= _NEARLY * largest)


def _written(value: float | None) -> Fraction:
    """A number as it is written in decimals: 0.1 is a tenth."""
    assert value is not None
    return Fraction(Decimal(repr(float(value))))


def _shortened(value: float, low: float, high: float, decimals: int) -> float:
    """``value`` with so many decimals; a bound stays as it is."""
    if value in (low, high):
        return value
    short = round(value, decimals) if decimals < 300 else value
    return float(min(max(short, low), high))
