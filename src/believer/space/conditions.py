"""The conditions of all parameters of a space, which determine the parameters that have a value at a point.

The needs of a parameter include those of its parents, of their parents, and so on: it has a value if each of these
parameters has one of the remaining values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import BoolArray
from believer.errors import InvalidInput
from believer.space.parameter import MAX_GRID, Parameter
from believer.space.when import When, in_words, when_of

Keys: TypeAlias = frozenset[tuple[type, Any]]
"""Values with their types, because 1, 1.0 and True are three values."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions under which parameters of a space have a value.

    Attributes
    ----------
    when : the condition of each conditional parameter; parents come first.
    needs : for each of them, all parameters that it depends on, with their values that allow it.
    """

    when: dict[str, When]
    needs: dict[str, dict[str, Keys]]

    @staticmethod
    def of(parameters: Mapping[str, Parameter]) -> Conditions:
        """The conditions of ``parameters``; InvalidInput for a condition that can never hold."""
        given = {name: when_of(p) for name, p in parameters.items()}
        left = {name: _checked(name, when, parameters) for name, when in given.items() if when is not None}
        ordered: dict[str, When] = {}
        while left:
            ready = {name: one for name, one in left.items() if not one.keys() & left.keys()}
            if not ready:
                raise InvalidInput(
                    f"conditions must not depend on each other in a circle; got one among {', '.join(left)}."
                )
            ordered |= ready
            left = {name: one for name, one in left.items() if name not in ready}
        needs: dict[str, dict[str, Keys]] = {}
        for name, one in ordered.items():
            needs[name] = {parent: _keys(values) for parent, values in one.items()}
            for parent in one:
                needs[name], clash = _both(needs[name], needs.get(parent, {}))
                if clash:
                    raise InvalidInput(
                        f"a condition must hold somewhere; that of {name!r}, {in_words(one)}, never does. Change it."
                    )
        return Conditions(ordered, needs)

    def holds(self, name: str, params: Mapping[str, Any]) -> bool:
        """Whether the parameter ``name`` has a value at a point whose parents' values are in ``params``."""
        needed = self.needs.get(name, {})
        return all(parent in params and _key(params[parent]) in allowed for parent, allowed in needed.items())

    def present(self, names: Iterable[str], params: Mapping[str, Any]) -> tuple[str, ...]:
        """Those of ``names`` that have a value at the point ``params``."""
        return tuple([name for name in names if name not in self.when or self.holds(name, params)])

    def cut(self, points: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
        """The points with those of ``names`` that have a value there, as all of them give one."""
        parents = [name for name in names if any(name in needed for needed in self.needs.values())]
        found: list[dict[str, Any]] = []
        kept: dict[tuple[tuple[type, Any], ...], tuple[str, ...]] = {}
        for point in points:
            key = tuple([_key(point[parent]) for parent in parents])
            if key not in kept:
                kept[key] = self.present(names, point)
            found.append({name: point[name] for name in kept[key]})
        return found

    def is_met(self, name: str, earlier: Mapping[str, Parameter], fill: Mapping[str, Any]) -> bool:
        """Whether a parameter may have a value if its parents have values of the ``earlier`` parameters, or those in
        ``fill``."""
        for parent, keys in self.needs.get(name, {}).items():
            if parent in earlier:
                if not any(_is_value(earlier[parent], value, parent) for _, value in keys):
                    return False
            elif parent in fill and _key(fill[parent]) not in keys:
                return False
        return True

    def refuse(self, names: Iterable[str], what: str) -> None:
        """Raise InvalidInput if ``what`` needs a parameter of ``names`` that does not always have a value."""
        for name in names:
            if name in self.when:
                raise InvalidInput(
                    f"{what} needs parameters that always have a value; {name!r} has one only if "
                    f"{in_words(self.when[name])}."
                )

    def under(self, values: Mapping[str, Sequence[Any]]) -> dict[str, Keys]:
        """The values that parents can still have if each of some parameters must have one of its ``values``.

        InvalidInput if they exclude each other.
        """
        left: dict[str, Keys] = {}
        for name, some in values.items() if self.when else ():
            left, clash = _both(left, {**self.needs.get(name, {}), name: _keys(some)})
            if clash:
                said = ", ".join(f"{n}={' or '.join(map(repr, values[n]))}" for n in values if n in left or n == name)
                which = next(n for n in (name, *values) if n in self.when and clash in self.needs[n])
                raise InvalidInput(
                    f"fixed parameters must have values together; got {said}, but {which!r} has one only if "
                    f"{in_words(self.when[which])}."
                )
        return left

    def is_possible(self, name: str, left: Mapping[str, Keys]) -> bool:
        """Whether a parameter can have a value if its parents have the ``left`` values only."""
        return not _both(self.needs.get(name, {}), left)[1]


def allowed_values(values: Iterable[Any], keys: Keys) -> BoolArray:
    """A mask (k,) of the ``values`` that are among ``keys``."""
    found = np.array([_key(value) in keys for value in values], dtype=bool)
    found.flags.writeable = False
    return found


def _checked(name: str, when: When, parameters: Mapping[str, Parameter]) -> When:
    """A condition with the canonical values of its parents."""
    found: When = {}
    for parent, values in when.items():
        if parent not in parameters:
            raise InvalidInput(f"when of {name!r} must name parameters of the space; got {parent!r}.")
        p = parameters[parent]
        if p.count is None:
            raise InvalidInput(
                f"when of {name!r} needs parents whose values can be listed, such as a Categorical or an Int; got "
                f"{p!r} for {parent!r}."
            )
        if p.rounded:
            raise InvalidInput(
                f"when of {name!r} needs parents of at most {MAX_GRID:,} values; got {p!r} for {parent!r}, which has "
                f"{p.count:,}. Use a larger step or narrower bounds."
            )
        try:
            found[parent] = tuple([p.check(value, parent) for value in values])
        except InvalidInput as error:
            raise InvalidInput(f"when of {name!r}: {error}") from error
    return found


def _both(one: Mapping[str, Keys], other: Mapping[str, Keys]) -> tuple[dict[str, Keys], str]:
    """The values allowed by both, and the name of a parameter that has none left, or ""."""
    found = {**other, **{name: keys & other.get(name, keys) for name, keys in one.items()}}
    return found, next((name for name, keys in found.items() if not keys), "")


def _is_value(parameter: Parameter, value: Any, name: str) -> bool:
    try:
        parameter.check(value, name)
    except InvalidInput:
        return False
    return True


def _keys(values: Iterable[Any]) -> Keys:
    return frozenset(map(_key, values))


def _key(value: Any) -> tuple[type, Any]:
    return type(value), value
