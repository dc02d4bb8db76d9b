"""What a surrogate is, and what a fitted model may be able to do.

A :class:`Surrogate` is a recipe; ``fit`` turns data into a :class:`Model`, a frozen value. The other protocols are
capabilities: they are asked for where they are needed (``isinstance``), never declared in a list.
All ``X`` are points of the encoded unit cube, all values are to be minimized.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from believer.arrays import Array
from believer.surrogates.data import Data

if TYPE_CHECKING:
    from believer._native import Posterior

LEAST_STD = 1e-9
"""Floor of a standard deviation, as a share of the scale of y: acquisitions divide by it."""

LEAST_VARIANCE = 1e-18
"""The same for a variance."""


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Latent mean and standard deviation.

    Attributes
    ----------
    mean : (m,).
    std : (m,), above zero everywhere, be it ever so little.
    """

    mean: Array
    std: Array


@dataclass(frozen=True, slots=True, eq=False)
class PredictionGradient:
    """A prediction with its derivatives by x.

    Attributes
    ----------
    mean, std : the prediction, (m,) each.
    mean_gradient, std_gradient : their derivatives, (m, d) each.
    """

    mean: Array
    std: Array
    mean_gradient: Array
    std_gradient: Array


@dataclass(frozen=True, slots=True, eq=False)
class JointPrediction:
    """Latent mean and covariance of m points.

    Attributes
    ----------
    mean : (m,).
    covariance : (m, m).
    """

    mean: Array
    covariance: Array


