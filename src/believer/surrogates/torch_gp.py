"""The exact Gaussian process on a device of PyTorch, a GPU or the CPU: the formulas of gp.py, in double precision.

A model keeps its data, W and α on the device, where every step is a matrix product. Points and predictions are passed
as NumPy arrays. Symbols are those of gp.py; ``base`` and ``tail`` are the parts of W as in numerics/cholesky.py. Only
the search for hyperparameters (gp_fit.py) runs on the host, with the likelihood on the device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from believer.arrays import Array, above_zero, frozen, read_only, shown
from believer.errors import InvalidInput, NumericalError
from believer.numerics.cholesky import JITTER_STEPS
from believer.surrogates import gp_fit
from believer.surrogates.data import Data, learnable, squared, variances
from believer.surrogates.gp import NOISY_FROM, checked_kernel, checked_noise, checked_prior, draws, standardization
from believer.surrogates.gp_fit import Hyperparameters, prior_for
from believer.surrogates.gp_noise import AUTO
from believer.surrogates.paths import KernelPaths, prior_draws
from believer.surrogates.protocols import (
    MIN_VARIANCE,
    JointGradient,
    JointPrediction,
    Model,
    Prediction,
    PredictionGradient,
)
from believer.surrogates.torch_device import Tensor, available, correlation, on_device, pytorch, to_host
from believer.surrogates.torch_likelihood import likelihood_on
from believer.surrogates.torch_pool import TorchPool

MATRICES = 10
"""The number of (n, n) matrices that a study needs at its peak, when a model is factored while another one and its
candidates are kept."""

_MIN_PIVOT = 1e-12
_AT_ONCE = 1 << 27
"""The number of entries of a cross-covariance that are computed at once: 1 GB."""


@dataclass(frozen=True, slots=True, eq=False)
class TorchGPModel:
    """A fitted Gaussian process on a device. Predictions are latent (without noise) and in the units of the given y.

    ``points`` (N, d), ``target`` (N,), W as ``base`` (n, n) and ``tail`` (N - n, N), ``whitened`` (N,), ``alpha`` (N,)
    and ``known`` (N,) or None are tensors on the device.
    """

    hyper: Hyperparameters
    points: Tensor
    target: Tensor
    shift: float
    scale: float
    base: Tensor
    tail: Tensor
    jitter: float
    whitened: Tensor
    alpha: Tensor
    known: Tensor | None = None
    climbs_together: ClassVar[bool] = True
    """A device moves all points of a batch together at little more than the cost of a single one."""

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

    def predict(self, X: Array) -> Prediction:
        """μ = kᵀ α, σ² = k(x, x) - |W k|² at ``X`` (m, d).  O(m N²)."""
        means, variances_ = list[Array](), list[Array]()
        for some in self._blocks(X):
            k, _ = self.cross(some)
            means.append(to_host(k @ self.alpha))
            variances_.append(to_host(self.hyper.signal - self.whiten(k).square().sum(dim=1)))
        mean, variance = (np.concatenate(parts) if parts else np.zeros(0) for parts in (means, variances_))
        return Prediction(self.shift + self.scale * mean, self.scale * self._root(variance))

    def mean_at_data(self) -> Array:
        """μ (N,) at the data: k(X, X) α = y - (K_y - k(X, X)) α.  O(N)."""
        noise = self.hyper.noise + self.jitter if self.known is None else self.hyper.noise + self.jitter + self.known
        return self.shift + self.scale * to_host(self.target - noise * self.alpha)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """μ, σ and their gradients by x, at ``X`` (m, d), by the formulas of gp.py. O(m N²)."""
        parts = [self._with_gradient(some) for some in self._blocks(X)]
        d = self.points.shape[1]
        if not parts:
            return PredictionGradient(np.zeros(0), np.zeros(0), np.zeros((0, d)), np.zeros((0, d)))
        mean, variance, by_mean, by_variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        std, inverse_squares = self._root(variance), self.lengthscales**-2.0
        return PredictionGradient(
            self.shift + self.scale * mean,
            self.scale * std,
            self.scale * by_mean * inverse_squares,
            self.scale * by_variance * inverse_squares / std[:, None],
        )

    def _with_gradient(self, X: Tensor) -> tuple[Array, Array, Array, Array]:
        """The standardized mean and variance (m,), and ℓ² times their derivatives (m, d), with that of the variance
        halved."""
        k, h = self.cross(X, slope=True)
        V = self.whiten(k)
        A, B = h * self.alpha, h * self.unwhiten(V)
        by_mean = A @ self.points - X * A.sum(dim=1, keepdim=True)
        by_variance = X * B.sum(dim=1, keepdim=True) - B @ self.points
        variance = self.hyper.signal - V.square().sum(dim=1)
        return to_host(k @ self.alpha), to_host(variance), to_host(by_mean), to_host(by_variance)

    def _blocks(self, X: Array) -> list[Tensor]:
        """``X`` (m, d) on the device, in parts whose cross-covariances fit there."""
        rows = max(1, _AT_ONCE // len(self.target))
        return [self.place(X[start : start + rows]) for start in range(0, len(X), rows)]

    def place(self, values: Array) -> Tensor:
        """``values`` as a tensor on the model's device."""
        return on_device(values, self.base.device)

    def cross(self, X: Tensor, slope: bool = False) -> tuple[Tensor, Tensor]:
        """σ_f² k and, with ``slope``, σ_f² h between ``X`` (m, d) and the data, (m, N); without ``slope``, k twice."""
        return correlation(self.hyper, X, self.points, slope)

    def whiten(self, k: Tensor) -> Tensor:
        """V = k Wᵀ (m, N) for cross-covariances ``k`` (m, N)."""
        n = len(self.base)
        V = k[:, :n] @ self.base.T
        return pytorch().cat([V, k @ self.tail.T], dim=1) if len(self.tail) else V

    def unwhiten(self, V: Tensor) -> Tensor:
        """V W (m, N), which for a whitened cross-covariance V is k K_y⁻¹."""
        n = len(self.base)
        if not len(self.tail):
            return V @ self.base
        out = V[:, n:] @ self.tail
        out[:, :n] += V[:, :n] @ self.base
        return out

    def _root(self, variance: Array) -> Array:
        return np.sqrt(np.maximum(variance, MIN_VARIANCE * self.hyper.signal))

    def pool(self, X: Array) -> TorchPool:
        """``X`` (m, d) with the predictions there, which are updated when the model is conditioned. O(m N²)."""
        return TorchPool.of(self, X)

    def joint(self, X: Array) -> JointPrediction:
        """Latent mean (m,) and covariance (m, m)."""
        points = self.place(X)
        k, V = self._whitened(points)
        covariance = to_host(correlation(self.hyper, points, points)[0] - V @ V.T)
        mean = self.shift + self.scale * to_host(k @ self.alpha)
        return JointPrediction(mean, squared(self.scale) * 0.5 * (covariance + covariance.T))

    def _whitened(self, X: Tensor) -> tuple[Tensor, Tensor]:
        k, _ = self.cross(X)
        return k, self.whiten(k)

    def joint_with_gradient(self, X: Array) -> JointGradient:
        """Latent means (b, q) and covariances (b, q, q) of b groups of q points, ``X`` (b, q, d), with gradients.

        The values needed for the derivatives stay on the device.
        """
        torch, (b, q, d) = pytorch(), X.shape
        groups = self.place(X).requires_grad_()
        k, V = self._whitened(groups.reshape(b * q, d))
        V = V.reshape(b, q, -1)
        unit = correlation(self.hyper, groups, groups)[0] - V @ V.transpose(1, 2)
        mean = (k @ self.alpha).reshape(b, q)
        square = squared(self.scale)

        def pull(by_mean: Array, by_covariance: Array) -> Array:
            weights = [self.place(self.scale * by_mean), self.place(square * by_covariance)]
            (gradient,) = torch.autograd.grad([mean, unit], [groups], weights, retain_graph=True)
            return to_host(gradient)

        return JointGradient(self.shift + self.scale * to_host(mean), square * to_host(unit), pull)

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws from the joint posterior at ``X`` (m, d), as (count, m)."""
        return draws(self.joint(X), self.scale, self.hyper.noise if noisy else 0.0, count, rng)

    def paths(self, count: int, rng: np.random.Generator) -> KernelPaths:
        """``count`` functions drawn from the posterior, without noise, to be evaluated on the host.  O(count N²)."""
        drawn, X = prior_draws(self.hyper, count, rng), read_only(to_host(self.points))
        noise = np.full(len(X), self.hyper.noise) if self.known is None else self.hyper.noise + to_host(self.known)
        noise[: len(self.base)] += self.jitter
        draw = np.sqrt(noise) * rng.standard_normal((count, len(X)))
        missing = self.place(to_host(self.target) - drawn.value(X) - draw)
        weights = to_host(self.unwhiten(self.whiten(missing)))
        return KernelPaths(drawn, self.hyper, X, frozen(weights), self.shift, self.scale)

    def leave_one_out(self) -> Prediction:
        """Prediction at each data point from all the others ([Rasmussen2006] Eq. 5.12), with the latent deviation."""
        n = len(self.base)
        precision = self.tail.square().sum(dim=0)
        precision[:n] += self.base.square().sum(dim=0)
        mean = self.shift + self.scale * to_host(self.target - self.alpha / precision)
        noise = self.hyper.noise if self.known is None else self.hyper.noise + self.known
        return Prediction(mean, self.scale * self._root(to_host(1.0 / precision - noise)))

    def log_marginal_likelihood(self) -> float:
        """log p(y | X, θ) of the standardized data ([Rasmussen2006] Eq. 5.8)."""
        pivots = self.base.diagonal().log().sum() + self.tail.diagonal(len(self.base)).log().sum()
        quadratic = float(self.whitened @ self.whitened)
        return -0.5 * (quadratic + len(self.target) * math.log(2.0 * math.pi)) + float(pivots)

    def log_evidence(self) -> float:
        """log p(y | X, θ) of the data in their own units."""
        return self.log_marginal_likelihood() - len(self.target) * math.log(self.scale)

    def with_lengthscales(self, lengthscales: Array) -> Self:
        """The posterior of the same data under other ``lengthscales`` (d,), with everything else unchanged. O(N³)."""
        hyper = replace(self.hyper, lengthscales=frozen(lengthscales))
        made = solved(hyper, self.points, self.target, self.shift, self.scale, self.known)
        return cast(Self, made)

    def condition(self, data: Data) -> Self:
        """The posterior with ``X`` (k, d), ``y`` (k,) and their known noise added; each adds a row to W.

        [paper] Eq. 1-2, as in gp.py.  O(k N²).
        """
        torch, model = pytorch(), self
        X = self.place(data.X)
        std = data.std
        known = None if std is None else variances(std, self.scale)
        beyond = np.zeros(len(X)) if known is None else known
        for row in range(len(X)):
            x, variance = X[row : row + 1], model.hyper.signal + model.hyper.noise + float(beyond[row])
            _, v = model._whitened(x)
            pivot = variance - float(v[0] @ v[0])
            root = math.sqrt(max(pivot, _MIN_PIVOT * variance))
            last = torch.cat([model.unwhiten(v)[0] / -root, model.base.new_tensor([1.0 / root])])
            tail = model.tail.new_zeros((len(model.tail) + 1, len(last)))
            tail[:-1, :-1], tail[-1] = model.tail, last
            target = _appended(model.target, (float(data.y[row]) - model.shift) / model.scale)
            new = last @ target
            model = replace(
                model,
                points=torch.cat([model.points, x]),
                target=target,
                tail=tail,
                jitter=max(model.jitter, _MIN_PIVOT * variance - pivot),
                whitened=torch.cat([model.whitened, new[None]]),
                alpha=_appended(model.alpha, 0.0) + new * last,
            )
        if known is None and self.known is None:
            return model
        before = self.target.new_zeros(len(self.target)) if self.known is None else self.known
        return replace(model, known=torch.cat([before, self.place(beyond)]))


def _appended(values: Tensor, last: float) -> Tensor:
    return pytorch().cat([values, values.new_tensor([last])])


def solved(
    hyper: Hyperparameters, points: Tensor, target: Tensor, shift: float, scale: float, known: Tensor | None
) -> TorchGPModel:
    """The model at given hyperparameters, with W and the whitened standardized ``target`` (n,). O(n³).

    Jitter is added as in numerics/cholesky.py, relative to the variance that all observations have.
    """
    torch, n = pytorch(), len(points)
    diagonal = hyper.signal + hyper.noise
    for step in JITTER_STEPS:
        K, _ = correlation(hyper, points, points)
        K.diagonal()[:] = diagonal * (1.0 + step) if known is None else diagonal * (1.0 + step) + known
        L, info = torch.linalg.cholesky_ex(K)
        del K
        if int(info) == 0:
            unit = torch.eye(n, dtype=L.dtype, device=L.device)
            W = torch.linalg.solve_triangular(L, unit, upper=False)
            del L, unit
            whitened = W @ target
            return TorchGPModel(
                hyper,
                points,
                target,
                shift,
                scale,
                W,
                W.new_zeros((0, n)),
                step * diagonal,
                whitened,
                W.T @ whitened,
                known,
            )
    raise NumericalError(
        f"the covariance of {n} points is not positive definite even with a jitter of {JITTER_STEPS[-1]:g} of its "
        "diagonal; check that all values are finite."
    )


def posterior(
    hyper: Hyperparameters, X: Array, y: Array, shift: float, scale: float, std: Array | None, device: Any
) -> TorchGPModel:
    """The model at given hyperparameters; ``y`` and known ``std`` in the caller's units.  O(n³)."""
    shift, known = shift + scale * hyper.mean, variances(std, scale)
    known = None if known is None else on_device(known, device)
    return solved(hyper, on_device(X, device), on_device((y - shift) / scale, device), shift, scale, known)


