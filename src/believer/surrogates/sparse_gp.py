"""A sparse Gaussian process: the exact prior seen through fixed inducing points, conditioned at low rank.

======  ====================================================  ========
symbol  meaning                                               shape
======  ====================================================  ========
X, y    data; y less its mean ``shift``, over its ``scale``     (n, d), (n,)
Z       inducing points: data, then places of the cube        (m, d)
k_u(x)  σ_f² k(Z, x)                                          (m,)
L_uu    Cholesky factor of K_uu = σ_f² k(Z, Z)                (m, m)
φ(x)    features L_uu⁻¹ k_u(x)                                (m,)
w       weights of φ, a priori N(0, I), a posteriori N(w̄, S)  (m,)
r(x)    σ_f² - |φ(x)|², the variance that Z cannot explain
======  ====================================================  ========

Then f(x) = φ(x)ᵀ w + a residual of variance r(x), and

    μ(x) = φᵀ w̄,        σ²(x) = r(x) + φᵀ S φ.

Observations are taken to be φᵀ w plus noise, σ_n² and any known noise (the "DTC" of [Quinonero2005]). At given
hyperparameters and Z, no other distribution of w is nearer to the exact posterior in Kullback-Leibler divergence
([Titsias2009]). The alternative, "FITC", adds r(x_i) to the noise, which is zero at Z and large elsewhere: with little
noise, it would use hardly any data but Z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from believer.arrays import Array, frozen, shown, whole
from believer.errors import InvalidInput
from believer.numerics.cholesky import factor
from believer.numerics.sampling import sobol
from believer.surrogates import gp_fit, linear
from believer.surrogates.data import Data, learnable, squared, variances
from believer.surrogates.gp import NOISY_FROM, checked_kernel, checked_noise, draws, prior_covariance, standardization
from believer.surrogates.gp_fit import DEFAULT, Hyperparameters
from believer.surrogates.kernels import KERNELS, squared_distances
from believer.surrogates.linear import Weights
from believer.surrogates.paths import KernelPaths, prior_draws
from believer.surrogates.protocols import MIN_VARIANCE, JointPrediction, Model, Prediction, PredictionGradient

MAX_INDUCING = 4000
"""The largest number of inducing points, because matrices have shape (inducing, inducing)."""

SUBSET_ABOVE = 512
"""With more data than this, hyperparameters are fitted to a random subset of this size; inducing points are chosen from
all."""

_MIN_PIVOT = 1e-10
_PLACES = 256


@dataclass(frozen=True, slots=True, eq=False)
class SparseGPModel:
    """A fitted sparse process. Predictions are latent (without noise) and in the units of the y that was given.

    ``rows`` are the rows of the ``inducing`` points (m, d) among the data followed by :func:`places`; ``inverse`` is
    L_uu⁻¹.
    """

    hyper: Hyperparameters
    rows: tuple[int, ...]
    inducing: Array
    inverse: Array
    shift: float
    scale: float
    weights: Weights

    @property
    def lengthscales(self) -> Array:
        """ℓ (d,), in units of the encoded cube."""
        return self.hyper.lengthscales

    @property
    def is_noisy(self) -> bool:
        """Whether the noise (the model's or a result's) is more than the nugget of deterministic data."""
        return self.weights.noisiest > NOISY_FROM

    def _root(self, F: Array, explained: Array) -> Array:
        """√(r + φᵀSφ) (k,) for features ``F`` (k, m) and φᵀSφ ``explained`` (k,)."""
        rest = np.maximum(self.hyper.signal - np.einsum("ij,ij->i", F, F), 0.0)
        root: Array = np.sqrt(np.maximum(rest + explained, MIN_VARIANCE * self.hyper.signal))
        return root

    def predict(self, X: Array) -> Prediction:
        """μ and σ at ``X`` (k, d).  O(k m²)."""
        F, _ = _features(self.hyper, self.inducing, self.inverse, X)
        mean, variance = self.weights.predict(F)
        return Prediction(self.shift + self.scale * mean, self.scale * self._root(F, variance))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """μ, σ and their gradients by x, at ``X`` (k, d).  O(k m²)."""
        F, h = _features(self.hyper, self.inducing, self.inverse, X)
        V = F @ self.weights.root
        std = self._root(F, np.einsum("ij,ij->i", V, V))
        mean_gradient = self._slope(X, h, np.broadcast_to(self.weights.mean, F.shape))
        # ∂σ²/∂x = 2 (S φ - φ)ᵀ ∂φ/∂x.
        half_variance_gradient = self._slope(X, h, V @ self.weights.root.T - F)
        return PredictionGradient(
            self.shift + self.scale * (F @ self.weights.mean),
            self.scale * std,
            self.scale * mean_gradient,
            self.scale * half_variance_gradient / std[:, None],
        )

    def _slope(self, X: Array, h: Array, B: Array) -> Array:
        """bᵀ ∂φ/∂x (k, d), with a row b of ``B`` (k, m) for each point: ∂φ/∂x = L_uu⁻¹ ∂k_u/∂x, ∂k_u/∂x = -h (x - z) /
        ℓ²."""
        A = h * (B @ self.inverse)
        gradient: Array = (A @ self.inducing - X * A.sum(axis=1)[:, None]) * self.lengthscales**-2.0
        return gradient

    def joint(self, X: Array) -> JointPrediction:
        """Latent mean (k,) and covariance (k, k): k(X, X) - φᵀφ + φᵀSφ."""
        F, _ = _features(self.hyper, self.inducing, self.inverse, X)
        covariance = prior_covariance(self.hyper, X, self.hyper.signal) - F @ F.T + self.weights.covariance(F)
        return JointPrediction(
            self.shift + self.scale * (F @ self.weights.mean), squared(self.scale) * 0.5 * (covariance + covariance.T)
        )

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws from the joint posterior at ``X`` (k, d), as (count, k)."""
        return draws(self.joint(X), self.scale, self.hyper.noise if noisy else 0.0, count, rng)

    def paths(self, count: int, rng: np.random.Generator) -> KernelPaths:
        """``count`` functions drawn from the posterior: a draw f₀ of the prior, conditioned on w at Z. O(count m²).

        They are f = f₀ + φᵀ (w - L_uu⁻¹ f₀(Z)), with a draw of w ([Wilson2020] section 3).
        """
        drawn = prior_draws(self.hyper, count, rng)
        missing = self.weights.draw(count, rng) - drawn.value(self.inducing) @ self.inverse.T
        return KernelPaths(drawn, self.hyper, self.inducing, frozen(missing @ self.inverse), self.shift, self.scale)

    def condition(self, data: Data) -> Self:
        """The posterior with ``X`` (k, d), ``y`` (k,) added.  O(k m²).

        Hyperparameters, inducing points, shift and scale are unchanged. A lie moves the mean, but it can lower only the
        part φᵀSφ of the variance and never r, so that far from all inducing points it has no effect. If Z are data,
        φᵀSφ ≤ σ_n² |K_uu⁻¹ k_u|² already: if all inducing points are data and there is little noise, a lie does not
        change the variance anywhere, and Kriging Believer's lie changes nothing at all. [paper] Table 1 calls this
        "Limited".
        """
        X, y = data.X, data.y
        F, _ = _features(self.hyper, self.inducing, self.inverse, X)
        noise = linear.noise_variances(self.hyper.noise, len(X), variances(data.std, self.scale))
        return replace(self, weights=self.weights.condition(F, (y - self.shift) / self.scale, noise))


