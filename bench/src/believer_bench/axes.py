"""A space in the terms of another library: its parameters that vary, and their values there.

A parameter that can take one value only is not shown: some libraries refuse it, and none can learn from it.

| symbol | meaning | shape |
|---|---|---|
| X | points of the encoded cube | (n, d) |
| rows | the same points, the values of the parameters that vary as the library knows them | n lists |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from believer.arrays import Array
from believer.capabilities import has
from believer.space import Space
from believer.space.parameters import MAX_GRID, Number, Parameter

Code: TypeAlias = Literal["value", "index", "position"]
"""What a library is told of a parameter: its value, where it stands among its values from 0, or its encoded column."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The parameters of ``space`` that vary, each in a code.

    Parameters
    ----------
    space : without a constraint.
    codes : by name, in the order of the space.
    """

    space: Space
    codes: Mapping[str, Code]

    @staticmethod
    def of(space: Space, code: Callable[[Parameter], Code]) -> Axes:
        """The space's, each parameter in the code that a library wants for it."""
        return Axes(space, {name: code(p) for name, p in space.parameters.items() if p.count != 1})

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Those that vary, by name."""
        return {name: self.space.parameters[name] for name in self.codes}

    def rows(self, X: Array) -> list[list[Any]]:
        """The library's values at the points ``X`` (n, d)."""
        shown = self.parameters
        return [
            [_told(shown[name], params[name], name, code) for name, code in self.codes.items()]
            for params in self.space.decode(X)
        ]

    def points(self, rows: Iterable[Sequence[Any]]) -> Array:
        """The points (n, d) of the library's ``rows``, always of the space."""
        shown = self.parameters
        # Zero is the low end of a number and the first of equal choices: the value of what has no other.
        (fixed,) = self.space.decode(np.zeros((1, self.space.dim)))
        found = [
            {
                name: _meant(shown[name], given, code)
                for (name, code), given in zip(self.codes.items(), row, strict=True)
            }
            for row in rows
        ]
        return self.space.encode({**fixed, **params} for params in found)


def _told(p: Parameter, value: Any, name: str, code: Code) -> Any:
    """A parameter's value in the library's terms."""
    if code == "value":
        return value
    encoded = p.encode([value], name)[0].tolist()
    if code == "position":
        return encoded[0]
    return round((value - p.low) / (p.step or 1)) if has(p, Number) else encoded.index(1.0)


def _meant(p: Parameter, given: Any, code: Code) -> Any:
    """The parameter's value that the library means, rounding mended."""
    if code == "position":
        return p.decode(np.array([[given]], dtype=np.float64))[0]
    if not has(p, Number):
        return p.decode(p.grid()[[int(given)]])[0]
    number = given if code == "value" else p.low + int(given) * (p.step or 1)
    inside = min(max(number, p.low), p.high)
    return type(p.low)(inside)


def is_listed(p: Number) -> bool:
    """Is it a grid, of a size to be held as one?"""
    return p.step is not None and last(p) < MAX_GRID


def last(p: Parameter) -> int:
    """The index of the last value of a grid."""
    return (p.count or 1) - 1
