"""Hyperparameters of a Gaussian process: marginal likelihood with gradient, priors, presets, the search.

======  =========================================================  ========
symbol  meaning                                                    shape
======  =========================================================  ========
θ       log ℓ_1 .. log ℓ_d, log σ_f², and log σ_n² when inferred    (p,)
y       standardized data                                          (n,)
======  =========================================================  ========
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from believer.arrays import Array, frozen
from believer.numerics import lbfgs
from believer.numerics.cholesky import lower_cholesky
from believer.numerics.sampling import latin_hypercube
from believer.surrogates.kernels import KERNELS, squared_distances

SUBSET_ABOVE = 2000
"""With more data than this, hyperparameters come from a seeded subset of that many; the posterior stays exact."""

NOISE_FLOOR = 1e-8
"""The least noise variance (of standardized y) that a fit works with; less cannot be told from rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """What a fit learns. ``subset``: how many observations it looked at, None when all."""

    kernel: str
    lengthscales: Array
    signal: float
    noise: float
    subset: int | None = None

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; floats survive bit for bit."""
        return {
            "kernel": self.kernel,
            "lengthscales": [float(v) for v in self.lengthscales],
            "signal": self.signal,
            "noise": self.noise,
            "subset": self.subset,
        }

    @staticmethod
    def from_config(config: dict[str, Any]) -> Hyperparameters:
        """Inverse of :meth:`to_config`."""
        return Hyperparameters(
            config["kernel"], frozen(config["lengthscales"]), config["signal"], config["noise"], config["subset"]
        )


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Normal prior on the logarithm of a hyperparameter."""

    mean: float
    std: float

    def penalty(self, log_value: Array) -> tuple[Array, Array]:
        """Negative log density (to a constant) and its derivative."""
        u = (log_value - self.mean) / self.std
        return 0.5 * u * u, u / self.std


@dataclass(frozen=True, slots=True)
class Preset:
    """How a fit is done.

    lengthscale: prior of ℓ/√d where ``scaled``, of ℓ otherwise; None for maximum likelihood. Bounds are of the values.
    """

    lengthscale: LogNormal | None
    signal: LogNormal | None
    noise: LogNormal | None
    lengthscale_bounds: tuple[float, float]
    signal_bounds: tuple[float, float]
    noise_bounds: tuple[float, float]
    restarts: int
    scaled: bool
    search: lbfgs.Settings


PRESETS: dict[str, Preset] = {
    "default": Preset(
        lengthscale=LogNormal(float(np.log(0.5)), 1.0),
        signal=LogNormal(0.0, 1.0),
        noise=LogNormal(float(np.log(1e-3)), 2.0),
        lengthscale_bounds=(1e-2, 1e2),
        signal_bounds=(1e-2, 1e3),
        noise_bounds=(1e-6, 1.0),
        restarts=1,
        scaled=True,
        search=lbfgs.Settings(max_rounds=60, gradient_tol=1e-3, value_tol=1e-5),
    ),
    # [paper] appendix "Hyperparameter details"; scikit-learn draws its restarts log-uniformly within the bounds.
    "paper": Preset(
        lengthscale=None,
        signal=None,
        noise=None,
        lengthscale_bounds=(1e-2, 1e2),
        signal_bounds=(1e-3, 1e3),
        noise_bounds=(1e-6, 1.0),
        restarts=5,
        scaled=False,
        search=lbfgs.Settings(max_rounds=200, gradient_tol=1e-5, value_tol=1e-9),
    ),
}