@dataclass(frozen=True, slots=True, eq=False)
class JointGradient:
    """Means and covariances of b groups of q points, and the way back to the points.

    Attributes
    ----------
    mean : (b, q).
    covariance : (b, q, q).
    pull : ``pull(by_mean, by_covariance)`` turns the derivatives of a number by means (b, q) and by covariances
        (b, q, q) into those by points, (b, q, d). All entries of a covariance count as free: ∂/∂Σ_ij and ∂/∂Σ_ji are
        given both.
    """

    mean: Array
    covariance: Array
    pull: Callable[[Array, Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class FantasyGradient:
    """Means and stds of S models at m points, and the way back to the points.

    Attributes
    ----------
    mean : (S, m).
    std : (S, m), or (1, m) if all share one.
    pull : ``pull(by_mean, by_std)`` turns the derivatives of m numbers by means and by stds, both (S, m), into those by
        their points, (m, d).
    """

    mean: Array
    std: Array
    pull: Callable[[Array, Array], Array]


class Fantasies(Protocol):
    """S posteriors that were told of the same points, each of values of its own."""

    def predict(self, X: Array) -> Prediction:
        """Latent means (S, m) and stds (S, m), or (1, m) if all share one, at ``X`` (m, d)."""
        ...

    def predict_with_gradient(self, X: Array) -> FantasyGradient:
        """The same, and the way back to ``X`` (m, d)."""
        ...

    def fantasize(self, x: Array, rng: np.random.Generator) -> tuple[Self, Array]:
        """All of them told of ``x`` (d,), and what: observations (S,), each drawn with ``rng`` from its posterior."""
        ...


class Paths(Protocol):
    """Functions drawn from a model, each as good as any other guess of what the objective is."""

    def value(self, X: Array) -> Array:
        """Every function at ``X`` (m, d), as (count, m)."""
        ...

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (count, m), and their derivatives by x, (count, m, d)."""
        ...


@runtime_checkable
class Model(Protocol):
    """What was learnt from data: frozen, never mutated."""

    def predict(self, X: Array) -> Prediction:
        """Latent mean and std at ``X`` (m, d)."""
        ...


class Surrogate(Protocol):
    """A recipe with frozen settings."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        """Learn from data.

        What is known of the noise counts in models that give each observation a noise; the others ignore it.

        Parameters
        ----------
        data : ``X`` (n, d), ``y`` (n,) and what is known of the noise.
        rng : the source of random numbers.
        previous : the last fit, a warm start; None without any.
        """
        ...


@runtime_checkable
class Conditionable(Protocol):
    """Efficient conditioning, [paper] section 3.1: new data enter in closed form."""

    def predict(self, X: Array) -> Prediction:
        """Latent mean and std at ``X`` (m, d)."""
        ...

    def condition(self, data: Data) -> Self:
        """The model with more data; hyperparameters and the scaling of y stay frozen."""
        ...


@runtime_checkable
class Differentiable(Protocol):
    """Predictions with gradients, for a maximizer that uses them."""

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Mean, std and their derivatives by x at ``X`` (m, d)."""
        ...


@runtime_checkable
class Joint(Protocol):
    """Covariances between points, for verdicts and joint strategies."""

    def joint(self, X: Array) -> JointPrediction:
        """Mean (m,) and covariance (m, m) at ``X`` (m, d)."""
        ...


@runtime_checkable
class JointlyDifferentiable(Protocol):
    """Covariances between points with gradients, for q points that are moved together."""

    def joint_with_gradient(self, X: Array) -> JointGradient:
        """Latent means and covariances of b groups of q points, ``X`` (b, q, d)."""
        ...


@runtime_checkable
class Pathwise(Protocol):
    """Whole functions drawn from the posterior, for Thompson sampling."""

    def paths(self, count: int, rng: np.random.Generator) -> Paths:
        """``count`` latent functions, drawn with ``rng``."""
        ...


@runtime_checkable
class Sampling(Protocol):
    """Draws from the posterior of observations, for fantasies."""

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` joint draws with ``rng`` at ``X`` (m, d), as (count, m); ``noisy`` adds observation noise."""
        ...


@runtime_checkable
class Fantasizing(Protocol):
    """Many fantasies at the cost of few, for acquisitions that are averaged over them."""

    def fantasies(self, count: int) -> Fantasies:
        """``count`` copies of the model, before they are told anything."""
        ...


@runtime_checkable
class Smoothing(Protocol):
    """A model that takes its data to be noisy."""

    @property
    def is_noisy(self) -> bool:
        """Whether repeating an experiment is expected to give another result."""
        ...


@runtime_checkable
class Recalling(Protocol):
    """A model that tells its mean at the points that it knows for less than a prediction there."""

    def mean_at_data(self) -> Array:
        """The posterior mean (N,) at the points that it was fitted to, then at those that it was conditioned on."""
        ...


@runtime_checkable
class Measuring(Protocol):
    """A model that knows how noisy one more measurement would be."""

    @property
    def noise_std(self) -> float:
        """Its standard deviation, in the units of y, beside what is known of single results."""
        ...


@runtime_checkable
class Evident(Protocol):
    """A model that knows how likely its data are: by that, one way of learning from them is chosen over another."""

    def log_evidence(self) -> float:
        """log p(y | X), in the units of the y that it was given, at the hyperparameters that were found."""
        ...


@runtime_checkable
class Scaled(Protocol):
    """A model that knows how far its correlations reach."""

    @property
    def lengthscales(self) -> Array:
        """One for each column (d,)."""
        ...


@runtime_checkable
class Rescalable(Protocol):
    """A model that can be had under other lengthscales, and says how likely its data are under them: see ``hedge``."""

    @property
    def lengthscales(self) -> Array:
        """One for each column (d,)."""
        ...

    def with_lengthscales(self, lengthscales: Array) -> Self:
        """The model of the same data under other ``lengthscales`` (d,), all else as it is."""
        ...

    def log_evidence(self) -> float:
        """log p(y | X), up to a constant that the lengthscales play no part in."""
        ...


@runtime_checkable
class Compiled(Protocol):
    """A model that may exist in compiled code, so that whole searches run there."""

    def compiled(self) -> Posterior | None:
        """The compiled posterior; None where the Python twin is to run."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """A surrogate that learns from some of the results where there are too many of them; provenance says so."""

    @property
    def most_results(self) -> int:
        """How many its ``fit`` looks at, at most; which: :func:`believer.surrogates.data.learned`."""
        ...


@runtime_checkable
class Restorable(Protocol):
    """A surrogate whose fitted models can be written down and rebuilt without fitting."""

    def describe(self, model: Any) -> dict[str, Any]:
        """Hyperparameters of a model that this surrogate fitted, as plain JSON data."""
        ...

    def restore(self, data: Data, state: dict[str, Any]) -> Model:
        """The model that ``describe`` described as ``state``, on the ``data`` it was fitted to, bit for bit."""
        ...


@runtime_checkable
class Verifiable(Protocol):
    """A restorable surrogate that can tell, before anything is computed, what it never described."""

    def verify(self, state: dict[str, Any], n: int, d: int) -> None:
        """InvalidInput unless ``state`` may be of a model of ``n`` results at points of ``d`` columns."""
        ...


@runtime_checkable
class Stochastic(Protocol):
    """A surrogate whose fit draws random numbers of its own: bootstraps, initial weights, validation splits."""

    def with_fixed_draws(self, seed: int) -> Surrogate:
        """The recipe with draws that depend on ``seed`` and on an observation's position, on nothing else.

        Two fits on data of which one extends the other then differ by the additional data alone.
        """
        ...
