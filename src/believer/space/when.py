"""The condition of a parameter: other parameters, and their values for which it has a value itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import shown
from believer.errors import InvalidInput
from believer.space.parameter import Parameter
from believer.space.scale import plain

When: TypeAlias = dict[str, tuple[Any, ...]]
"""For the name of each parent, the allowed values; all parents must have one of theirs."""


def when_of(part: object) -> When | None:
    """The condition of a parameter of any kind; None for one that always has a value."""
    return checked_when(getattr(part, "when", None))


def keep_when(part: Parameter) -> None:
    """Check the ``when`` of a frozen parameter, and keep it as a dict of tuples of plain values, or None."""
    object.__setattr__(part, "when", checked_when(part.when))  # type: ignore[attr-defined]


def checked_when(given: Any) -> When | None:
    """Check a condition and return it with plain values; InvalidInput for anything else."""
    if given is None:
        return None
    rule = 'when must name the values of other parameters, such as {"kernel": "rbf"} or {"kernel": ["rbf", "poly"]}'
    if not isinstance(given, Mapping) or not given:
        raise InvalidInput(f"{rule}; got {shown(given)}.")
    found: When = {}
    for name, values in given.items():
        if not isinstance(name, str) or isinstance(values, Mapping | set | frozenset):
            raise InvalidInput(f"{rule}; got {shown(given)}.")
        several = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes)
        found[name] = tuple(map(plain, values)) if several else (plain(values),)
        if not found[name]:
            raise InvalidInput(f"{rule}; got no value for {name!r}.")
    return found


def written(when: When | None) -> dict[str, dict[str, list[Any]]]:
    """The entry of a config for a condition: empty if there is none."""
    return {} if when is None else {"when": {name: list(values) for name, values in when.items()}}


def in_words(when: When) -> str:
    """ "kernel is 'rbf' or 'poly' and degree is 3"."""
    return " and ".join(f"{name} is {' or '.join(map(repr, values))}" for name, values in when.items())
