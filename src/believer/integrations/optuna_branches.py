"""The branches of an Optuna study, learned from finished trials: the conditions under which parameters are asked for.

A parameter that every trial asked for, with the same range, is shared. Another parameter belongs to a branch if an
earlier parameter explains it: trials asked for it exactly if that one had certain values. The result does not depend on
the order in which trials ended, so that all workers find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Key: TypeAlias = tuple[type, Any]
"""A value with its type, because 1 and True are different."""

ABSENT: Key = (type(None), "absent")
MAX_VALUES = 200
"""The largest number of values of a parameter on which others may depend."""


class Branches:
    """The parameters that finished trials asked for.

    Parameters
    ----------
    is_listed : a function that says whether the values of a distribution can be listed and are few.
    """

    def __init__(self, is_listed: Callable[[Any], bool]) -> None:
        self._is_listed = is_listed
        self._trials: list[dict[str, Any]] = []
        self._ranges: dict[str, Any] = {}
        """The only distribution of each name; None if it has changed."""
        self._listed: list[str] = []
        """Names on which others may depend."""
        self._first: dict[str, tuple[int, int]] = {}
        """The first trial that asked for it, and its place there."""
        self._counts: dict[str, int] = {}
        self._with: dict[tuple[str, str], set[Key]] = {}
        """For each name and each other listed name, the values of the other one in trials that asked for the name."""
        self._without: dict[tuple[str, str], set[Key]] = {}

    def __len__(self) -> int:
        return len(self._trials)

    def add(self, number: int, distributions: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """A trial that has ended: its distributions, in the order in which they were asked for, and its values, in
        which choices are given by their index."""
        new = [name for name in distributions if name not in self._ranges]
        for name, one in distributions.items():
            if name in new:
                self._ranges[name] = one
                if self._is_listed(one):
                    self._listed.append(name)
            elif self._ranges[name] != one:
                self._ranges[name] = None
        for place, name in enumerate(distributions):
            self._first[name] = min(self._first.get(name, (number, place)), (number, place))
            self._counts[name] = self._counts.get(name, 0) + 1
        for earlier in self._trials if new else ():
            self._note(earlier, new, self._listed)
            self._note(
                earlier, [name for name in self._first if name not in new], [n for n in self._listed if n in new]
            )
        self._trials.append({name: values[name] for name in distributions})
        self._note(self._trials[-1], self._first, self._listed)

    def _note(self, point: Mapping[str, Any], names: Iterable[str], listed: Sequence[str]) -> None:
        """Note which of ``names`` a trial has, and the values of those that are ``listed``."""
        keys = {other: (type(point[other]), point[other]) if other in point else ABSENT for other in listed}
        for name in names:
            kept = self._with if name in point else self._without
            for other, key in keys.items():
                if other != name:
                    kept.setdefault((name, other), set()).add(key)

    def shared(self) -> dict[str, Any]:
        """The distributions of the parameters that all trials asked for, by name in alphabetical order."""
        n = len(self._trials)
        return {name: one for name, one in sorted(self._ranges.items()) if one is not None and self._counts[name] == n}

    def found(self) -> tuple[dict[str, Any], dict[str, dict[str, list[Any]]]]:
        """The distributions of shared parameters and of those in branches, by name; and the condition of each
        branch."""
        rules: dict[str, dict[str, list[Any]]] = {name: {} for name in self.shared()}
        names, placed = sorted(self._first, key=lambda name: self._first[name]), -1
        while placed < len(rules):
            placed = len(rules)
            for name in names:
                parent = None if name in rules or self._ranges[name] is None else self._parent(name, names, rules)
                if parent is not None:
                    rules[name] = {parent: sorted(value for _, value in self._with[name, parent])}
        found = {name: self._ranges[name] for name in sorted(rules)}
        return found, {name: rules[name] for name in found if rules[name]}

    def _parent(self, name: str, names: list[str], placed: Collection[str]) -> str | None:
        """The last of the ``placed`` parameters whose values decide whether a parameter is asked for; None if there is
        none."""
        for other in names[::-1]:
            there, elsewhere = (kept.get((name, other), set()) for kept in (self._with, self._without))
            # Without another value elsewhere it is in the branch that the other is in itself.
            if other in placed and there and ABSENT not in there and not there & elsewhere and elsewhere - {ABSENT}:
                return other
        return None
