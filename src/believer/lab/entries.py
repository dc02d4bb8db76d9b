"""Read the tables of a study.toml: parameters, rules and outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from believer.arrays import nearest
from believer.errors import InvalidInput
from believer.lab.places import Place
from believer.space import rules
from believer.space.parameters import Categorical, Discrete, Float, Int, Ordinal, Parameter
from believer.space.rules import Rule
from believer.study.goal import AtLeast, AtMost, Between, Desirability, Goal, Maximize, Minimize

T = TypeVar("T")

_COMMON = ("units", "backfill", "when")
_NUMBER = (("low", "high"), ("step", "log", "likely", *_COMMON))
_CHOICES = (("choices",), _COMMON)

TYPES: dict[str, tuple[Callable[..., Parameter], tuple[str, ...], tuple[str, ...]]] = {
    "float": (Float, *_NUMBER),
    "int": (Int, *_NUMBER),
    "categorical": (Categorical, ("choices",), ("descriptors", *_COMMON)),
    "ordinal": (Ordinal, *_CHOICES),
    "discrete": (Discrete, ("values",), ("log", "likely", *_COMMON)),
}
"""The kinds of parameters by their names in the file, with the keys that an entry needs and those that it may have."""

_IMPLIED = {"low": "float", "high": "float", "choices": "categorical", "values": "discrete"}
"""The type of an entry without a type, by a key that it has."""

RULES = {
    "sum_to": (("sum_to", "of"), ()),
    "max_parts": (("max_parts", "of"), ()),
    "terms": (("terms",), ("at_least", "at_most", "equals")),
}
"""The kinds of rules by the key that identifies them, with the keys that they need and those that they may have."""

GOALS = ("minimize", "maximize", "desirability")
_LIMITS = ("at_least", "at_most")
_OUTCOME = ("goal", *_LIMITS, "probability", "bad", "good", "weight", "units")


def parameter(entry: Any, place: Place) -> Parameter:
    """The parameter of an entry; an error names its line."""
    given = place.table(entry)
    kind = given.get("type", next((_IMPLIED[key] for key in given if key in _IMPLIED), None))
    if kind is None:
        raise place.error(f"{place.name} needs a type: {', '.join(TYPES)}.")
    if not isinstance(kind, str) or kind not in TYPES:
        raise place.at("type").error(f"there is no type {kind!r}; {nearest(str(kind), [*TYPES])}")
    make, needed, optional = TYPES[kind]
    place.refuse_unknown(given, ("type", *needed, *optional))
    _need(needed, given, place, f", of type {kind},")
    settings = {key: value for key, value in given.items() if key != "type"}
    return _made(place, place.path[-1], lambda: make(**settings))


def rule(entry: Any, place: Place) -> Rule:
    """The rule of an entry; an error names its line."""
    given = place.table(entry)
    kind = next((key for key in RULES if key in given), None)
    if kind is None:
        place.refuse_unknown(given, [*RULES, "of", "at_least", "at_most", "equals"])
        raise place.error('a rule needs sum_to = 100 and of = ["a", "b"], or max_parts and of, or terms and a bound.')
    needed, optional = RULES[kind]
    place.refuse_unknown(given, (*needed, *optional))
    _need(needed, given, place, "")
    if kind == "sum_to":
        return _made(place, "this rule", lambda: rules.sum_to(given["of"], given["sum_to"]))
    if kind == "max_parts":
        return _made(place, "this rule", lambda: rules.max_parts(given["of"], given["max_parts"]))
    bounds = {key: given[key] for key in optional if key in given}
    return _made(place, "this rule", lambda: rules.linear(given["terms"], **bounds))


def outcome(entry: Any, place: Place) -> Goal:
    """The goal of an outcome; an error names its line."""
    given = place.table(entry)
    place.refuse_unknown(given, _OUTCOME)
    goal, limits = given.get("goal"), [key for key in _LIMITS if key in given]
    if goal is not None and (not isinstance(goal, str) or goal not in GOALS):
        raise place.at("goal").error(f"there is no goal {goal!r}; {nearest(str(goal), GOALS)}")
    if (goal is None) == (not limits):
        raise place.error(
            f"{place.name} needs one goal: goal = {' or '.join(repr(one) for one in GOALS)}, or a limit, "
            f"at_least = 95 or at_most = 5 or both; got {'both' if limits else 'none'}."
        )
    common = {key: given[key] for key in ("units",) if key in given}
    if goal == "desirability":
        _need(("bad", "good"), given, place, ", a desirability,")
        own = {key: given[key] for key in ("bad", "good", "weight") if key in given}
        return _made(place, place.path[-1], lambda: Desirability(**own, **common))
    wrong: list[str] = [key for key in ("bad", "good", "weight") if key in given]
    if goal is not None and "probability" in given:
        wrong.append("probability")
    if wrong:
        raise place.at(wrong[0]).error(f"{place.name} cannot have {wrong[0]!r} with this goal; leave it out.")
    if goal is not None:
        return _made(place, place.path[-1], lambda: (Maximize if goal == "maximize" else Minimize)(**common))
    common |= {key: given[key] for key in ("probability",) if key in given}
    if len(limits) == 2:
        return _made(place, place.path[-1], lambda: Between(given["at_least"], given["at_most"], **common))
    limit = AtLeast if limits[0] == "at_least" else AtMost
    return _made(place, place.path[-1], lambda: limit(given[limits[0]], **common))


def _need(needed: tuple[str, ...], given: Mapping[str, Any], place: Place, what: str) -> None:
    missing = [key for key in needed if key not in given]
    if missing:
        raise place.error(f"{place.name}{what} needs {' and '.join(needed)}; {missing[0]!r} is missing.")


def _made(place: Place, name: str | int, make: Callable[[], T]) -> T:
    """Call ``make``, and add the line and the name of the entry to an error."""
    try:
        return make()
    except InvalidInput as error:
        raise place.error(f"{name}: {error}") from error