def _features(hyper: Hyperparameters, Z: Array, inverse: Array, X: Array) -> tuple[Array, Array]:
    """φ and σ_f² h (see :mod:`~believer.surrogates.kernels`), both (k, m), at ``X`` (k, d)."""
    k, h = hyper.cross(X, Z)
    return k @ inverse.T, h


@lru_cache(maxsize=16)
def places(d: int) -> Array:
    """Space-filling points (256, d) of the cube, always the same, which are inducing points if there are too few
    data."""
    return frozen(sobol(_PLACES, d, np.random.default_rng(0)))


def choose_inducing(hyper: Hyperparameters, X: Array, count: int, first: int = 0) -> tuple[int, ...]:
    """Choose rows of ``X`` (n, d) that explain the others best, one at a time: always the one with the largest r(x).

    This is the pivoted Cholesky decomposition of k(X, X) ([FineScheinberg2001]); it begins with the row ``first``,
    because all variances are equal then. When every r is zero to rounding, rows of :func:`places` follow in the same
    way, numbered from n on; with them, a lie far from the data can lower the variance.  O(n count²).
    """
    n, scaled = len(X), np.vstack([X, places(X.shape[1])]) / hyper.lengthscales
    rest = np.ones(len(scaled))
    columns = np.zeros((min(count, len(scaled)), len(scaled)))
    rows: list[int] = []
    pivot = first
    for i in range(len(columns)):
        if rest[pivot] <= _MIN_PIVOT:
            break
        k, _ = KERNELS[hyper.kernel](squared_distances(scaled[pivot : pivot + 1], scaled))
        columns[i] = (k[0] - columns[:i, pivot] @ columns[:i]) / np.sqrt(rest[pivot])
        rest = rest - columns[i] ** 2
        # Because of rounding, a row might otherwise be chosen twice.
        rest[pivot] = 0.0
        rows.append(pivot)
        pivot = int(np.argmax(rest[:n]))
        if rest[pivot] <= _MIN_PIVOT:
            pivot = n + int(np.argmax(rest[n:]))
    return tuple(rows)


