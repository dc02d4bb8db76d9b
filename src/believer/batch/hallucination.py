"""Confidence bounds for batches: pending points reduce σ, but leave μ unchanged until their results arrive.

======  =====================================================================  ======
symbol  meaning                                                                shape
======  =====================================================================  ======
μ, σ    latent mean and std, given real results only                           (m,)
σ'      std after hallucinated results too: at pending points and those of     (m,)
        the batch so far, each at its μ
β       β_t of ``schedules``, the same for a whole batch
R⁺      the relevant region, see ``relevance``
======  =====================================================================  ======

An exact Gaussian process that is conditioned on its own mean keeps that mean, and its σ does not depend on y. So σ' is
the standard deviation of the model conditioned on the batch, whatever its results, and GP-BUCB is Kriging Believer with
UCB at β_t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self, cast

import numpy as np

from believer.acquisitions import UCB, PointwiseObjective
from believer.arrays import Array, frozen
from believer.batch.best_so_far import best_places
from believer.batch.capability import require
from believer.batch.picking import Picked, counted, pick, taken
from believer.batch.relevance import Exploration, Relevance, relevance
from believer.batch.request import LIMITS, Choice, Chosen, Request
from believer.batch.schedules import LogBeta, Schedule, beta_at, checked_beta
from believer.batch.worth import bounded
from believer.capabilities import has
from believer.maximize import Candidates, Multistart, Objective
from believer.numerics.lbfgs import Settings
from believer.surrogates.data import Data
from believer.surrogates.protocols import Conditionable, Differentiable

WIDE = LogBeta(0.2)
NARROW = LogBeta(0.005)
"""β_t for a bound that is minimized, and for the bound that defines the relevant region, which should be small (see
UCBPE)."""

_UP_THE_SLOPE = Multistart(climb=Settings(max_rounds=20, gradient_tol=1e-3, value_tol=1e-6, heat=8, finalists=2))
_AT_THE_WALL = Candidates(candidates=256, neighbors=30, survivors=6)
"""A gradient does not follow the border of R⁺: climbs are stopped early, and draws ever closer to the best point
follow."""


@dataclass(frozen=True, slots=True, eq=False)
class Hallucination:
    """A model of real results, and the same model conditioned on its own mean y (k,) at points (k, d)."""

    real: Conditionable
    model: Conditionable
    X: Array
    y: Array

    def conditioned(self, X: Array) -> Self:
        """The same model with ``X`` (k, d) hallucinated as well, one point after the other."""
        here = self
        for x in X:
            at, mean = x[None, :], self.real.predict(x[None, :]).mean
            model = here.model.condition(Data(at, mean))
            here = type(self)(self.real, model, frozen(np.vstack([here.X, at])), frozen(np.append(here.y, mean)))
        return here

    def after(self) -> str:
        """ " after hallucinating 2 points", for provenance."""
        return f" after hallucinating {counted(len(self.X))}" if len(self.X) else ""


def hallucinated(request: Request, strategy: str) -> Hallucination:
    """The request's model, conditioned on the pending points; MissingCapability if ``strategy`` cannot condition it."""
    require(request.model, Conditionable, strategy)
    model = cast(Conditionable, request.model)
    return Hallucination(model, model, frozen(np.zeros((0, request.region.dim))), frozen(np.zeros(0))).conditioned(
        request.pending.X
    )


