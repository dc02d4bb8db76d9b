"""Data for the laws, and comparisons of predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array
from believer.surrogates.data import Data
from believer.surrogates.inspection import complete
from believer.surrogates.protocols import Model, Prediction, Surrogate
from believer.testing.contract import Breach

UNITS = (2.0**40, 2.0**-40)
"""Units of y. They are powers of two, so that scaling is exact in floating point."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Observations ``X`` (n, d), ``y`` (n,), and points ``at`` (m, d) inside the cube that lie on none of them."""

    X: Array
    y: Array
    at: Array

    @property
    def spread(self) -> float:
        """The standard deviation of y, the unit of differences of means."""
        return float(self.y.std())


def scene(d: int = 2, n: int = 12, m: int = 7, seed: int = 0) -> Scene:
    """A smooth function at random points, in units that are not standardized."""
    rng = np.random.default_rng((seed, d, n))
    X = rng.random((n, d))
    y = 30.0 + 5.0 * (np.sin(3.0 * X[:, 0]) + ((X - 0.4) ** 2).mean(axis=1))
    return Scene(X, y, 0.05 + 0.9 * rng.random((m, d)))


def fitted(surrogate: Surrogate, data: Scene, seed: int = 0, previous: Model | None = None) -> Model:
    """The model of ``data``, from the generator of ``seed``; the arrays handed over are copies."""
    return surrogate.fit(Data(data.X.copy(), data.y.copy()), np.random.default_rng(seed), previous)


def predicted(model: Model, X: Array) -> Prediction:
    """The prediction at a copy of ``X`` (m, d), as arrays of the right shape, copied."""
    at = complete(model, X.copy())
    return Prediction(at.mean.copy(), at.std.copy())


def gap(a: Prediction, b: Prediction, unit: float) -> float:
    """The larger of the greatest differences of means, in ``unit``, and of variances, in unit².

    Variances are compared, not stds: a model computes them by subtraction, and near zero the root magnifies rounding.
    """
    means, variances = np.abs(a.mean - b.mean) / unit, np.abs(a.std**2 - b.std**2) / unit**2
    return float(max(means.max(initial=0.0), variances.max(initial=0.0)))


def require_same_bits(a: Prediction, b: Prediction, when: str) -> None:
    """Breach unless means and stds are equal to the last bit; ``when`` says what should have changed nothing."""
    for part, one, two in (("mean", a.mean, b.mean), ("std", a.std, b.std)):
        if not np.array_equal(one, two):
            by = float(np.max(np.abs(one - two)))
            raise Breach(
                f"{when}, the {part} differs by up to {by:.3g} (it is {float(one[0]):.6g} at the first point)."
            )


def require_close(a: Prediction, b: Prediction, unit: float, tolerance: float, when: str) -> None:
    """Breach unless means and variances agree to ``tolerance`` of ``unit`` and unit²."""
    found = gap(a, b, unit)
    # Written so that a NaN is a breach.
    if not found <= tolerance:
        raise Breach(
            f"{when}, means or variances differ by up to {found:.3g} of the spread of y; {tolerance:g} are allowed."
        )