def log_likelihood(kernel: str, X: Array, y: Array, theta: Array, noise: float | None) -> tuple[float, Array]:
    """log p(y | X, θ) and its gradient by θ (p,); (-inf, 0) where the covariance is not positive definite.

    ``noise`` is σ_n² when it is fixed, None when the last entry of θ is its logarithm.
    [Rasmussen2006] Eq. 5.8-5.9; the derivative by log ℓ_j needs Σ M_ab h_ab (x_aj - x_bj)²/ℓ_j² with
    M = α αᵀ - K_y⁻¹, which two products with X give for all j at once.  O(n³ + n² d).
    """
    n, d = X.shape
    scaled = X / np.exp(theta[:d])
    signal = float(np.exp(theta[d]))
    noise_variance = float(np.exp(theta[d + 1])) if noise is None else noise
    k, h = KERNELS[kernel](squared_distances(scaled, scaled))
    k *= signal
    diagonal = np.diag_indices(n)
    k[diagonal] = signal + noise_variance
    L = lower_cholesky(k, overwrite=True)
    if L is None:
        return -np.inf, np.zeros_like(theta)
    alpha = lapack.dpotrs(L.T, y, lower=0)[0]
    half_log_det = float(np.log(L[diagonal]).sum())
    value = -0.5 * float(y @ alpha) - half_log_det - 0.5 * n * float(np.log(2.0 * np.pi))

    inverse, _ = lapack.dpotri(L.T, lower=0, overwrite_c=1)
    # LAPACK left the inverse in the upper triangle and zeros below: M is used as its upper triangle, counted twice.
    trace = float(np.trace(inverse))
    h *= np.multiply.outer(alpha, alpha) - inverse.T
    h *= signal
    M = np.tril(h)
    sums = M.sum(axis=0) + M.sum(axis=1)
    by_length = np.einsum("ij,ij,i->j", scaled, scaled, sums) - 2.0 * np.einsum("ij,ij->j", scaled, M @ scaled)
    square = float(alpha @ alpha)
    by_signal = 0.5 * (float(y @ alpha) - noise_variance * square - n + noise_variance * trace)
    gradient = np.append(by_length, by_signal)
    if noise is None:
        gradient = np.append(gradient, 0.5 * noise_variance * (square - trace))
    return value, gradient


def fit(
    X: Array,
    y: Array,
    kernel: str,
    noise: float | str,
    preset: Preset,
    rng: np.random.Generator,
    previous: Hyperparameters | None,
) -> Hyperparameters:
    """Hyperparameters of standardized ``y`` (n,) at ``X`` (n, d): the best of a few starts, one at the last fit's."""
    n, d = X.shape
    subset = None
    if n > SUBSET_ABOVE:
        subset = SUBSET_ABOVE
        rows = np.sort(rng.permutation(n)[:subset])
        X, y = X[rows], y[rows]
    fixed = None if isinstance(noise, str) else max(float(noise), NOISE_FLOOR)
    offset = 0.5 * float(np.log(d)) if preset.scaled else 0.0
    lower, upper = (np.log(bound) for bound in _bounds(preset, d, fixed is None))

    def objective(thetas: Array) -> tuple[Array, Array]:
        values, gradients = np.empty(len(thetas)), np.empty_like(thetas)
        for i, theta in enumerate(thetas):
            value, gradient = log_likelihood(kernel, X, y, theta, fixed)
            extra, slope = _penalty(preset, theta, d, offset)
            values[i], gradients[i] = extra - value, slope - gradient
        return values, gradients

    found = lbfgs.minimize(
        objective, _starts(preset, d, offset, lower, upper, rng, previous), lower, upper, preset.search
    )
    theta = found.X[int(np.argmin(found.f))]
    return Hyperparameters(
        kernel,
        frozen(np.exp(theta[:d])),
        float(np.exp(theta[d])),
        float(np.exp(theta[d + 1])) if fixed is None else fixed,
        subset,
    )


def _bounds(preset: Preset, d: int, infer: bool) -> tuple[Array, Array]:
    rows = [preset.lengthscale_bounds] * d + [preset.signal_bounds] + [preset.noise_bounds] * infer
    table = np.array(rows)
    return table[:, 0], table[:, 1]


def _penalty(preset: Preset, theta: Array, d: int, offset: float) -> tuple[float, Array]:
    total, slope = 0.0, np.zeros_like(theta)
    parts = [(preset.lengthscale, slice(0, d), offset), (preset.signal, slice(d, d + 1), 0.0)]
    parts.append((preset.noise, slice(d + 1, None), 0.0))
    for prior, where, shift in parts:
        if prior is not None:
            value, slope[where] = prior.penalty(theta[where] - shift)
            total += float(value.sum())
    return total, slope


def _starts(
    preset: Preset,
    d: int,
    offset: float,
    lower: Array,
    upper: Array,
    rng: np.random.Generator,
    previous: Hyperparameters | None,
) -> Array:
    """The preset's center, ``restarts`` random points (log-uniform in the bounds), and the last fit's where known."""
    center = np.zeros(len(lower))
    if preset.lengthscale is not None:
        center[:d] = preset.lengthscale.mean + offset
    if len(lower) > d + 1:
        center[d + 1] = preset.noise.mean if preset.noise is not None else np.log(1e-3)
    rows = [center]
    if preset.restarts:
        rows.extend(lower + latin_hypercube(preset.restarts, len(lower), rng) * (upper - lower))
    if previous is not None and len(previous.lengthscales) == d:
        known = np.append(np.log(previous.lengthscales), np.log(previous.signal))
        if len(lower) > d + 1:
            known = np.append(known, np.log(previous.noise))
        rows.append(known)
    return np.clip(np.array(rows), lower, upper)
