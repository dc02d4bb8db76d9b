"""The Gaussian process of the printed set-up. Another library finds its hyperparameters, in the units of the box.

======  ==========================================================  ========
symbol  meaning                                                     shape
======  ==========================================================  ========
x       points of the unit cube, x_raw = low + x (high - low)       (n, d)
ℓ       lengthscales; in the cube ℓ = ℓ_raw / (high - low)          (d,)
y       values, standardized by ``shift`` and ``scale``             (n,)
======  ==========================================================  ========

[paper] appendix "Hyperparameter details": Matérn-5/2 with ARD, σ_f² from 1 in [1e-3, 1e3], ℓ from 1 in [1e-2, 1e2],
σ_n² = 1e-6, five restarts, y normalized. Once the hyperparameters are known, all libraries compute the same posterior
up to rounding (a test compares them). It is computed by ours, as whole runs spend most of their time on predictions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from believer.arrays import Array, frozen
from believer.errors import InvalidInput, MissingExtra
from believer.plugins import Data, Model, Number, Prediction
from believer.space import Space
from believer.surrogates import GPModel, Hyperparameters, posterior, standardization
from believer_paper.setup.likelihood import LIKELIHOOD, PrintedGP
from believer_paper.setup.watch import FitWatch

NOISE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class ProcessModel:
    """A Gaussian process that normalizes y again with every lie, as scikit-learn's does if refitted without optimizer.

    Mean invariance ([paper] Lemma 1) is lost by this. The model has no gradients: the paper's L-BFGS-B had none.
    """

    inner: GPModel
    X: Array
    y: Array
    renormalize: bool

    @property
    def lengthscales(self) -> Array:
        """ℓ (d,), in the unit cube."""
        return self.inner.lengthscales

    def predict(self, X: Array) -> Prediction:
        """Latent mean and std at ``X`` (m, d)."""
        return self.inner.predict(X)

    def condition(self, data: Data) -> Self:
        """The model with more data and the same hyperparameters; y is normalized again if the recipe says so."""
        X, y = data.X, data.y
        points, values = frozen(np.vstack([self.X, X])), frozen(np.concatenate([self.y, y]))
        if self.renormalize:
            inner = posterior(self.inner.hyper, points, values, *standardization(values))
        else:
            inner = self.inner.condition(Data(X, y))
        return type(self)(inner, points, values, self.renormalize)


@dataclass(frozen=True, slots=True, eq=False)
class Process:
    """A recipe for the printed Gaussian process over ``space``.

    by: the library that finds the hyperparameters: "sklearn", "botorch" (``SingleTaskGP`` with its own priors and
    kernel) or "twin" (this library, with the paper's settings). renormalize: whether y is scaled again after a lie.
    gradient: whether the model is the plain one, with gradients and frozen scaling. inputs: whether the search sees the
    units of the box ("raw"), in which its first guess and its bounds are, or the unit cube ("cube").
    """

    space: Space
    by: str = "sklearn"
    renormalize: bool = True
    gradient: bool = False
    inputs: str = "raw"
    watch: FitWatch = field(default_factory=FitWatch)

    def __post_init__(self) -> None:
        if self.by not in _SEARCHES:
            raise InvalidInput(f"by must be one of {', '.join(_SEARCHES)}; got {self.by!r}.")
        if self.gradient and self.renormalize:
            raise InvalidInput("gradients are of the model with frozen scaling; pass renormalize=False with them.")

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        """Find hyperparameters from scratch, in the units of ``inputs``, then compute the exact posterior."""
        X, y = data.X, data.y
        low, high = box_of(self.space, self.inputs)
        raw = low + X * (high - low)
        elsewhere = nullcontext() if self.by == "twin" else self.watch.elsewhere()
        with elsewhere, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a search at its bounds, or out of iterations: the paper's went on too
            found, shift, scale = _SEARCHES[self.by](raw, y, int(rng.integers(2**31)))
        hyper = Hyperparameters(**{**found, "lengthscales": frozen(found["lengthscales"] / (high - low))})
        inner = posterior(hyper, X, y, shift, scale)
        if self.gradient:
            return inner
        return ProcessModel(inner, frozen(X), frozen(y), self.renormalize)


def box_of(space: Space, inputs: str = "raw") -> tuple[Array, Array]:
    """The lower and upper ends (d,) of a space of plain Floats; the unit cube for others and for inputs "cube"."""
    parameters = list(space.parameters.values())
    plain = [p for p in parameters if isinstance(p, Number) and not p.log and p.step is None]
    if inputs == "raw" and len(plain) == len(parameters):
        return np.array([p.low for p in plain]), np.array([p.high for p in plain])
    return np.zeros(space.dim), np.ones(space.dim)


Found = tuple[dict[str, Any], float, float]


def regressor(X: Array, y: Array, seed: int) -> Any:
    """scikit-learn's ``GaussianProcessRegressor`` as [paper] sets it up, fitted to ``X`` (n, d), ``y`` (n,)."""
    from sklearn import gaussian_process as gp
    from sklearn.gaussian_process import kernels

    kernel = kernels.ConstantKernel(1.0, LIKELIHOOD.signal_bounds) * kernels.Matern(
        np.ones(X.shape[1]), LIKELIHOOD.lengthscale_bounds, nu=2.5
    )
    return gp.GaussianProcessRegressor(
        kernel, alpha=NOISE, normalize_y=True, n_restarts_optimizer=LIKELIHOOD.restarts, random_state=seed
    ).fit(X, y)


def _by_sklearn(X: Array, y: Array, seed: int) -> Found:
    """``GaussianProcessRegressor`` as [paper] sets it up."""
    fitted = regressor(X, y, seed).kernel_
    found = {"kernel": "matern52", "lengthscales": np.atleast_1d(fitted.k2.length_scale), "noise": NOISE}
    return {**found, "signal": float(fitted.k1.constant_value)}, *standardization(y)


def _by_twin(X: Array, y: Array, seed: int) -> Found:
    """This library's search with the same likelihood, bounds and restarts."""
    # The search is the same in any units of X, as long as its bounds are.
    model = PrintedGP(noise=NOISE).fit(Data(X, y), np.random.default_rng(seed))
    found = {"kernel": "matern52", "lengthscales": model.lengthscales, "noise": NOISE, "signal": model.hyper.signal}
    return found, *standardization(y)


def _by_botorch(X: Array, y: Array, seed: int) -> Found:
    """``SingleTaskGP`` with its defaults: SE kernel, priors that scale with d, noise inferred."""
    try:
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood
    except ImportError as error:
        raise MissingExtra("botorch", "botorch", "believer-paper") from error
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = SingleTaskGP(torch.as_tensor(X, dtype=torch.double), torch.as_tensor(y, dtype=torch.double)[:, None])
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    found = {
        "kernel": "se",
        "lengthscales": model.covar_module.lengthscale.detach().numpy()[0].copy(),
        "noise": float(model.likelihood.noise.item()),
        "signal": 1.0,
        "mean": float(model.mean_module.constant.item()),
    }
    return found, float(y.mean()), float(y.std(ddof=1))


_SEARCHES: dict[str, Callable[[Array, Array, int], Found]] = {
    "sklearn": _by_sklearn,
    "botorch": _by_botorch,
    "twin": _by_twin,
}
