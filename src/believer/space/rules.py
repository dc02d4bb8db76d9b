"""Linear rules that points must keep: sums of parts, weighted sums, and the number of parts that may be present at
once.

Rules are data. A space is searched among the points that keep them, and a journal stores them like parameters.

>>> import believer as bv
>>> space = bv.Space(
...     {"a": bv.Float(0, 1), "b": bv.Float(0, 1), "c": bv.Float(0, 0.5)},
...     rules=[bv.sum_to(["a", "b", "c"], 1.0), bv.linear({"a": 2, "b": 1}, at_most=1.2)],
... )
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from believer.arrays import shown, suggested, whole
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space import scale
from believer.space.parameter import Number, Parameter

NEARLY = 1e-9
"""The relative tolerance of rules, because numbers in short decimals need not add up to the last bit."""


_ROUNDING = 1e-15
"""A bound that is smaller than this share of the largest term is 0 with a rounding error."""


@runtime_checkable
class Rule(Protocol):
    """A rule that every suggested point keeps."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the rule."""

    def check(self, parameters: Mapping[str, Parameter]) -> None:
        """Raise InvalidInput unless these parameters, each by itself, can keep the rule."""

    def holds(self, params: Mapping[str, Any]) -> bool:
        """Whether a point keeps the rule, to 1e-9 of its terms."""

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data: the arguments that make an equal rule."""


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum of parameters within bounds: at_least ≤ Σ c_i x_i ≤ at_most, in the user's units.

    It is made by :func:`linear` and :func:`sum_to`.

    Parameters
    ----------
    terms : pairs of a name and its coefficient.
    at_least, at_most : the bounds of the sum; None for no bound, and the same number twice for an equation.
    """

    terms: tuple[tuple[str, float], ...]
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        names = _checked_names([name for name, _ in self.terms], "a linear rule", 1)
        values = [_number(value, f"the coefficient of {name!r}") for name, value in self.terms]
        if 0.0 in values:
            name = names[values.index(0.0)]
            raise InvalidInput(f"coefficients must not be zero; got 0 for {name!r}: leave it out.")
        low, high = (None if b is None else _number(b, "a bound of a rule") for b in (self.at_least, self.at_most))
        if low is None and high is None:
            raise InvalidInput("a linear rule needs at_most=, at_least= or equals=; got none of them.")
        if low is not None and high is not None and low > high:
            raise InvalidInput(f"at_least must not be above at_most; got at_least={low}, at_most={high}.")
        object.__setattr__(self, "terms", tuple(zip(names, values, strict=True)))
        object.__setattr__(self, "at_least", low)
        object.__setattr__(self, "at_most", high)

    def __repr__(self) -> str:
        """The call that makes this rule."""
        low, high = self.at_least, self.at_most
        if low is not None and low == high and len(self.terms) > 1 and all(c == 1.0 for _, c in self.terms):
            return f"sum_to({[*self.names]!r}, {low!r})"
        said = {"at_least": low, "at_most": high} if low != high else {"equals": low}
        bounds = ", ".join(f"{name}={value!r}" for name, value in said.items() if value is not None)
        return f"linear({dict(self.terms)!r}, {bounds})"

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters in the sum."""
        return tuple(name for name, _ in self.terms)

    @property
    def is_equation(self) -> bool:
        """Whether the sum has one value only."""
        return self.at_least is not None and self.at_least == self.at_most

    def check(self, parameters: Mapping[str, Parameter]) -> None:
        """Raise InvalidInput unless all are numbers on a linear scale."""
        for name in self.names:
            _number_named(name, parameters, self)

    def holds(self, params: Mapping[str, Any]) -> bool:
        """Whether the sum lies within the bounds, to 1e-9 of its terms."""
        parts = [c * params[name] for name, c in self.terms]
        total, slack = math.fsum(parts), NEARLY * max(map(abs, [*parts, self.at_least or 0.0, self.at_most or 0.0]))
        above = self.at_least is None or total >= self.at_least - slack
        return above and (self.at_most is None or total <= self.at_most + slack)

    def to_config(self) -> dict[str, Any]:
        """The coefficients and the bounds."""
        return {"terms": [[*term] for term in self.terms], "at_least": self.at_least, "at_most": self.at_most}


@dataclass(frozen=True, slots=True)
class MaxParts:
    """A rule: at most ``most`` of some parameters are above zero. It is made by :func:`max_parts`.

    Parameters
    ----------
    names : the parameters, whose least value is 0.
    most : the number of them that may be present.
    """

    names: tuple[str, ...]
    most: int

    def __post_init__(self) -> None:
        names = _checked_names(self.names, "max_parts", 2)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "most", whole(self.most, "the number of parts", 1, len(names)))

    def __repr__(self) -> str:
        """The call that makes this rule."""
        return f"max_parts({[*self.names]!r}, {self.most})"

    def check(self, parameters: Mapping[str, Parameter]) -> None:
        """Raise InvalidInput unless all are numbers on a linear scale that begins at 0."""
        for name in self.names:
            number = _number_named(name, parameters, self)
            if number.low != 0:
                raise InvalidInput(f"{self!r} needs parts whose least value is 0; got low={number.low} for {name!r}.")

    def holds(self, params: Mapping[str, Any]) -> bool:
        """Whether at most ``most`` of them are above zero."""
        return sum(bool(params[name]) for name in self.names) <= self.most

    def to_config(self) -> dict[str, Any]:
        """The names and the number."""
        return {"names": [*self.names], "most": self.most}


KINDS: dict[str, Any] = {"Linear": Linear, "MaxParts": MaxParts}
"""The names of the library's rules in a config."""


