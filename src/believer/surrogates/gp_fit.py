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

WARM_ONLY_ABOVE = 500
"""With more data than this, and a last fit to start from, no other start is tried."""

_BLOCK = 128

NOISE_FLOOR = 1e-8
"""The least noise variance (of standardized y) that a fit works with; less cannot be told from rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """What a fit learns. ``subset``: how many observations it looked at, None when all."""

    kernel: str
    lengthscales: Array
    signal: float
    noise: float
    mean: float = 0.0
    subset: int | None = None

    def cross(self, A: Array, B: Array) -> tuple[Array, Array]:
        """σ_f² k and σ_f² h (see :mod:`~believer.surrogates.kernels`) between ``A`` (m, d) and ``B`` (n, d), (m, n)."""
        k, h = KERNELS[self.kernel](squared_distances(A / self.lengthscales, B / self.lengthscales))
        return k * self.signal, h * self.signal

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data; floats survive bit for bit."""
        return {
            "kernel": self.kernel,
            "lengthscales": [float(v) for v in self.lengthscales],
            "signal": self.signal,
            "noise": self.noise,
            "mean": self.mean,
            "subset": self.subset,
        }

    @staticmethod
    def from_config(config: dict[str, Any]) -> Hyperparameters:
        """Inverse of :meth:`to_config`."""
        return Hyperparameters(**{**config, "lengthscales": frozen(config["lengthscales"])})


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Normal prior on the logarithm of a hyperparameter."""

    mean: float
    std: float


@dataclass(frozen=True, slots=True)
class Preset:
    """How a fit is done.

    lengthscale: prior of ℓ/√d where ``scaled``, of ℓ otherwise; None for maximum likelihood. Bounds are of the values.
    mean_std: prior std of the constant mean m, around the average of y; None fixes m there.
    warm: whether the last fit is a start.
    """

    lengthscale: LogNormal | None
    signal: LogNormal | None
    noise: LogNormal | None
    lengthscale_bounds: tuple[float, float]
    signal_bounds: tuple[float, float]
    noise_bounds: tuple[float, float]
    restarts: int
    warm: bool
    scaled: bool
    mean_std: float | None
    search: lbfgs.Settings


PRESETS: dict[str, Preset] = {
    "default": Preset(
        lengthscale=LogNormal(float(np.log(0.5)), 0.5),
        signal=LogNormal(0.0, 2.0),
        noise=LogNormal(-5.0, 1.0),
        lengthscale_bounds=(1e-2, 1e2),
        signal_bounds=(1e-2, 1e3),
        noise_bounds=(1e-6, 1.0),
        restarts=0,
        warm=True,
        scaled=True,
        mean_std=1.0,
        search=lbfgs.Settings(max_rounds=60, gradient_tol=3e-4, value_tol=3e-6, heat=6, finalists=1),
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
        warm=False,
        scaled=False,
        mean_std=None,
        search=lbfgs.Settings(max_rounds=200, gradient_tol=1e-6, value_tol=1e-10),
    ),
}


def _row_blocks(n: int) -> list[slice]:
    """Rows in blocks that fit the cache; with columns up to each block's end they cover the lower triangle."""
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def _lower_kernel(kernel: str, scaled: Array, signal: float) -> tuple[Array, Array]:
    """σ_f² k and σ_f² h (n, n) of the scaled points (n, d), the lower triangle only; what is above is arbitrary."""
    n = len(scaled)
    k, h = np.empty((n, n)), np.empty((n, n))
    for rows in _row_blocks(n):
        part_k, part_h = KERNELS[kernel](squared_distances(scaled[rows], scaled[: rows.stop]))
        np.multiply(part_k, signal, out=k[rows, : rows.stop])
        np.multiply(part_h, signal, out=h[rows, : rows.stop])
    return k, h


def _by_lengthscales(h: Array, inverse: Array, alpha: Array, scaled: Array) -> Array:
    """Σ_{a>b} M_ab h_ab (u_aj - u_bj)² for each column j of the scaled points u (n, d), M = α αᵀ - K_y⁻¹.

    Written out, the square needs only the row and column sums of M h and its product with u.
    """
    n, d = scaled.shape
    sums, product = np.zeros(n), np.zeros((n, d))
    for rows in _row_blocks(n):
        M = np.multiply.outer(alpha[rows], alpha[: rows.stop])
        M -= inverse[rows, : rows.stop]
        M *= h[rows, : rows.stop]
        M[:, rows] *= np.tri(rows.stop - rows.start, k=-1)
        sums[rows] += M.sum(axis=1)
        sums[: rows.stop] += M.sum(axis=0)
        product[rows] = M @ scaled[: rows.stop]
    by_length: Array = (scaled * scaled * sums[:, None] - 2.0 * scaled * product).sum(axis=0)
    return by_length