def posterior(
    hyper: Hyperparameters,
    rows: tuple[int, ...],
    X: Array,
    y: Array,
    shift: float,
    scale: float,
    std: Array | None = None,
) -> SparseGPModel:
    """The model at given hyperparameters and inducing points; ``y`` and known ``std`` in the caller's units.  O(n m²).

    ``rows`` are those of ``X`` (n, d) followed by :func:`places`.
    """
    shift = shift + scale * hyper.mean
    Z = frozen(np.vstack([X, places(X.shape[1])])[list(rows)])
    inverse = factor(prior_covariance(hyper, Z, hyper.signal)).base
    F, _ = _features(hyper, Z, inverse, X)
    noise = linear.noise_variances(hyper.noise, len(X), variances(std, scale))
    weights = linear.weights(F, (y - shift) / scale, 1.0, noise)
    return SparseGPModel(hyper, rows, Z, inverse, shift, scale, weights)


@dataclass(frozen=True, slots=True)
class SparseGP:
    """The recipe of a sparse Gaussian process: as :class:`~believer.surrogates.gp.GP`, at a cost that is linear in the
    data.

    Hyperparameters maximize the exact likelihood, or with more than 512 data that of a seeded subset. Inducing points
    are chosen at each fit: from the data, and from the whole cube if there are fewer data. If there are more data than
    inducing points, Kriging Believer's lies hardly change the model (see ``condition``); then use "cl_min".

    Parameters
    ----------
    inducing : the largest number of inducing points; with as many as there are data, this is the exact process.
    kernel, noise : as for ``GP``.
    """

    inducing: int = 64
    kernel: str = "matern52"
    noise: float | str = 1e-6

    def __post_init__(self) -> None:
        checked_kernel(self.kernel)
        object.__setattr__(self, "noise", checked_noise(self.noise))
        object.__setattr__(self, "inducing", whole(self.inducing, "inducing", 1, MAX_INDUCING))

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> SparseGPModel:
        """Fit hyperparameters to ``data``, X (n, d) and y (n,), choose inducing points, and compute the posterior.

        ``rng`` draws starts and the subset; ``previous`` is the last fit, a warm start.
        """
        X, y, std = learnable(data, "a sparse Gaussian process")
        shift, scale = standardization(y)
        start = previous.hyper if isinstance(previous, SparseGPModel) and previous.hyper.kernel == self.kernel else None
        hyper = self._learn(replace(data, X=X, Y=(y - shift) / scale), variances(std, scale), rng, start)
        # The first inducing point is at the best result, where precision matters most.
        rows = choose_inducing(hyper, X, self.inducing, first=int(np.argmin(y)))
        return posterior(hyper, rows, X, y, shift, scale, std)

    def _learn(
        self, data: Data, known: Array | None, rng: np.random.Generator, start: Hyperparameters | None
    ) -> Hyperparameters:
        """Hyperparameters of ``data`` whose y (n,) is standardized, with ``known`` noise variances (n,)."""
        X, y, subset = data.X, data.y, None
        if len(X) > SUBSET_ABOVE:
            subset = SUBSET_ABOVE
            some = np.sort(rng.permutation(len(X))[:subset])
            X, y, known = X[some], y[some], None if known is None else known[some]
        hyper = gp_fit.fit(X, y, self.kernel, self.noise, DEFAULT, rng, start, known=known, groups=data.groups)
        return replace(hyper, subset=subset)

    def describe(self, model: SparseGPModel) -> dict[str, Any]:
        """Hyperparameters and the rows of inducing points as plain data."""
        return {**model.hyper.to_config(), "inducing": list(model.rows)}

    def verify(self, state: dict[str, Any], n: int, d: int) -> None:
        """Raise InvalidInput for a ``state`` that no fit to ``n`` results in ``d`` columns can produce."""
        _parts(state, n, d)

    def restore(self, data: Data, state: dict[str, Any]) -> SparseGPModel:
        """The model of ``state`` on the ``data`` that it was fitted to, without a fit."""
        hyper, rows = _parts(state, *data.X.shape)
        shift, scale = standardization(data.y)
        return posterior(hyper, rows, data.X, data.y, shift, scale, data.std)


def _parts(state: dict[str, Any], n: int, d: int) -> tuple[Hyperparameters, tuple[int, ...]]:
    """Hyperparameters and inducing rows of ``describe``."""
    hyper, chosen = {key: value for key, value in state.items() if key != "inducing"}, state.get("inducing")
    if not isinstance(chosen, list | tuple):
        raise InvalidInput(f"inducing points must be a list of rows; got {shown(chosen)}.")
    rows = tuple(row for row in chosen if type(row) is int and 0 <= row < n + _PLACES)
    if not rows or len(set(rows)) < len(chosen):
        raise InvalidInput(
            f"inducing points must be rows of the {n} data or of places, each once; got {shown(chosen)}."
        )
    return Hyperparameters.from_config(hyper, d), rows
