"""Local Penalization: the acquisition function given real data, reduced around taken points. No model is updated.

======  ========================================================================  ========
symbol  meaning                                                                   shape
======  ========================================================================  ========
α⁺      the acquisition, made positive where it is not
x_j     taken points: pending ones, then those of the batch, by id                (k, d)
φ       penalty in [0, 1] around x_j: small near it, 1 far away                   (m, k)
ℓ       lengthscales of the model, or one number for all columns                  (d,)
r       |(x - x_j) / ℓ|                                                           (m, k)
z       (f⁺ - ξ - μ) / σ                                                          (m,)
u       (α - c) / s: α above that of the best real points, in units of its spread  (m,)
======  ========================================================================  ========

The next point maximizes log α⁺(x) + Σ_j log φ(x; x_j), the log of [Gonzalez2016]'s α⁺ Π_j φ. This module has the code
that all penalties share, and the penalty of [paper] section 4.5, φ = 1 - exp(-r²/2); ``lipschitz`` has the one of
[Gonzalez2016].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from believer.acquisitions import Pointwise, PointwiseAcquisition, PointwiseObjective, completed
from believer.arrays import Array, above_zero, frozen, shown
from believer.batch.best_so_far import best_places, real_incumbent
from believer.batch.capability import require
from believer.batch.picking import counted, pick, taken
from believer.batch.request import Chosen, Request
from believer.errors import InvalidInput
from believer.maximize.objective import Objective, ranked
from believer.numerics.sampling import sobol
from believer.surrogates.protocols import Model, Scaled

LENGTHSCALES = ("ard", "mean", "geometric")

_SCREENED = 128
_LINEAR_FROM = -37.0
_MIN = float(np.finfo(np.float64).tiny)

Penalty = Callable[[Array], tuple[Array, Array]]
"""Points (m, d) -> Σ_j log φ(x; x_j) (m,) and its gradient (m, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class Penalized:
    """log α⁺ + Σ_j log φ, the objective of a maximizer."""

    log_alpha: PointwiseObjective
    penalty: Penalty

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives gradients."""
        return self.log_alpha.has_gradient

    def value(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        return self.log_alpha.value(X) + self.penalty(X)[0]

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at ``X`` (m, d); needs a model with gradients."""
        value, gradient = self.log_alpha.value_with_gradient(X)
        log_left, by_x = self.penalty(X)
        return value + log_left, gradient + by_x


@dataclass(frozen=True, slots=True, eq=False)
class GaussianPenalty:
    """Σ_j log(1 - exp(-r²/2)) around ``points`` (k, d), with r in ``lengthscales`` (d,)  ([paper] section 4.5).

    Differs: at r = 0, the log of the least normal number stands for -∞. So every gradient is finite, and if only taken
    points are left (a finite space, repeats allowed), the least penalized ones still come first.
    """

    points: Array
    lengthscales: Array

    def __call__(self, X: Array) -> tuple[Array, Array]:
        """Value (m,) and gradient (m, d) at ``X`` (m, d).  O(m k d)."""
        # Differences, not the expanded square: r must be exact where it is small.
        steps = (X[:, None, :] - self.points) / self.lengthscales
        half = np.maximum(0.5 * np.einsum("mkd,mkd->mk", steps, steps), _MIN)
        left = -np.expm1(-half)
        by_half = np.exp(-half) / left
        return np.log(left).sum(axis=1), np.einsum("mk,mkd->md", by_half, steps) / self.lengthscales


@dataclass(frozen=True, slots=True)
class LocalPenalization:
    """Choose one point at a time, with a Gaussian penalty around taken points: φ = 1 - exp(-r²/2), [paper] section 4.5.

    Asking q times for one point equals asking for q points, bit for bit. Without taken points, the choice is that of
    the acquisition function alone.

    Parameters
    ----------
    lengthscale : the ℓ of r: the model's lengthscale of each column ("ard"), or the arithmetic ("mean") or geometric
        ("geometric") mean of them, since the paper has a single ℓ.
    radius : a number in units of the encoded cube, in place of lengthscales, for models that have none.
    """

    lengthscale: str = "ard"
    radius: float | None = None

    def __post_init__(self) -> None:
        if self.lengthscale not in LENGTHSCALES:
            raise InvalidInput(f"lengthscale must be one of {', '.join(LENGTHSCALES)}; got {shown(self.lengthscale)}.")
        if self.radius is not None:
            above_zero(self.radius, "radius", 1e-9, 1e9, "above zero, or None for the model's lengthscales")

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose a maximizer of log α⁺ + Σ_j log φ for each trial of ``request``; ``memory`` is ignored."""
        lengthscales = self.lengthscales(request.model, request.region.dim)
        return penalized(request, lambda points: GaussianPenalty(points, lengthscales))

    def lengthscales(self, model: Model, d: int) -> Array:
        """ℓ of the penalty on ``model``, one for each of ``d`` columns, (d,)."""
        if self.radius is not None:
            return frozen(np.full(d, float(self.radius)))
        require(model, Scaled, "lp", "Or use LocalPenalization(radius=0.1), in units of the encoded cube.")
        assert isinstance(model, Scaled)
        if self.lengthscale == "ard":
            return model.lengthscales
        one = model.lengthscales.mean() if self.lengthscale == "mean" else np.exp(np.log(model.lengthscales).mean())
        return frozen(np.full(d, float(one)))


def penalized(request: Request, penalty: Callable[[Array], Penalty]) -> Chosen:
    """Choose a batch one point at a time; ``penalty`` makes the penalty around taken points (k, d), k at least one.

    While no point is taken, the acquisition function itself is maximized, not its log: every strategy that chooses one
    point at a time then begins with the same point.
    """
    plain = PointwiseObjective(completed(request.acquisition), request.model, real_incumbent(request))
    positive = PointwiseObjective(log_positive(plain, request), plain.model, plain.incumbent)
    away, avoid = request.pending.X, request.avoid
    choices = []
    for trial in request.ids:
        objective: Objective = Penalized(positive, penalty(away)) if len(away) else plain
        if request.likely is not None and not len(away):
            objective = positive
        picked = pick(objective, request, trial, best_places(request), avoid, is_scaled=True)
        after = f" after penalizing {counted(len(away))}" if len(away) else ""
        choices.append(picked.choice(type(request.acquisition).__name__, after))
        avoid, away = taken(avoid, picked.x, request), np.vstack([away, picked.x])
    return Chosen(tuple(choices))


def log_positive(plain: PointwiseObjective, request: Request) -> PointwiseAcquisition:
    """The acquisition function whose value is log α⁺: the logarithm if there is one, or log softplus(u) if α may be
    negative."""
    acquisition = completed(plain.acquisition)
    log = acquisition.log()
    return LogSoftplus(acquisition, *_center_and_spread(plain, request)) if log is None else log


def _center_and_spread(plain: PointwiseObjective, request: Request) -> tuple[float, float]:
    """c is the largest α at the best real points. s is the mean distance of α from its median over the region, or 1.

    Both depend on the study's seed and not on a trial, so that asking one by one changes nothing.
    """
    region = request.region
    values = ranked(plain.value(region.spread(sobol(_SCREENED, region.dim, request.randomness(0, "spread")))))
    values = values[np.isfinite(values)]
    # If the log underflows at all known points, the worst value of the region is used.
    known = ranked(plain.value(best_places(request)), all_bad=True)
    spread = float(np.abs(values - np.median(values)).mean())
    return float(max(known.max(), values.min())), spread or 1.0


@dataclass(frozen=True, slots=True)
class LogSoftplus(PointwiseAcquisition):
    """log softplus(u), u = (α - ``center``) / ``spread``, which makes any acquisition function positive, as
    [Gonzalez2016] does.

    Differs: [Gonzalez2016] has u = α. The weight of a penalty then depends on the units of y and on its zero: with UCB
    and y around -1000, log softplus hardly rises with α, and the penalty decides alone. u depends on neither, and is
    above zero where α is larger than at the best known points.
    """

    acquisition: PointwiseAcquisition
    center: float
    spread: float

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """log softplus(u), with the chain rule."""
        at = self.acquisition.pointwise(mean, std, incumbent)
        value, by_u = log_softplus((at.value - self.center) / self.spread)
        weight = by_u / self.spread
        return Pointwise(value, weight * at.by_mean, weight * at.by_std)


def log_softplus(u: Array) -> tuple[Array, Array]:
    """log log(1 + eᵘ) and its derivative, for any u. It tends to u far below zero, and to log u far above."""
    inner = np.maximum(u, _LINEAR_FROM)
    softplus = np.logaddexp(0.0, inner)
    below = u < _LINEAR_FROM
    return np.where(below, u, np.log(softplus)), np.where(below, 1.0, expit(inner) / softplus)