def log_likelihood(
    kernel: str, X: Array, y: Array, theta: Array, noise: float | None, mean_std: float | None = None
) -> tuple[float, Array, float]:
    """log p(y | X, θ), its gradient by θ (p,), and the mean m; (-inf, 0, 0) where K_y is not positive definite.

    ``noise`` is σ_n² when it is fixed, None when the last entry of θ is its logarithm. With ``mean_std`` the constant
    mean m takes its best value for θ, m = 1ᵀK_y⁻¹y / (1ᵀK_y⁻¹1 + 1/τ²), and log p includes its prior N(0, τ²); being
    the best, it adds nothing to the gradient.
    [Rasmussen2006] Eq. 5.8-5.9; the derivative by log ℓ_j needs Σ M_ab h_ab (x_aj - x_bj)²/ℓ_j² with
    M = α αᵀ - K_y⁻¹, which two products with X give for all j at once.  O(n³ + n² d).
    """
    n, d = X.shape
    scaled = X / np.exp(theta[:d])
    signal = float(np.exp(theta[d]))
    noise_variance = float(np.exp(theta[d + 1])) if noise is None else noise
    k, h = _lower_kernel(kernel, scaled, signal)
    k[np.diag_indices(n)] = signal + noise_variance
    L = lower_cholesky(k, overwrite=True)
    if L is None:
        return -np.inf, np.zeros_like(theta), 0.0
    half_log_det = float(np.log(np.diagonal(L)).sum())
    mean = 0.0
    if mean_std is not None:
        ones = lapack.dpotrs(L.T, np.ones(n), lower=0)[0]
        mean = float(ones @ y) / (float(ones.sum()) + mean_std**-2.0)
        y = y - mean
    alpha = lapack.dpotrs(L.T, y, lower=0)[0]
    value = -0.5 * float(y @ alpha) - half_log_det - 0.5 * n * float(np.log(2.0 * np.pi))
    if mean_std is not None:
        value -= 0.5 * (mean / mean_std) ** 2

    inverse = lapack.dpotri(L.T, lower=0, overwrite_c=1)[0].T
    square, trace = float(alpha @ alpha), float(np.trace(inverse))
    by_signal = 0.5 * (float(y @ alpha) - noise_variance * square - n + noise_variance * trace)
    gradient = np.append(_by_lengthscales(h, inverse, alpha, scaled), by_signal)
    if noise is None:
        gradient = np.append(gradient, 0.5 * noise_variance * (square - trace))
    return value, gradient, mean


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
    if previous is not None and (not preset.warm or len(previous.lengthscales) != d):
        previous = None
    subset = None
    if n > SUBSET_ABOVE:
        subset = SUBSET_ABOVE
        rows = np.sort(rng.permutation(n)[:subset])
        X, y = X[rows], y[rows]
    fixed = None if isinstance(noise, str) else max(float(noise), NOISE_FLOOR)
    prior = _prior(preset, d, fixed is None)
    lower, upper = (np.log(bound) for bound in _bounds(preset, d, fixed is None))

    means: dict[bytes, float] = {}

    def objective(thetas: Array) -> tuple[Array, Array]:
        values, gradients = np.empty(len(thetas)), np.empty_like(thetas)
        for i, theta in enumerate(thetas):
            value, gradient, mean = log_likelihood(kernel, X, y, theta, fixed, preset.mean_std)
            means[theta.tobytes()] = mean
            u = (theta - prior.center) * prior.weight
            values[i], gradients[i] = 0.5 * float(u @ u) - value, u * prior.weight - gradient
        # Per observation, so that steps and tolerances mean the same for ten results and for a thousand.
        return values / len(y), gradients / len(y)

    found = lbfgs.minimize(
        objective, _starts(preset, prior, lower, upper, rng, previous, n > WARM_ONLY_ABOVE), lower, upper, preset.search
    )
    theta = found.X[int(np.argmin(found.f))]
    return Hyperparameters(
        kernel=kernel,
        lengthscales=frozen(np.exp(theta[:d])),
        signal=float(np.exp(theta[d])),
        noise=float(np.exp(theta[d + 1])) if fixed is None else fixed,
        mean=means[theta.tobytes()],
        subset=subset,
    )


def _bounds(preset: Preset, d: int, infer: bool) -> tuple[Array, Array]:
    rows = [preset.lengthscale_bounds] * d + [preset.signal_bounds] + [preset.noise_bounds] * infer
    table = np.array(rows)
    return table[:, 0], table[:, 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Prior:
    """Independent normals on θ: centers (p,) and 1/std (p,), zero weight where there is no prior."""

    center: Array
    weight: Array


def _prior(preset: Preset, d: int, infer: bool) -> _Prior:
    offset = 0.5 * float(np.log(d)) if preset.scaled else 0.0
    parts = [(preset.lengthscale, offset, 0.0)] * d + [(preset.signal, 0.0, 0.0)]
    parts += [(preset.noise, 0.0, float(np.log(1e-3)))] * infer
    center = [default if normal is None else normal.mean + shift for normal, shift, default in parts]
    weight = [0.0 if normal is None else 1.0 / normal.std for normal, _, _ in parts]
    return _Prior(np.array(center), np.array(weight))


def _starts(
    preset: Preset,
    prior: _Prior,
    lower: Array,
    upper: Array,
    rng: np.random.Generator,
    previous: Hyperparameters | None,
    warm_only: bool,
) -> Array:
    """The last fit's hyperparameters where known, the prior's center, ``restarts`` random points in the bounds.

    With much data the likelihood is peaked and the last fit is near its top: then that start is enough.
    """
    rows = [prior.center]
    if preset.restarts:
        rows.extend(lower + latin_hypercube(preset.restarts, len(lower), rng) * (upper - lower))
    if previous is not None:
        known = np.concatenate([np.log(previous.lengthscales), np.log([previous.signal, previous.noise])])
        if len(known) >= len(lower):
            rows = [known[: len(lower)]] if warm_only else [known[: len(lower)], *rows]
    return np.clip(np.array(rows), lower, upper)