def sum_to(names: Iterable[str], total: float) -> Linear:
    """A rule: the parts of a mixture add up to ``total``.

    Parameters
    ----------
    names : the names of two or more parameters.
    total : the sum, in their units.
    """
    return Linear(tuple((name, 1.0) for name in _checked_names(names, "sum_to", 2)), total, total)


def linear(
    terms: Mapping[str, float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    equals: float | None = None,
) -> Linear:
    """A rule: a weighted sum of parameters lies within bounds, or has one value.

    Parameters
    ----------
    terms : the coefficient of each parameter, by name.
    at_least, at_most : the bounds of the sum.
    equals : the only value of the sum, in place of bounds.
    """
    if not isinstance(terms, Mapping):
        raise InvalidInput(f"terms must be a mapping of names to coefficients; got {shown(terms)}.")
    if equals is not None:
        if at_least is not None or at_most is not None:
            raise InvalidInput(
                "a rule must have either equals or bounds; got both. Leave out equals, or at_least and at_most."
            )
        at_least = at_most = equals
    return Linear(tuple(terms.items()), at_least, at_most)


def max_parts(names: Iterable[str], k: int) -> MaxParts:
    """A rule: at most ``k`` of the parts are present, which means above zero.

    Parameters
    ----------
    names : the names of parameters whose least value is 0.
    k : the largest number of parts that are present.
    """
    return MaxParts(_checked_names(names, "max_parts", 2), k)


def checked_rules(rules: Any, parameters: Mapping[str, Parameter]) -> tuple[Rule, ...]:
    """The rules of a space as a tuple, each checked against its parameters; bounds such as 1e-17 that are 0 with a
    rounding error become 0."""
    given = [rules] if has(rules, Rule) else rules
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"rules must be a list of rules, such as sum_to([...], 1.0); got {shown(rules)}.")
    checked = tuple(given)
    for rule in checked:
        if isinstance(rule, type) or KINDS.get(type(rule).__name__) is not type(rule):
            raise InvalidInput(f"a rule must be a sum_to, linear or max_parts; got {shown(rule)}.")
        rule.check(parameters)
    return tuple([_without_rounding(rule, parameters) if isinstance(rule, Linear) else rule for rule in checked])


def _without_rounding(rule: Linear, parameters: Mapping[str, Any]) -> Linear:
    """``rule``, in which bounds that are 0 with a rounding error, such as 0.3 - 0.2 - 0.1, become 0.

    A tolerance of 1e-9 of the terms would otherwise be zero at a point where all terms are 0.
    """
    sizes = [abs(c) * max(abs(parameters[name].low), abs(parameters[name].high)) for name, c in rule.terms]
    least = _ROUNDING * max(sizes)
    low, high = (None if b is None else 0.0 if abs(b) <= least else b for b in (rule.at_least, rule.at_most))
    return rule if (low, high) == (rule.at_least, rule.at_most) else replace(rule, at_least=low, at_most=high)


def to_config(rule: Rule) -> dict[str, Any]:
    """A rule as plain JSON data, with the name of its kind."""
    return {"kind": type(rule).__name__, **rule.to_config()}


def from_config(config: Any) -> Rule:
    """A rule from its entry in a config; InvalidInput if the entry is not a rule."""
    try:
        settings = {name: value for name, value in config.items() if name != "kind"}
        if "terms" in settings:
            settings["terms"] = tuple((name, value) for name, value in settings["terms"])
        rule: Rule = KINDS[config["kind"]](**settings)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"a rule must be what a space's config has; got {shown(config)}.") from error
    return rule


def _checked_names(names: Any, what: str, least: int) -> tuple[str, ...]:
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise InvalidInput(f"{what} needs a list of names; got {shown(names)}.")
    found: Sequence[Any] = list(names)
    for name in found:
        if not isinstance(name, str):
            raise InvalidInput(f"{what} needs names of parameters; got {shown(name)}.")
    if len(found) < least or len(set(found)) < len(found):
        raise InvalidInput(f"{what} needs {least} or more names, each once; got {shown(found)}.")
    return tuple(found)


def _number(value: Any, what: str) -> float:
    number = scale.real(value)
    if number is None or abs(number) > 1e100:
        raise InvalidInput(f"{what} must be a finite number; got {shown(value)}.")
    return number


def _number_named(name: str, parameters: Mapping[str, Parameter], rule: object) -> Number:
    """The parameter as a number whose encoding is affine; InvalidInput for anything else."""
    if name not in parameters:
        meant = suggested(name, parameters)
        raise InvalidInput(f"{rule!r} must name parameters among {', '.join(parameters)}; got {name!r}.{meant}")
    parameter = parameters[name]
    if not has(parameter, Number):
        raise InvalidInput(f"{rule!r} needs numbers; got the parameter {parameter!r} for {name!r}.")
    if parameter.log:
        raise InvalidInput(
            f"{rule!r} needs parameters on a linear scale; {name!r} has log=True. Remove log=True, or leave the "
            "parameter out of the rule."
        )
    if parameter.rounded:
        raise InvalidInput(
            f"{rule!r} needs parameters of at most 100,000 values, or continuous ones; got {parameter!r} for {name!r}."
        )
    return parameter
