"""Uniform points under linear rules, by steps along chords: lines through a point, up to where the rules end them.

A point that is drawn uniformly from a chord through a uniform point is uniform itself ([Smith1984], hit-and-run). So a
set of known uniform points gives any number of others: start at one of them and go along each direction of a basis,
each time to the position on the chord given by a uniform number.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, packed, read_only
from believer.numerics import backend
from believer.space.geometry import Geometry

_KNOWN, _TURNS = 256, 4
"""The number of known points, and the number of rounds through all directions by which they are made from the
center."""

_FLAT = 1e-12


def along(given: Geometry, X: Array, V: Array, u: Array) -> Array:
    """Points (m, j) at the shares ``u`` (m,) of the chords through ``X`` (m, j) along ``V``, (m, j) or (j,) for all.

    The points ``X`` keep the rules. A share is 0 at one end of the chord and 1 at the other.
    """
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
    """Uniform points (m, j) from uniform numbers ``U`` (m, f + 1), which select one of the ``known`` points and a
    position on each of f chords."""
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
