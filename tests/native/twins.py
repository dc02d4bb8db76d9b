"""What the tests of the compiled module share: problems for both twins, and how far their answers may be apart.

======  ===========================================================  ========
symbol  meaning                                                      shape
======  ===========================================================  ========
N       observations, n in the factor's base and p appended          n + p
K_y     covariance of the observations with the noise                (N, N)
u       points over their lengthscales                               (N, d)
ε       the rounding unit, 2.2e-16
======  ===========================================================  ========
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.numerics import backend
from believer.surrogates.data import Data, variances
from believer.surrogates.gp import GPModel, posterior, prior_covariance
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS

if find_spec("believer._native") is None:
    pytest.skip("believer._native is not built here: there is only the Python twin", allow_module_level=True)

native: Any = import_module("believer._native")

T = TypeVar("T")
EPS = float(np.finfo(np.float64).eps)
MIN_TOLERANCE = 1e-9

BLOCK = 256
"""Points that compiled code predicts at together."""

SMALL = 32
"""Rows of a covariance that are factored without being cut in two."""

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))


def python(run: Callable[[], T]) -> T:
    """What the Python twin computes."""
    with backend.using("python"):
        return run()


def compiled(run: Callable[[], T]) -> T:
    """What the compiled module computes."""
    with backend.using("native"):
        return run()


@dataclass(frozen=True)
class Problem:
    """A Gaussian process at given hyperparameters, in numbers that say everything about it.

    n, tail: observations in the factor's base, and appended to it. m: points to predict at.
    twice: data that lie on others. spread: of the logarithms of the lengthscales. unit: of y.
    known_std: of the noise that is known, the largest, in that unit; 0 where none is known.
    """

    n: int
    d: int = 3
    tail: int = 0
    m: int = 5
    kernel: str = "matern52"
    lengthscale: float = 0.6
    spread: float = 0.3
    signal: float = 1.7
    noise: float = 1e-2
    twice: int = 0
    unit: float = 0.3
    seed: int = 0
    known_std: float = 0.0

    @cached_property
    def hyper(self) -> Hyperparameters:
        logs = self.spread * np.random.default_rng((self.seed, 1)).standard_normal(self.d)
        return Hyperparameters(self.kernel, frozen(self.lengthscale * np.exp(logs)), self.signal, self.noise)

    @cached_property
    def points(self) -> Array:
        rng = np.random.default_rng((self.seed, 2))
        X = rng.random((self.n + self.tail, self.d))
        for _ in range(self.twice):
            X[rng.integers(len(X))] = X[rng.integers(len(X))]
        return frozen(X)

    @cached_property
    def y(self) -> Array:
        return frozen(self.unit * (np.random.default_rng((self.seed, 3)).standard_normal(len(self.points)) + 3.0))

    @cached_property
    def std(self) -> Array | None:
        """What is known of the noise (N,): nothing, or of all but every third."""
        if not self.known_std:
            return None
        share = np.random.default_rng((self.seed, 5)).random(len(self.points)) * (np.arange(len(self.points)) % 3 > 0)
        return frozen(self.unit * self.known_std * share)

    @property
    def known(self) -> Array | None:
        """The same as variances of standardized y."""
        return variances(self.std, self.unit)

    @property
    def shift(self) -> float:
        return 2.5 * self.unit

    @cached_property
    def at(self) -> Array:
        """m points: a random one, one next to the data, three of the data, and then random ones."""
        rng = np.random.default_rng((self.seed, 4))
        points = (
            rng.random((self.m, self.d)),
            self.points[:1] + 1e-7,
            self.points[rng.integers(len(self.points), size=3)],
        )
        return np.vstack([points[0][:1], *points[1:], points[0][1:]])[: self.m]

    def model(self) -> GPModel:
        """The posterior, as the running twin computes it."""
        first, rest = (None, None) if self.std is None else (self.std[: self.n], self.std[self.n :])
        base = posterior(self.hyper, self.points[: self.n], self.y[: self.n], self.shift, self.unit, first)
        return base.condition(Data(self.points[self.n :], self.y[self.n :], rest))

    @cached_property
    def covariance(self) -> Array:
        """K_y."""
        diagonal = self.signal + self.noise + (0.0 if self.known is None else self.known)
        return python(lambda: prior_covariance(self.hyper, self.points, diagonal))

    @cached_property
    def tolerance(self) -> float:
        """max(1e-9, C ε cond(K_y)), in units of what the terms of a sum amount to.

        C = 2 (N + max |u|²). Sums have N terms. The Python twin computes |u - v|² as |u|² + |v|² - 2 u·v, which puts
        an error of ε |u|² into the entries of K_y.
        """
        reach = float(np.square(np.vstack([self.points, self.at]) / self.hyper.lengthscales).sum(axis=1).max())
        sizes = np.abs(np.linalg.eigvalsh(self.covariance))
        return max(MIN_TOLERANCE, 2.0 * (len(self.points) + reach) * EPS * float(sizes.max() / sizes.min()))


SIZES = st.integers(1, 80) | st.sampled_from([31, 32, 33, 63, 64, 65, 96, 97, 100, 200])


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Ten to a power between these."""
    return st.floats(low, high).map(lambda power: float(10.0**power))


def problems(least_noise: float = -8.0, longest: float = 2.0, unit: float = 100.0) -> st.SearchStrategy[Problem]:
    """Problems of any shape. The powers of ten: of the noise from ``least_noise`` on, of the lengthscales up to
    ``longest``, of the unit of y up to ``unit``, and down to its negative.
    """
    return st.builds(
        Problem,
        n=SIZES,
        d=st.integers(1, 12),
        tail=st.integers(0, 6),
        m=st.integers(1, 9),
        kernel=st.sampled_from(list(KERNELS)),
        lengthscale=powers(-2.0, longest),
        spread=st.sampled_from([0.0, 0.5]),
        signal=powers(-2.0, 3.0),
        noise=powers(least_noise, 0.0),
        twice=st.integers(0, 3),
        unit=powers(-unit, unit),
        seed=st.integers(0, 2**32 - 1),
        known_std=st.just(0.0) | powers(-3.0, 1.0),
    )


def assert_near(one: Array, other: Array, allowed: Array | float) -> None:
    """Every entry within what is allowed for it."""
    excess = np.abs(one - other) / allowed
    assert np.isfinite(one).all()
    assert np.isfinite(other).all()
    assert excess.size == 0 or excess.max() <= 1.0, f"{excess.max():.3g} times what is allowed"
