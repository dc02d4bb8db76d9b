"""Uniform points where linear rules hold: by steps along chords, the lines through a point as far as the rules let go.

A point that is drawn uniformly from a chord through a uniform point is uniform itself ([Smith1984], hit-and-run). So
points that are known once carry over to as many as are wanted: from one of them, a turn along the directions of a
basis, each time to the place on the chord that a uniform number says.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, packed, read_only
from believer.numerics import backend
from believer.space.geometry import Geometry

_KNOWN, _TURNS = 256, 4
"""Points that are known once, and the turns through all directions by which they come from the center."""

_FLAT = 1e-12


def along(given: Geometry, X: Array, V: Array, u: Array) -> Array:
    """Points (m, j) at the shares ``u`` (m,), from 0 to 1, of the chords through lawful ``X`` (m, j) along ``V``, (m,
    j) or (j,) for all."""
    at, way, low, high = X, V, given.lower, given.upper
    if not given.equations.all():
        A = given.A[~given.equations].T
        at, way = np.hstack([X, X @ A]), np.concatenate([V, V @ A], axis=-1)
        low = np.concatenate([low, given.low[~given.equations]])
        high = np.concatenate([high, given.high[~given.equations]])
    ahead, still = way > 0.0, np.abs(way) < _FLAT
    slope = np.where(still, 1.0, way)
    last = ((np.where(still, np.inf, np.where(ahead, high, low)) - at) / slope).min(axis=1)
    first = ((np.where(still, -np.inf, np.where(ahead, low, high)) - at) / slope).max(axis=1)
    first, last = np.minimum(first, 0.0), np.maximum(last, 0.0)
    t = first + u * (last - first)
    found: Array = np.minimum(np.maximum(X + t[:, None] * V, given.lower), given.upper)
    return found


def known_points(given: Geometry, basis: Array) -> Array:
    """Uniform points (256, j), the same ones for the same rules."""
    rng = np.random.default_rng(0)
    X = np.repeat(given.center[None, :], _KNOWN, axis=0)
    for _ in range(_TURNS * len(basis)):
        V = rng.standard_normal((_KNOWN, len(basis))) @ basis
        X = along(given, X, V, rng.random(_KNOWN))
    return read_only(X)


def spread(given: Geometry, basis: Array, known: Array, U: Array) -> Array:
    """Uniform points (m, j) from uniform numbers ``U`` (m, f + 1): one of the ``known``, and a place on each of f
    chords."""
    X = known[np.minimum((U[:, 0] * len(known)).astype(np.intp), len(known) - 1)]
    native, loose = backend.native, ~given.equations
    if native is not None:
        bounds = (
            packed(part) for part in (given.lower, given.upper, given.A[loose], given.low[loose], given.high[loose])
        )
        return native.chords(packed(X), packed(basis), packed(U[:, 1:]), *bounds)
    for direction, u in zip(basis, U[:, 1:].T, strict=True):
        X = along(given, X, direction, u)
    return X
