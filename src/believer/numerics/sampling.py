"""Space-filling points in the unit cube: Latin hypercube, scrambled Sobol; and normal ones made of them.

All take a ``numpy.random.Generator``; none needs ``scipy.stats``, whose import alone costs more than an ask.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from believer.arrays import Array

_BITS = 30

# Primitive polynomial (as an integer whose bits are its coefficients), then the first direction integers m_1, m_2, ...;
# dimensions 2 to 64 of the table published with [JoeKuo2008].
_DIRECTIONS: tuple[tuple[int, ...], ...] = (
    (3, 1),
    (7, 1, 3),
    (11, 1, 3, 1),
    (13, 1, 1, 1),
    (19, 1, 1, 3, 3),
    (25, 1, 3, 5, 13),
    (37, 1, 1, 5, 5, 17),
    (41, 1, 1, 5, 5, 5),
    (47, 1, 1, 7, 11, 19),
    (55, 1, 1, 5, 1, 1),
    (59, 1, 1, 1, 3, 11),
    (61, 1, 3, 5, 5, 31),
    (67, 1, 3, 3, 9, 7, 49),
    (91, 1, 1, 1, 15, 21, 21),
    (97, 1, 3, 1, 13, 27, 49),
    (103, 1, 1, 1, 15, 7, 5),
    (109, 1, 3, 1, 15, 13, 25),
    (115, 1, 1, 5, 5, 19, 61),
    (131, 1, 3, 7, 11, 23, 15, 103),
    (137, 1, 3, 7, 13, 13, 15, 69),
    (143, 1, 1, 3, 13, 7, 35, 63),
    (145, 1, 3, 5, 9, 1, 25, 53),
    (157, 1, 3, 1, 13, 9, 35, 107),
    (167, 1, 3, 1, 5, 27, 61, 31),
    (171, 1, 1, 5, 11, 19, 41, 61),
    (185, 1, 3, 5, 3, 3, 13, 69),
    (191, 1, 1, 7, 13, 1, 19, 1),
    (193, 1, 3, 7, 5, 13, 19, 59),
    (203, 1, 1, 3, 9, 25, 29, 41),
    (211, 1, 3, 5, 13, 23, 1, 55),
    (213, 1, 3, 7, 3, 13, 59, 17),
    (229, 1, 3, 1, 3, 5, 53, 69),
    (239, 1, 1, 5, 5, 23, 33, 13),
    (241, 1, 1, 7, 7, 1, 61, 123),
    (247, 1, 1, 7, 9, 13, 61, 49),
    (253, 1, 3, 3, 5, 3, 55, 33),
    (285, 1, 3, 1, 15, 31, 13, 49, 245),
    (299, 1, 3, 5, 15, 31, 59, 63, 97),
    (301, 1, 3, 1, 11, 11, 11, 77, 249),
    (333, 1, 3, 1, 11, 27, 43, 71, 9),
    (351, 1, 1, 7, 15, 21, 11, 81, 45),
    (355, 1, 3, 7, 3, 25, 31, 65, 79),
    (357, 1, 3, 1, 1, 19, 11, 3, 205),
    (361, 1, 1, 5, 9, 19, 21, 29, 157),
    (369, 1, 3, 7, 11, 1, 33, 89, 185),
    (391, 1, 3, 3, 3, 15, 9, 79, 71),
    (397, 1, 3, 7, 11, 15, 39, 119, 27),
    (425, 1, 1, 3, 1, 11, 31, 97, 225),
    (451, 1, 1, 1, 3, 23, 43, 57, 177),
    (463, 1, 3, 7, 7, 17, 17, 37, 71),
    (487, 1, 3, 1, 5, 27, 63, 123, 213),
    (501, 1, 1, 3, 5, 11, 43, 53, 133),
    (529, 1, 3, 5, 5, 29, 17, 47, 173, 479),
    (539, 1, 3, 3, 11, 3, 1, 109, 9, 69),
    (545, 1, 1, 1, 5, 17, 39, 23, 5, 343),
    (557, 1, 3, 1, 5, 25, 15, 31, 103, 499),
    (563, 1, 1, 1, 11, 11, 17, 63, 105, 183),
    (601, 1, 1, 5, 11, 9, 29, 97, 231, 363),
    (607, 1, 1, 5, 15, 19, 45, 41, 7, 383),
    (617, 1, 3, 7, 7, 31, 19, 83, 137, 221),
    (623, 1, 1, 1, 3, 23, 15, 111, 223, 83),
    (631, 1, 1, 5, 13, 31, 15, 55, 25, 161),
    (637, 1, 1, 3, 13, 25, 47, 39, 87, 257),
)

SOBOL_COLUMNS = len(_DIRECTIONS) + 1
"""Columns that are a true Sobol sequence; further ones are Latin ([Owen1998] calls this padding)."""


def latin_hypercube(n: int, d: int, rng: np.random.Generator) -> Array:
    """``n`` points in [0, 1)^d, one in each of the n equal slices of every axis ([McKay1979])."""
    cells = rng.permuted(np.tile(np.arange(n, dtype=np.float64), (d, 1)), axis=1).T
    points: Array = (cells + rng.random((n, d))) / n
    return points


@lru_cache(maxsize=64)
def _direction_matrix(d: int) -> npt.NDArray[np.uint32]:
    """Direction numbers v_jk as (_BITS, d) integers below 2^_BITS ([JoeKuo2008] section 2)."""
    V = np.zeros((_BITS, d), dtype=np.uint32)
    V[:, 0] = [1 << (_BITS - 1 - k) for k in range(_BITS)]
    for j in range(1, d):
        poly, *m = _DIRECTIONS[j - 1]
        degree = poly.bit_length() - 1
        for k in range(degree, _BITS):
            new = m[k - degree] ^ (m[k - degree] << degree)
            for i in range(1, degree):
                if poly >> (degree - i) & 1:
                    new ^= m[k - i] << i
            m.append(new)
        V[:, j] = [m[k] << (_BITS - 1 - k) for k in range(_BITS)]
    V.flags.writeable = False
    return V


@lru_cache(maxsize=16)
def sobol_integers(n: int, d: int) -> npt.NDArray[np.uint32]:
    """The first ``n`` points of the unscrambled sequence as (n, d) integers, natural (not Gray-code) order."""
    V = _direction_matrix(d)
    points = np.zeros((1, d), dtype=np.uint32)
    for k in range(max(n - 1, 0).bit_length()):
        points = np.concatenate([points, points ^ V[k]])
    points = points[:n]
    points.flags.writeable = False
    return points


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """``n`` points in (0, 1)^d: a Sobol sequence with a random digital shift; columns past the 64th are Latin."""
    width = min(d, SOBOL_COLUMNS)
    shift = rng.integers(0, 1 << _BITS, size=width, dtype=np.uint32)
    points: Array = ((sobol_integers(n, width) ^ shift) + 0.5) / (1 << _BITS)
    if d > width:
        points = np.hstack([points, latin_hypercube(n, d - width, rng)])
    return points


def normal_sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """``n`` standard normal points (n, d) that fill space evenly: Φ⁻¹ of :func:`sobol`."""
    return normal(sobol(n, d, rng))


def normal(U: Array) -> Array:
    """Standard normal numbers Φ⁻¹(U) of uniform ones; zero, which a Latin column may reach, counts as a little more."""
    numbers: Array = ndtri(np.maximum(U, 0.5 / (1 << _BITS)))
    return numbers


def stream(seed: int, trial: int, purpose: str) -> np.random.Generator:
    """The generator that belongs to a trial and a purpose under a seed; the same three give the same numbers.

    Parameters
    ----------
    seed, trial : the study's, and the id of the trial.
    purpose : a word.
    """
    return np.random.default_rng((seed, trial, zlib.crc32(purpose.encode())))
