"""The labels of a study's numbers: units, and the goal of each outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from believer.space import Space
from believer.space.balance import Balance
from believer.space.parameter import Parameter
from believer.space.rules import Linear
from believer.space.units import amount, units_by_name
from believer.study.goal import bounds, words
from believer.study.goals import Goals

_LONGEST = 60
"""The largest number of characters of a text that is shown in full on a line with others."""

DIGITS, _FEW = 6, 4
"""The number of digits of a number in a table, and on a line with others."""

MAX_NAMED = 12
"""Numbers that a line names one by one."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Units and goals by name; empty if none were given.

    Attributes
    ----------
    parameters : the units of parameters that have some.
    outcomes : the units of outcomes that have some.
    wanted : the goal of each outcome in words: "maximize", "at least 95 %".
    limits : the limits of outcomes, as a table shows them: "≥ 95".
    ascending : for each objective, whether less is better.
    objective : the units of the only objective; "" if there are several or none are given.
    equations : the rules that are equations; they also hold for the numbers that are shown.
    parts : the parameters in them, by name.
    largest : digits before the decimal mark of the largest number that a part can be.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    ascending: Mapping[str, bool] = field(default_factory=dict)
    objective: str = ""
    equations: tuple[Linear, ...] = ()
    parts: Mapping[str, Parameter] = field(default_factory=dict)
    largest: int = 0

    @staticmethod
    def of(space: Space, goals: Goals) -> Labels:
        """The labels of a study."""
        equations = tuple(rule for rule in space.rules if isinstance(rule, Linear) and rule.is_equation)
        parts: dict[str, Any] = {name: space.parameters[name] for rule in equations for name in rule.names}
        ends = [abs(end) for part in parts.values() for end in (part.low, part.high)]
        return Labels(
            units_by_name(space.parameters),
            units_by_name(goals.wanted),
            {name: words(goal) for name, goal in goals.wanted.items()},
            {name: bounds(goals.wanted[name]) for name in goals.limited},
            {output.name: output.sign > 0.0 for output in goals.outputs if output.limits is None},
            goals.units(goals.objectives[0]) if len(goals.objectives) == 1 else "",
            equations,
            parts,
            math.ceil(math.log10(max(ends))) if ends else 0,
        )

    def shown(self, params: Mapping[str, Any], digits: int) -> Mapping[str, Any]:
        """A point in which the parts of sums are rounded so that the sums still hold. A point that does not keep the
        sums is left as it is."""
        if not self.equations or not self.parts.keys() <= params.keys():
            return params
        return Balance.of(self.equations, self.parts, decimals=digits - self.largest).balanced(dict(params))

    def point(self, params: Mapping[str, Any]) -> str:
        """ "a=0.25, b=0.75, T=80 °C"."""
        return described(self.shown(params, _FEW), self.parameters)


NO_LABELS = Labels()


def number(value: Any, digits: int = DIGITS, longest: int = _LONGEST) -> str:
    """A value as tables and lines show it, on one line: a float with so many digits, a text cut where it is long."""
    return f"{value:.{digits}g}" if isinstance(value, float) else one_line(str(value), longest)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """``text`` without line breaks and other control characters, shortened if it is long."""
    text = text if text.isprintable() else text.encode("unicode_escape", "backslashreplace").decode("ascii")
    return text if len(text) <= longest else text[: longest - 1] + "…"


def described(params: Mapping[str, Any], units: Mapping[str, str] | None = None) -> str:
    """ "lr=0.01, T=80 °C"."""
    units = units or {}
    return ", ".join(f"{k}={amount(number(v, _FEW), units.get(k, ''))}" for k, v in params.items())


def named(values: Mapping[str, Any]) -> str:
    """ "x=0.31, solvent='DMF'", for a repr: the first of many, on one line."""
    parts = [f"{one_line(k)}={f'{v:.4g}' if isinstance(v, float) else one_line(repr(v))}" for k, v in values.items()]
    more = len(parts) - MAX_NAMED
    return ", ".join([*parts[:MAX_NAMED], *([f"and {more} more"] if more > 0 else [])])