@dataclass(frozen=True, slots=True, eq=False)
class BatchUCB:
    """-μ + √β σ', with mean and std from two models ([Desautels2014])."""

    acquisition: UCB
    given: Hallucination

    @property
    def has_gradient(self) -> bool:
        """Whether both models give gradients."""
        return has(self.given.real, Differentiable) and has(self.given.model, Differentiable)

    def value(self, X: Array) -> Array:
        """-μ + √β σ' (m,) at ``X`` (m, d)."""
        mean, std = self.given.real.predict(X).mean, self.given.model.predict(X).std
        return self.acquisition.pointwise(mean, std, 0.0).value

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (m,) with gradients (m, d)."""
        real = cast(Differentiable, self.given.real).predict_with_gradient(X)
        given = cast(Differentiable, self.given.model).predict_with_gradient(X)
        at = self.acquisition.pointwise(real.mean, given.std, 0.0)
        return at.value, at.by_mean[:, None] * real.mean_gradient + at.by_std[:, None] * given.std_gradient


def by_ucb(request: Request, trial: int, given: Hallucination, beta: float, avoid: Array, note: str = "") -> Choice:
    """The point with the best bound; ``note`` ends its provenance."""
    ucb = UCB(beta)
    bound: Objective = BatchUCB(ucb, given) if len(given.X) else PointwiseObjective(ucb, request.model, 0.0)
    objective = bounded(request, bound, math.sqrt(beta))
    picked = pick(objective, request, trial, best_places(request, given.X, given.y), avoid)
    return picked.choice(f"UCB (β = {beta:.3g})", given.after() + note)


def explore(request: Request, trial: int, given: Hallucination, where: Relevance, avoid: Array) -> Picked | None:
    """The point of R⁺ with the largest σ'; None if no new point of R⁺ is found."""
    # R⁺ holds the point that y• belongs to; and for ucb_pe the UCB point, which is the first that was hallucinated.
    near_best = np.vstack([best_places(request), where.best, given.X[:1]])
    slope, wall = (bounded(request, Exploration(given.model, where, wall), where.root) for wall in (False, True))
    far = replace(request, maximizer=request.maximizer or (_UP_THE_SLOPE if slope.has_gradient else None))
    picked = pick(slope, far, trial, near_best, avoid)
    if where.holds(picked.x[None, :])[0]:
        return picked
    near = replace(request, maximizer=request.maximizer or _AT_THE_WALL)
    picked = pick(wall, near, trial, np.vstack([picked.x, near_best]), avoid)
    return picked if where.holds(picked.x[None, :])[0] else None


def by_exploration(
    request: Request, trial: int, given: Hallucination, where: Relevance, beta: float, avoid: Array
) -> Choice:
    """The point with the largest σ' in R⁺, or the point with the best UCB if R⁺ has no new point."""
    picked = explore(request, trial, given, where, avoid)
    if picked is None:
        return by_ucb(request, trial, given, beta, avoid, "; no new point of the relevant region was found")
    return picked.choice("posterior std", f" in {where.describe()}{given.after()}")


@dataclass(frozen=True, slots=True)
class GPBUCB:
    """GP-BUCB ([Desautels2014]): each point minimizes μ - √β σ', with σ' after hallucinating all pending points.

    The study's acquisition plays no part. q x ask(1) = ask(q), bit for bit.

    Differs: the default β_t is the practical one of [Kandasamy2015]; the paper's own is ``TheoryBeta(scale=1, C=...)``.

    Parameters
    ----------
    beta : a number or a schedule.
    """

    beta: float | Schedule = WIDE
    takes: ClassVar[str] = LIMITS

    def __post_init__(self) -> None:
        checked_beta(self.beta)

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose one point at a time for ``request``; each is hallucinated before the next. ``memory`` is ignored."""
        given = hallucinated(request, "gp_bucb")
        beta = beta_at(self.beta, len(request.data.y) + 1, request.region)
        choices: list[Choice] = []
        avoid = request.avoid
        for trial in request.ids:
            choices.append(by_ucb(request, trial, given, beta, avoid))
            given, avoid = given.conditioned(choices[-1].x[None, :]), taken(avoid, choices[-1].x, request)
        return Chosen(tuple(choices))


@dataclass(frozen=True, slots=True)
class UCBPE:
    """GP-UCB-PE ([Contal2013]): a batch's first point minimizes μ - √β σ, the others maximize σ' in R⁺.

    A pending point counts as an earlier point of the same batch, so asking q times for one point equals asking for q
    points, bit for bit. In asynchronous use some point is always pending, so every point would be one of exploration:
    use gp_bucb there. The study's acquisition plays no part.

    Differs: the default β_t is far below gp_bucb's, and the paper's own is ``TheoryBeta(scale=1)``. The wider R⁺ is,
    the more all points of a batch but the first are pure exploration of the whole space.

    Parameters
    ----------
    beta : a number or a schedule.
    """

    beta: float | Schedule = NARROW
    takes: ClassVar[str] = LIMITS

    def __post_init__(self) -> None:
        checked_beta(self.beta)

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose a point by UCB for ``request``, then explore the region that is relevant given real results;
        ``memory`` is not used."""
        given = hallucinated(request, "ucb_pe")
        beta = beta_at(self.beta, len(request.data.y) + 1, request.region)
        where: Relevance | None = None
        choices: list[Choice] = []
        avoid = request.avoid
        for trial in request.ids:
            if not len(given.X):
                choices.append(by_ucb(request, trial, given, beta, avoid))
            else:
                where = relevance(request, beta) if where is None else where
                choices.append(by_exploration(request, trial, given, where, beta, avoid))
            given, avoid = given.conditioned(choices[-1].x[None, :]), taken(avoid, choices[-1].x, request)
        return Chosen(tuple(choices))