@dataclass(frozen=True, slots=True)
class TorchGP:
    """The Gaussian process of :class:`~believer.surrogates.gp.GP`, computed by PyTorch, on a GPU if there is one.

    It is made for thousands of results: the exact posterior of 10,000 of them is a few matrix products, which take a
    GPU well under a second. The model learns from all results; if they do not fit into memory, an error names the
    largest number that does. Everything is in double precision. From 200 results on, the points of a batch that Kriging
    Believer chooses in a continuous space are moved together at the end, each with regard to all others. Asking for
    points one by one therefore gives other points than asking for them at once. The same results and seed give the same
    suggestions on the same device.

    Parameters
    ----------
    kernel, noise, prior : as for ``GP``.
    device : "cuda", "cuda:1", ..., or "cpu"; "auto" takes a GPU if there is one.
    memory : the number of bytes that a study may use on the device; None for all that are free.
    """

    kernel: str = "matern52"
    noise: float | str = AUTO
    prior: str = AUTO
    device: str = AUTO
    memory: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", checked_kernel(self.kernel))
        object.__setattr__(self, "noise", checked_noise(self.noise))
        checked_prior(self.prior)
        if not isinstance(self.device, str) or self.device.split(":")[0] not in (AUTO, "cuda", "cpu"):
            raise InvalidInput(f'device must be "auto", "cuda", "cuda:1", ..., or "cpu"; got {shown(self.device)}.')
        if self.memory is not None:
            object.__setattr__(self, "memory", above_zero(self.memory, "memory", 1.0, 1e18, "bytes"))
        pytorch()

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TorchGPModel:
        """Fit hyperparameters to ``data``, X (n, d) and y (n,), by a search that begins at ``previous``; return the
        posterior.

        ``rng`` picks the subset for the hyperparameters if there are more than 2,000 data.
        """
        X, y, std = learnable(data, "a Gaussian process")
        device = self._room_for(len(X))
        shift, scale = standardization(y)
        start, seen = None, 0
        if isinstance(previous, TorchGPModel) and previous.hyper.kernel == self.kernel:
            start, seen = previous.hyper, len(previous.target)
        hyper = gp_fit.fit(
            X,
            (y - shift) / scale,
            self.kernel,
            self.noise,
            checked_prior(self.prior),
            rng,
            start,
            seen,
            variances(std, scale),
            data.groups,
            likelihood_on(device),
        )
        return posterior(hyper, X, y, shift, scale, std, device)

    def suited(self, finite: bool) -> TorchGP:
        """The recipe for a study whose space is ``finite`` or not: the prior "auto" is replaced by the one that suits
        it."""
        return replace(self, prior=prior_for(self.prior, finite))

    def _room_for(self, n: int) -> Any:
        """The device; InvalidInput if the matrices of ``n`` results do not fit there."""
        device, free = available(self.device)
        free = free if self.memory is None else self.memory
        if free is not None and 8.0 * MATRICES * n * n > free:
            most = math.isqrt(int(free / (8.0 * MATRICES)))
            raise InvalidInput(
                f"{n:,} results must fit into the memory of {self.device}: a Gaussian process of them takes "
                f"{8.0 * MATRICES * n * n / 2**30:,.1f} GiB, and {free / 2**30:,.1f} GiB are free, enough for {most:,} "
                "results. Use GP or SparseGP, or a device with more memory."
            )
        return device

    def describe(self, model: TorchGPModel) -> dict[str, Any]:
        """Hyperparameters as plain data."""
        return model.hyper.to_config()

    def verify(self, state: dict[str, Any], n: int, d: int) -> None:
        """Raise InvalidInput for a ``state`` that no fit to ``n`` results in ``d`` columns can produce."""
        Hyperparameters.from_config(state, d)

    def restore(self, data: Data, state: dict[str, Any]) -> TorchGPModel:
        """The model of ``data`` at the hyperparameters of ``state``, without a fit."""
        device = self._room_for(len(data))
        shift, scale = standardization(data.y)
        hyper = Hyperparameters.from_config(state, data.X.shape[1])
        return posterior(hyper, data.X, data.y, shift, scale, data.std, device)
