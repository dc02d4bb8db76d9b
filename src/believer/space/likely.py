"""Beliefs about where the optimum is: for each number a normal density mixed with a uniform one.

======  ======================================================================================
symbol  meaning
======  ======================================================================================
u       the position of a value in the cube, [0, 1]
c, w    the center of a belief and its width, in the cube
π(u)    its density: (1 - ε) N(u; c, w²) / Z + ε, where Z is the mass of the bell in [0, 1]
======  ======================================================================================

The density is relative to the uniform density, so that an inactive parameter contributes a factor of 1. Far from the
center it is ε, so that a few results outweigh a wrong belief.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from believer.arrays import Array, IntArray, frozen, shown
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space import scale
from believer.space.parameter import Number, Parameter
from believer.space.region import Region, active

_ROOM = 0.05
"""ε."""

_SPREAD_HALF = 0.5
"""The share of a design that ignores beliefs."""

_CELLS = 256
"""Of a continuous parameter, for the design."""


def keep_likely(part: Number) -> None:
    """Check the ``likely`` of a frozen number and keep it as a pair of plain numbers, or None."""
    given = part.likely  # type: ignore[attr-defined]
    if given is None:
        return
    rule = "likely must be (center, width), such as (0.01, 10) for a parameter with log=True, where width is a factor"
    pair = tuple(map(scale.real, given)) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if len(pair) != 2 or None in pair:
        raise InvalidInput(f"{rule}; got {shown(given)}.")
    center, width = pair
    assert center is not None
    assert width is not None
    if not part.low <= center <= part.high:
        raise InvalidInput(f"the center of likely must lie in [{part.low}, {part.high}]; got {center}.")
    if not width > (1.0 if part.log else 0.0):
        least = "a factor above 1, as log=True" if part.log else "above 0"
        raise InvalidInput(f"the width of likely must be {least}; got {width}.")
    object.__setattr__(part, "likely", pair)


@dataclass(frozen=True, slots=True, eq=False)
class Likely:
    """The beliefs about the parameters of a space.

    Attributes
    ----------
    columns : the columns of the parameters with beliefs, (k,).
    centers, widths : the centers and widths in the cube, (k,).
    tables : for the design, the cumulative shares, from 0 to 1, of the values or cells of each column.
    """

    columns: IntArray
    centers: Array
    widths: Array
    tables: tuple[Array, ...]

    def log_density(self, X: Array, region: Region) -> tuple[Array, Array]:
        """Σ log π (m,) over the active parameters at ``X`` (m, d) in a region, and its derivatives (m, d)."""
        at = (X[:, self.columns] - self.centers) / self.widths
        # The mass of the normal density within [0, 1].
        mass = ndtr((1.0 - self.centers) / self.widths) - ndtr(-self.centers / self.widths)
        bell = (1.0 - _ROOM) * np.exp(-0.5 * at**2) / (self.widths * math.sqrt(2.0 * math.pi) * mass)
        counts = active(region, X)[:, self.columns]
        slopes = np.zeros(X.shape)
        slopes[:, self.columns] = np.where(counts, -at / self.widths * bell / (bell + _ROOM), 0.0)
        total: Array = np.where(counts, np.log(bell + _ROOM), 0.0).sum(axis=1)
        return total, slopes

    def centered(self, X: Array) -> Array:
        """``X`` (m, d) with these parameters at their centers."""
        out = X.copy()
        out[:, self.columns] = self.centers
        return out

    def warped(self, U: Array) -> Array:
        """Uniform numbers ``U`` (m, d) of a design, half of whose points follow the beliefs."""
        out = U.copy()
        for column, table in zip(self.columns, self.tables, strict=True):
            out[:, column] = np.interp(U[:, column], table, np.linspace(0.0, 1.0, len(table)))
        return np.minimum(out, np.nextafter(1.0, 0.0))


def likely_of(parameters: Mapping[str, Parameter], starts: Mapping[str, int]) -> Likely | None:
    """The beliefs about some parameters, whose first columns are ``starts``; None if there are none."""
    found: list[tuple[int, float, float, Array]] = []
    for name, p in parameters.items():
        pair: Any = getattr(p, "likely", None)
        if pair is None or not has(p, Number) or p.low == p.high:
            continue
        low, high = (math.log(p.low), math.log(p.high)) if p.log else (p.low, p.high)
        center = float(scale.positions(p, np.array([pair[0]]), p.log)[0])
        width = (math.log(pair[1]) if p.log else pair[1]) / (high - low)
        listed = p.count is not None and not p.rounded
        u = p.grid()[:, 0] if listed else (np.arange(_CELLS) + 0.5) / _CELLS
        bell = np.exp(-0.5 * ((u - center) / width) ** 2)
        bell = bell if bell.sum() > 0.0 else np.ones(len(u))
        shares = np.cumsum(_SPREAD_HALF / len(u) + (1.0 - _SPREAD_HALF) * bell / bell.sum())
        found.append((starts[name], center, width, frozen(np.concatenate([[0.0], shares / shares[-1]]))))
    if not found:
        return None
    columns, centers, widths, tables = zip(*found, strict=True)
    places: IntArray = np.array(columns, dtype=np.intp)
    places.flags.writeable = False
    return Likely(places, frozen(centers), frozen(widths), tables)
