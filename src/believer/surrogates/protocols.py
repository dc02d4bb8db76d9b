"""The protocols of surrogates and of fitted models.

A :class:`Surrogate` is a recipe; ``fit`` turns data into a :class:`Model`, a frozen value. The other protocols are
capabilities: they are checked where they are needed (``isinstance``), and never declared in a list.
All ``X`` are points of the encoded unit cube, and all values are minimized.
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

MIN_STD = 1e-9
"""Floor of a standard deviation, as a share of the scale of y: acquisitions divide by it."""

MIN_VARIANCE = 1e-18
"""The same for a variance."""


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Latent mean and standard deviation.

    Attributes
    ----------
    mean : the posterior mean, (m,).
    std : the posterior standard deviation, (m,), positive everywhere.
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
    """Means and covariances of b groups of q points, with their derivatives by the points.

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
    """Means and stds of S models at m points, with their derivatives by the points.

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
    """S posteriors, which are conditioned on the same points, each with its own values."""

    def predict(self, X: Array) -> Prediction:
        """Latent means (S, m) and stds (S, m), or (1, m) if all share one, at ``X`` (m, d)."""

    def predict_with_gradient(self, X: Array) -> FantasyGradient:
        """The same, with the derivatives by ``X`` (m, d)."""

    def fantasize(self, x: Array, rng: np.random.Generator) -> tuple[Self, Array]:
        """All functions conditioned on ``x`` (d,), and the observations (S,), drawn with ``rng``."""


class Paths(Protocol):
    """Functions drawn from the posterior of a model."""

    def value(self, X: Array) -> Array:
        """Every function at ``X`` (m, d), as (count, m)."""

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (count, m), and their derivatives by x, (count, m, d)."""


@runtime_checkable
class Model(Protocol):
    """A fitted model. It is frozen and never changes."""

    def predict(self, X: Array) -> Prediction:
        """Latent mean and std at ``X`` (m, d)."""


class Surrogate(Protocol):
    """A recipe for fitting models, with frozen settings."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        """Learn from data.

        Known noise is used by models in which each observation has its own noise; other models ignore it.

        Parameters
        ----------
        data : ``X`` (n, d), ``y`` (n,) and the known noise.
        rng : the source of random numbers.
        previous : the last fit, for a warm start; None if there is none.
        """


@runtime_checkable
class Conditionable(Protocol):
    """Efficient conditioning, [paper] section 3.1: new data enter in closed form."""

    def predict(self, X: Array) -> Prediction:
        """Latent mean and std at ``X`` (m, d)."""

    def condition(self, data: Data) -> Self:
        """The model with more data; hyperparameters and the scaling of y stay frozen."""


@runtime_checkable
class Differentiable(Protocol):
    """Predictions with gradients, for a maximizer that uses them."""

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Mean, std and their derivatives by x at ``X`` (m, d)."""


@runtime_checkable
class Joint(Protocol):
    """Covariances between points, for verdicts and joint strategies."""

    def joint(self, X: Array) -> JointPrediction:
        """Mean (m,) and covariance (m, m) at ``X`` (m, d)."""


@runtime_checkable
class JointlyDifferentiable(Protocol):
    """Covariances between points with gradients, for q points that are moved together."""

    def joint_with_gradient(self, X: Array) -> JointGradient:
        """Latent means and covariances of b groups of q points, ``X`` (b, q, d)."""


@runtime_checkable
class Together(JointlyDifferentiable, Protocol):
    """A model for which moving all points of a batch costs little more than moving one: on a GPU, as a rule."""

    @property
    def climbs_together(self) -> bool:
        """Whether the points of a batch are to be moved together, after they were chosen among candidates."""


@runtime_checkable
class Pathwise(Protocol):
    """Whole functions drawn from the posterior, for Thompson sampling."""

    def paths(self, count: int, rng: np.random.Generator) -> Paths:
        """``count`` latent functions, drawn with ``rng``."""


