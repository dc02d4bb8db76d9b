"""The exact Gaussian process: posterior, gradients, conditioning in closed form.

======  ====================================================  ========
symbol  meaning                                               shape
======  ====================================================  ========
X, y    data; y less its mean ``shift``, over its ``scale``     (N, d), (N,)
ℓ       lengthscales                                          (d,)
σ_f²    signal variance, of standardized y
σ_n²    noise variance, of standardized y
D       known further noise variances, of standardized y      (N,)
K_y     σ_f² k(X, X) + σ_n² I + diag(D)                       (N, N)
W       inverse Cholesky factor of K_y                        (N, N)
z       W y, the whitened data                                (N,)
α       K_y⁻¹ y = Wᵀ z                                        (N,)
======  ====================================================  ========
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from believer.arrays import Array, finite, frozen, no_rows, packed, shown
from believer.errors import InvalidInput
from believer.numerics import backend
from believer.numerics.cholesky import Factor, factor
from believer.surrogates import gp_fit
from believer.surrogates.data import MIN_SCALE, Data, extended, learnable, learned, squared, variances
from believer.surrogates.gp_fit import DEFAULT, PRIORS, Hyperparameters, Preset, prior_for
from believer.surrogates.gp_noise import AUTO, INFER
from believer.surrogates.kernels import KERNELS
from believer.surrogates.pool import Predicted
from believer.surrogates.protocols import (
    MIN_VARIANCE,
    JointGradient,
    JointPrediction,
    Model,
    Prediction,
    PredictionGradient,
)
from believer.surrogates.subset import MOST

if TYPE_CHECKING:
    from believer._native import Native, Posterior
    from believer.surrogates.gp_fantasies import GPFantasies
    from believer.surrogates.paths import KernelPaths
    from believer.surrogates.pool import Pool

MAX_NOISE = 1e6
"""The largest noise variance, as a share of the variance of y."""

NOISY_FROM = 1e-5
"""A noise variance, of standardized y, above which repeating an experiment is expected to give another result."""


@dataclass(frozen=True, slots=True, eq=False)
class GPModel:
    """A fitted Gaussian process. Predictions are latent (without noise) and in the units of the given y.

    ``known`` is D; None if no result has a known noise.
    """

    hyper: Hyperparameters
    X: Array
    y: Array
    shift: float
    scale: float
    factor: Factor
    whitened: Array
    alpha: Array
    known: Array | None = None
    _compiled: Posterior | None = field(init=False, repr=False, default=None)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Leave out the compiled posterior, which is made again when needed."""
        return type(self), tuple(getattr(self, part.name) for part in fields(self) if part.init)

    @property
    def lengthscales(self) -> Array:
        """ℓ (d,), in units of the encoded cube."""
        return self.hyper.lengthscales

    @property
    def is_noisy(self) -> bool:
        """Whether the noise (the model's or a result's) is more than the nugget of deterministic data."""
        return self.hyper.noise > NOISY_FROM or (self.known is not None and float(self.known.max()) > NOISY_FROM)

    @property
    def noise_std(self) -> float:
        """σ_n, in the units of y; zero for the nugget of deterministic data."""
        return self.scale * math.sqrt(self.hyper.noise) if self.hyper.noise > NOISY_FROM else 0.0

    @property
    def noise(self) -> float | Array:
        """σ_n² + D (N,), or σ_n² if D is None: the difference between K_y and the covariance without noise."""
        return self.hyper.noise if self.known is None else self.hyper.noise + self.known

    @property
    def jitter(self) -> float:
        """The jitter that was added to the diagonal of K_y, in units of standardized variance."""
        return self.factor.jitter

    def predict(self, X: Array) -> Prediction:
        """μ = kᵀ α, σ² = k(x, x) - |W k|² at ``X`` (m, d).  O(m N²)."""
        compiled = self.compiled()
        if compiled is not None:
            return Prediction(*compiled.predict(packed(X)))
        k, _ = self.hyper.cross(X, self.X)
        V = self.factor.whiten(k)
        variance = self.hyper.signal - np.einsum("ij,ij->i", V, V)
        return Prediction(self.shift + self.scale * (k @ self.alpha), self.scale * self._root(variance))

    def mean_at_data(self) -> Array:
        """μ (N,) at the data: k(X, X) α = y - (K_y - k(X, X)) α.  O(N)."""
        means: Array = self.shift + self.scale * (self.y - (self.noise + self.factor.jitter) * self.alpha)
        return means

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """μ, σ and their gradients by x, at ``X`` (m, d).  O(m N²)."""
        compiled = self.compiled()
        if compiled is not None:
            return PredictionGradient(*compiled.predict_with_gradient(packed(X)))
        k, h = self.hyper.cross(X, self.X)
        V = self.factor.whiten(k)
        std = self._root(self.hyper.signal - np.einsum("ij,ij->i", V, V))
        # ∂μ/∂x = Σ_i α_i ∂k_i/∂x and ∂σ²/∂x = -2 Σ_i (K_y⁻¹ k)_i ∂k_i/∂x, with ∂k/∂x = -h (x - x_i) / ℓ².
        A = h * self.alpha
        B = h * self.factor.unwhiten(V)
        inverse_squares = self.lengthscales**-2.0
        mean_gradient = (A @ self.X - X * A.sum(axis=1)[:, None]) * inverse_squares
        half_variance_gradient = (X * B.sum(axis=1)[:, None] - B @ self.X) * inverse_squares
        return PredictionGradient(
            self.shift + self.scale * (k @ self.alpha),
            self.scale * std,
            self.scale * mean_gradient,
            self.scale * half_variance_gradient / std[:, None],
        )

    def compiled(self) -> Posterior | None:
        """The same posterior in compiled code, made once; None if the Python twin is to run."""
        native = backend.native
        if native is None or type(self) is not GPModel:  # a derived class may predict something else
            return None
        if self._compiled is None:
            object.__setattr__(self, "_compiled", self._in_compiled_code(native))
        return self._compiled

    def _in_compiled_code(self, native: Native) -> Posterior:
        hyper, factor = self.hyper, self.factor
        return native.Posterior(
            native.KERNELS[hyper.kernel],
            self.X,
            hyper.lengthscales,
            hyper.signal,
            factor.base,
            factor.tail,
            self.alpha,
            self.shift,
            self.scale,
            MIN_VARIANCE,
        )

    def _root(self, variance: Array) -> Array:
        return np.sqrt(np.maximum(variance, MIN_VARIANCE * self.hyper.signal))

    def pool(self, X: Array) -> Pool:
        """``X`` (m, d) with the predictions there, which are updated when the model is conditioned. O(m N²)."""
        if type(self) is not GPModel:  # a derived class may predict something else
            return Predicted(X, self)
        from believer.surrogates.gp_pool import GPPool  # loaded on use

        return GPPool.of(self, X)

    def joint(self, X: Array) -> JointPrediction:
        """Latent mean (m,) and covariance (m, m)."""
        k, _ = self.hyper.cross(X, self.X)
        V = self.factor.whiten(k)
        covariance = prior_covariance(self.hyper, X) - V @ V.T
        return JointPrediction(
            self.shift + self.scale * (k @ self.alpha), squared(self.scale) * 0.5 * (covariance + covariance.T)
        )

    def joint_with_gradient(self, X: Array) -> JointGradient:
        """Latent means (b, q) and covariances (b, q, q) of b groups of q points, ``X`` (b, q, d), with gradients."""
        from believer.surrogates.gp_joint import joint_with_gradient  # loaded on use

        return joint_with_gradient(self, X)

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws from the joint posterior at ``X`` (m, d), as (count, m)."""
        return draws(self.joint(X), self.scale, self.hyper.noise if noisy else 0.0, count, rng)

    def fantasies(self, count: int) -> GPFantasies:
        """``count`` fantasies, which are conditioned on the same points, each with its own values."""
        from believer.surrogates.gp_fantasies import GPFantasies

        return GPFantasies(self, frozen(np.zeros((count, 0))))

    def paths(self, count: int, rng: np.random.Generator) -> KernelPaths:
        """``count`` functions drawn from the posterior, without noise, to be evaluated anywhere.  O(count N²)."""
        from believer.surrogates.paths import KernelPaths, correction, noise_draws, prior_draws

        drawn = prior_draws(self.hyper, count, rng)
        noise = noise_draws(self.factor, self.noise, count, rng)
        weights = correction(self.factor, self.y, drawn.value(self.X), noise)
        return KernelPaths(drawn, self.hyper, self.X, frozen(weights), self.shift, self.scale)

    def leave_one_out(self) -> Prediction:
        """Prediction at each data point from all the others ([Rasmussen2006] Eq. 5.12): μ_i = y_i - α_i / (K_y⁻¹)_ii.

        The standard deviation is the latent one. Costs O(N²), no refit.
        """
        precision = self.factor.inverse_diagonal()
        mean = self.y - self.alpha / precision
        return Prediction(self.shift + self.scale * mean, self.scale * self._root(1.0 / precision - self.noise))

    def log_marginal_likelihood(self) -> float:
        """log p(y | X, θ) of the standardized data ([Rasmussen2006] Eq. 5.8)."""
        quadratic = float(self.whitened @ self.whitened)
        return -0.5 * (quadratic + self.factor.log_determinant() + len(self.y) * float(np.log(2.0 * np.pi)))

    def log_evidence(self) -> float:
        """log p(y | X, θ) of the data in their own units."""
        return self.log_marginal_likelihood() - len(self.y) * float(np.log(self.scale))

    def with_lengthscales(self, lengthscales: Array) -> Self:
        """The posterior of the same data under other ``lengthscales`` (d,), with everything else unchanged. O(N³)."""
        hyper = replace(self.hyper, lengthscales=frozen(lengthscales))
        grown = _covariance_factor(hyper, self.X, self.known)
        whitened = grown.whiten(self.y[None, :])[0]
        alpha = grown.unwhiten(whitened[None, :])[0]
        return replace(self, hyper=hyper, factor=grown, whitened=frozen(whitened), alpha=frozen(alpha))

    def condition(self, data: Data) -> Self:
        """The posterior with ``X`` (k, d), ``y`` (k,) and their known noise added; each adds a row to the factor.

        [paper] Eq. 1-2: the mean moves by the discrepancy y - μ, and the variance shrinks whatever y is.
        Hyperparameters, shift and scale are unchanged.  O(k N²).
        """
        told = data.y
        k = len(told)
        if not k:
            return self
        known = None if data.noise is None else variances(data.std, self.scale)
        N, grown, alpha, diagonal = len(self.y), self.factor, self.alpha, self.hyper.signal + self.hyper.noise
        X, y = _extended(self.X, data.X), _extended(self.y, (told - self.shift) / self.scale)
        whitened = _extended(self.whitened, told)  # for the new results, this only reserves places
        for n in range(N, len(y)):
            cross, _ = self.hyper.cross(X[n : n + 1], X[:n])
            grown = grown.append(cross[0], diagonal if known is None else diagonal + known[n - N])
            row = grown.tail[-1]
            whitened[n] = row @ y[: n + 1]
            before, alpha = alpha, whitened[n] * row
            alpha[:-1] += before
        for made in (X, y, whitened, alpha):
            made.flags.writeable = False
        known = extended(self.known, N, known, k)
        return replace(self, X=X, y=y, factor=grown, whitened=whitened, alpha=alpha, known=known)


def _extended(a: Array, more: Array) -> Array:
    """``a`` (N, ...) followed by ``more`` (k, ...). This takes half the time of a concatenation, which must find a
    common type."""
    out = np.empty((len(a) + len(more), *a.shape[1:]))
    out[: len(a)] = a
    out[len(a) :] = more
    return out


def prior_covariance(hyper: Hyperparameters, X: Array, diagonal: float | Array | None = None) -> Array:
    """σ_f² k(X, X) (m, m) at ``X`` (m, d). Its diagonal is set to ``diagonal``, one number or (m,), which removes
    rounding."""
    K = hyper.cross(X, X)[0]
    if diagonal is not None:
        K[np.diag_indices(len(X))] = diagonal
    return K


def draws(joint: JointPrediction, scale: float, noise: float, count: int, rng: np.random.Generator) -> Array:
    """``count`` normal draws (count, m) from ``joint`` plus ``noise``, a variance of y over ``scale``.  O(m³)."""
    m = len(joint.mean)
    unit = joint.covariance / squared(scale)
    unit[np.diag_indices(m)] = np.maximum(np.diagonal(unit), MIN_VARIANCE) + noise
    root = np.linalg.inv(factor(unit).base)
    return joint.mean + scale * (rng.standard_normal((count, m)) @ root.T)


def posterior(
    hyper: Hyperparameters, X: Array, y: Array, shift: float, scale: float, std: Array | None = None
) -> GPModel:
    """The model at given hyperparameters; ``y`` in the caller's units, standardized by ``shift``, ``scale``.  O(n³).

    ``std`` (n,) are the known standard deviations of the noise, in the units of ``y``.
    """
    shift = shift + scale * hyper.mean
    target, known = (y - shift) / scale, variances(std, scale)
    grown = _covariance_factor(hyper, X, known)
    whitened = grown.whiten(target[None, :])[0]
    alpha = grown.unwhiten(whitened[None, :])[0]
    return GPModel(
        hyper, frozen(packed(X)), frozen(target), shift, scale, grown, frozen(whitened), frozen(alpha), known
    )


def _covariance_factor(hyper: Hyperparameters, X: Array, known: Array | None) -> Factor:
    """The factor of K_y at ``X`` (n, d), with jitter if needed. O(n³)."""
    native, diagonal = backend.native, hyper.signal + hyper.noise
    if native is not None:
        kernel = native.KERNELS[hyper.kernel]
        base = native.covariance_factor(kernel, packed(X), hyper.lengthscales, hyper.signal, diagonal, known)
        if base is not None:
            base.flags.writeable = False
            return Factor(base, no_rows(len(X)), 0.0)
    if known is None:
        return factor(prior_covariance(hyper, X, diagonal))
    # The jitter is relative to the variance that all observations have: a result with a large known noise must not blur
    # the others.
    return factor(prior_covariance(hyper, X, diagonal + known), diagonal)


def fit_gp(
    data: Data,
    kernel: str,
    noise: float | str,
    rng: np.random.Generator,
    previous: Model | None = None,
    preset: Preset = DEFAULT,
    most: int = MOST,
) -> GPModel:
    """Fit hyperparameters to ``data`` as ``preset`` says, and compute the exact posterior; ``kernel`` and ``noise`` are
    as for ``GP``.

    An inferred σ_n² is the noise beyond the known one. The cost is O(n³) for each of some tens of steps. With more than
    ``most`` results, a subset of that size is used (:mod:`~believer.surrogates.subset`).
    """
    X, y, std = learnable(data, "a Gaussian process", most)
    shift, scale = standardization(y)
    start, seen = None, 0
    if isinstance(previous, GPModel) and previous.hyper.kernel == kernel:
        start, seen = previous.hyper, len(previous.y)
    known = variances(std, scale)
    hyper = gp_fit.fit(X, (y - shift) / scale, kernel, noise, preset, rng, start, seen, known, data.groups)
    return posterior(hyper, X, y, shift, scale, std)


@dataclass(frozen=True, slots=True)
class GP:
    """Gaussian process recipe.

    The posterior is exact for up to 2,000 results. If there are more, a fit learns from 2,000: half of them are the
    best ones, an eighth the latest, and the others are taken from the rest at even steps
    (:mod:`~believer.surrogates.subset`; benchmarks/large.py). ``SparseGP`` uses all results.

    Parameters
    ----------
    kernel : "matern52", "matern32" or "se", each with one lengthscale for every parameter (ARD): the columns of a
        category share theirs.
    noise : the variance of the noise as a share of the variance of y (1e-6 for deterministic results); or "infer",
        which learns it; or "auto", which assumes deterministic results unless replicates differ or the data are much
        more likely with noise than without.
    prior : the prior of the lengthscales of numbers. "shared": they have a common mean, which is fixed at first, and
        learned with them once there are three results for each lengthscale. "separate": their mean is fixed, as it was
        before engine 4. The mean for categories is always fixed. "auto" is "separate" for a study in a finite space,
        and "shared" otherwise.
    """

    kernel: str = "matern52"
    noise: float | str = AUTO
    prior: str = AUTO
    most_results: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", checked_kernel(self.kernel))
        object.__setattr__(self, "noise", checked_noise(self.noise))
        checked_prior(self.prior)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> GPModel:
        """Fit hyperparameters to ``data``, X (n, d) and y (n,), by a search that begins at ``previous``; return the
        posterior.

        ``rng`` picks the subset for the hyperparameters if there are many data.
        """
        return fit_gp(data, self.kernel, self.noise, rng, previous, PRIORS[self.prior], self.most_results)

    def suited(self, finite: bool) -> GP:
        """The recipe for a study whose space is ``finite`` or not: the prior "auto" is replaced by the one that suits
        it."""
        return replace(self, prior=prior_for(self.prior, finite))

    def describe(self, model: GPModel) -> dict[str, Any]:
        """Hyperparameters as plain data."""
        return model.hyper.to_config()

    def verify(self, state: dict[str, Any], n: int, d: int) -> None:
        """Raise InvalidInput for a ``state`` that no fit to ``n`` results in ``d`` columns can produce."""
        Hyperparameters.from_config(state, d)

    def restore(self, data: Data, state: dict[str, Any]) -> GPModel:
        """The model of ``data`` at the hyperparameters of ``state``, without a fit."""
        data = learned(data, self.most_results)
        shift, scale = standardization(data.y)
        hyper = Hyperparameters.from_config(state, data.X.shape[1])
        return posterior(hyper, data.X, data.y, shift, scale, data.std)


def checked_kernel(kernel: str) -> str:
    """Return ``kernel`` if there is one of that name; otherwise raise InvalidInput."""
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}; got {shown(kernel)}.")
    return kernel


def checked_prior(prior: str) -> Preset:
    """The preset of a fit with the prior of that name; InvalidInput if there is none."""
    if not isinstance(prior, str) or prior not in PRIORS:
        raise InvalidInput(f"prior must be one of {', '.join(PRIORS)}; got {shown(prior)}.")
    return PRIORS[prior]


def checked_noise(noise: float | str, words: tuple[str, ...] = (INFER, AUTO)) -> float | str:
    """Return ``noise`` as a variance, zero or more, or one of ``words``; otherwise raise InvalidInput."""
    if isinstance(noise, str):
        if noise not in words:
            said = " or ".join(f'"{word}"' for word in words)
            raise InvalidInput(f"noise must be a variance or {said}; got {shown(noise)}.")
        return noise
    variance = finite(noise, "noise", MAX_NOISE)
    if variance < 0.0:
        raise InvalidInput(f"noise must be a variance, zero or more; got {noise!r}.")
    return variance


def standardization(y: Array) -> tuple[float, float]:
    """The mean and standard deviation of real data; for a constant y (to rounding), the scale is its magnitude, or
    1."""
    largest = float(np.abs(y).max())
    if largest < MIN_SCALE:
        return 0.0, 1.0 if largest == 0.0 else MIN_SCALE
    # The computation uses y / largest, whose squares neither overflow nor underflow.
    unit = y / largest
    shift, scale = float(unit.mean()), float(unit.std())
    if scale <= 1e-14:
        scale = 1.0
    return shift * largest, max(scale * largest, MIN_SCALE)