@runtime_checkable
class Sampling(Protocol):
    """Draws from the posterior of observations, for fantasies."""

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` joint draws with ``rng`` at ``X`` (m, d), as (count, m); ``noisy`` adds observation noise."""


@runtime_checkable
class Fantasizing(Protocol):
    """A model that gives many fantasies at the cost of few, for acquisitions that are averaged over them."""

    def fantasies(self, count: int) -> Fantasies:
        """``count`` fantasies of the model, before they are conditioned on any values."""


@runtime_checkable
class Smoothing(Protocol):
    """A model that may infer that its data are noisy."""

    @property
    def is_noisy(self) -> bool:
        """Whether repeating an experiment is expected to give another result."""


@runtime_checkable
class Recalling(Protocol):
    """A model that returns its mean at its own data at a lower cost than a prediction."""

    def mean_at_data(self) -> Array:
        """The posterior mean (N,) at the points that it was fitted to, then at those that it was conditioned on."""


@runtime_checkable
class Measuring(Protocol):
    """A model that knows the noise of a further measurement."""

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise, in the units of y, apart from the known noise of single results."""


@runtime_checkable
class Evident(Protocol):
    """A model that knows the likelihood of its data, by which alternatives are compared."""

    def log_evidence(self) -> float:
        """log p(y | X), in the units of the y that it was given, at the hyperparameters that were found."""


@runtime_checkable
class Scaled(Protocol):
    """A model that has lengthscales."""

    @property
    def lengthscales(self) -> Array:
        """One for each column (d,)."""


@runtime_checkable
class Rescalable(Protocol):
    """A model that can be rebuilt under other lengthscales, with the likelihood of its data; see ``hedge``."""

    @property
    def lengthscales(self) -> Array:
        """One for each column (d,)."""

    def with_lengthscales(self, lengthscales: Array) -> Self:
        """The model of the same data under other ``lengthscales`` (d,), with everything else unchanged."""

    def log_evidence(self) -> float:
        """log p(y | X), up to a constant that does not depend on the lengthscales."""


@runtime_checkable
class CompilableModel(Protocol):
    """A model that may exist in compiled code, so that whole searches run there."""

    def compiled(self) -> Posterior | None:
        """The compiled posterior; None if the Python twin is to run."""


@runtime_checkable
class Bounded(Protocol):
    """A surrogate that learns from a subset if there are too many results; the provenance says so."""

    @property
    def most_results(self) -> int:
        """The largest number of results that ``fit`` uses; :func:`believer.surrogates.data.learned` says which."""


@runtime_checkable
class Suited(Protocol):
    """A surrogate with settings that depend on the kind of space."""

    def suited(self, finite: bool) -> Surrogate:
        """The recipe of a study in a space that is ``finite``, or not; settings that were stated are unchanged."""


@runtime_checkable
class Restorable(Protocol):
    """A surrogate whose fitted models can be stored and rebuilt without a fit."""

    def describe(self, model: Any) -> dict[str, Any]:
        """Hyperparameters of a model that this surrogate fitted, as plain JSON data."""

    def restore(self, data: Data, state: dict[str, Any]) -> Model:
        """The model that ``describe`` described as ``state``, on the ``data`` it was fitted to, bit for bit."""


@runtime_checkable
class Verifiable(Protocol):
    """A restorable surrogate that can check a stored state before anything is computed."""

    def verify(self, state: dict[str, Any], n: int, d: int) -> None:
        """Raise InvalidInput unless a model of ``n`` results at points of ``d`` columns can have ``state``."""


@runtime_checkable
class Stochastic(Protocol):
    """A surrogate whose fit draws random numbers of its own: bootstraps, initial weights, validation splits."""

    def with_fixed_draws(self, seed: int) -> Surrogate:
        """The recipe with draws that depend only on ``seed`` and on the position of an observation.

        Two fits on data of which one extends the other then differ by the additional data alone.
        """
