"""The worth of a point to a batch: one place for every strategy and every kind of study.

======  ===================================================================================================
symbol  meaning
======  ===================================================================================================
P_j     probability that output j is within its limits
f⁺      with one objective: the least value at a feasible point, by results and lies
F       with several: the values of feasible points that no other feasible point beats in all objectives
r       the reference point: hypervolumes are measured from there
v       the value of an output: a posterior sample, or the confidence bound μ ± √β σ nearest to its limits
e       how far v lies beyond its limits, in standard deviations of its results; at most 0 within
======  ===================================================================================================

Limits are those of outcome constraints. :func:`worth` is for strategies that use the probability of feasibility. For
one objective without limits, the worth of a point is the acquisition function itself. With limits it is
log EI(f⁺) + Σ_j log P_j, and for several objectives log EHVI(F, r) + Σ_j log P_j. As long as no feasible point is
known, it is Σ_j log P_j alone. The logarithm is taken only if something is multiplied.

:func:`bounded` is for strategies that use no probability of feasibility: values outside the limits are penalized in
proportion to their distance, so that the gradient leads back. Inside the limits nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, cast

import numpy as np

from believer.acquisitions import View, completed, objective_on
from believer.acquisitions.acquisition import Acquisition, ByPredictions, PerPoint, Several
from believer.acquisitions.feasibility import FAR, Feasible, Limits
from believer.acquisitions.hypervolume import inferred_reference
from believer.arrays import Array
from believer.batch.best_so_far import BestSoFar
from believer.batch.request import Request
from believer.capabilities import has
from believer.errors import MissingCapability
from believer.maximize import Objective
from believer.maximize.objective import ENUMERATE_UP_TO, Known
from believer.space.region import Region
from believer.surrogates.data import Data
from believer.surrogates.gp import standardization
from believer.surrogates.pool import Pool
from believer.surrogates.protocols import Differentiable, Model, Paths

STEEP = 100.0
"""The penalty of a standard deviation beyond a limit, in standard deviations of the objective."""


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """The objective that a maximizer maximizes, with its name.

    Attributes
    ----------
    objective : the objective, which is maximized.
    name : the name in the provenance.
    is_scaled : True if the objective is a logarithm, or in standard deviations of the results. False if it is the
        acquisition function as it is, in whatever units that has. The user's beliefs about the optimum (``likely``) are
        added to a scaled objective as they are, and to any other in standard deviations of the results.
    """

    objective: Objective
    name: str
    is_scaled: bool = True

    def known(self, pools: tuple[Pool | None, ...], region: Region) -> Known | None:
        """Candidates with their values.

        This is None if the objective is not a function of the models' predictions; the maximizer then draws its own
        candidates.

        Parameters
        ----------
        pools : the predictions of the request's models at the same candidates; None for those without candidates.
        region : the region of the candidates.
        """
        objective = self.objective
        kept = {id(pool.model): pool for pool in pools if pool is not None}
        if not kept or not has(objective, ByPredictions):
            return None
        models = objective.models
        at = tuple([kept[id(model)].predict() for model in models if id(model) in kept])
        if not at or len(at) < len(models):
            return None
        whole = region.size is not None and region.size <= ENUMERATE_UP_TO
        return Known(next(iter(kept.values())).points, objective.of(at), whole)


def worth(
    request: Request,
    models: tuple[Model, ...],
    here: BestSoFar,
    trial: int,
    *,
    incumbent: float | None,
    lies: Data | None = None,
) -> Worth:
    """The value of a point to a search for the next one, under ``models``.

    Parameters
    ----------
    request : the request to the strategy.
    models : one for each output of the request, conditioned on results and lies.
    here : the incumbent, the Pareto front and the feasible points.
    trial : the id of the trial that gets the point; its random stream is used.
    incumbent : f⁺; None if nothing feasible is known.
    lies : the lies about the first objective, for acquisition functions that use them.
    """
    acquisition, name = request.acquisition, type(request.acquisition).__name__
    pairs = [*zip(request.outputs, models, strict=True)]
    limits = tuple((model, one.limits) for one, model in pairs if one.limits is not None)
    if limits and not here.any_feasible:
        return Worth(Feasible(None, limits), "feasibility")
    if has(acquisition, Several):
        aims = tuple(model for one, model in pairs if one.output.limits is None)
        reference = _reference(request, here) if request.reference is None else _near(request.reference, request)
        own = acquisition.of_several(aims, here.Y[here.front()], reference, request.randomness(trial, "weights"))
        is_scaled = True
    else:
        assert incumbent is not None
        one, is_scaled = in_logarithms(acquisition) if limits or request.likely is not None else (acquisition, False)
        own = objective_on(one, View(models[0], incumbent, request.data, lies))
    # The user's belief about the optimum, ``likely``, is multiplied in when the point is picked; here it is only named.
    name += "" if request.likely is None else " times what is likely"
    return Worth(Feasible(own, limits), f"{name} times feasibility") if limits else Worth(own, name, is_scaled)


def in_logarithms(acquisition: Acquisition) -> tuple[Acquisition, bool]:
    """The logarithm of an acquisition function, and True; or the function itself, and False if no log is known."""
    log = completed(acquisition).log() if has(acquisition, PerPoint) else None
    return (acquisition, False) if log is None else (log, True)


def _reference(request: Request, here: BestSoFar) -> Array:
    """r (k,), inferred; from the results of each objective separately if no point has every objective."""
    if len(here.ids):
        return here.reference()
    values = [one.data.Y for one in request.outputs if one.output.limits is None]
    return np.concatenate([inferred_reference(Y.min(axis=0, keepdims=True), Y) for Y in values])


def _near(reference: Array, request: Request) -> Array:
    """The reference point (k,), moved to within ``FAR`` standard deviations of the results in every objective.

    Hypervolumes from a point that is farther away could overflow. They are only compared with each other, and moving
    a point that is so far away hardly changes the comparison.
    """
    found = [standardization(one.data.y) for one in request.outputs if one.output.limits is None]
    shifts, scales = (np.array(part) for part in zip(*found, strict=True))
    near: Array = np.clip(reference, shifts - FAR * scales, shifts + FAR * scales)
    return near


def refuse_acquisition(request: Request) -> None:
    """Raise MissingCapability if the acquisition function cannot be used for the outputs of the request."""
    acquisition, name = request.acquisition, type(request.acquisition).__name__
    several = has(acquisition, Several)
    if request.objectives > 1:
        if not several:
            raise MissingCapability(f"several objectives need the acquisition function EHVI or Scalarized; got {name}.")
        return
    if several:
        raise MissingCapability(f"{name} is for several objectives. For one objective use LogEI, EI, PI or UCB.")
    if request.limited and completed(acquisition).log() is None:
        raise MissingCapability(
            f"limits need an acquisition function whose logarithm is known: LogEI, EI or PI; got {name}."
        )


def bounded(request: Request, objective: Objective, root: float) -> Objective:
    """An objective that is penalized outside the limits; the same object if the request has no limits.

    Parameters
    ----------
    request : the request to the strategy.
    objective : the worth of a point without regard to limits.
    root : √β: a limit counts as kept if the nearest bound, μ ± √β σ, is within it.
    """
    excesses = tuple(
        BoundExcess(one.model, one.limits, standardization(one.data.y)[1], root)
        for one in request.limited
        if one.limits is not None
    )
    return LimitPenalized(objective, excesses, STEEP * standardization(request.data.y)[1]) if excesses else objective


class Excess(Protocol):
    """e of an output."""

    @property
    def has_gradient(self) -> bool:
        """Whether :meth:`value_with_gradient` works."""

    def value(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """e (m,) and its derivatives (m, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class LimitPenalized:
    """An objective minus ``steep`` times the distance of its point's outputs beyond their limits."""

    objective: Objective
    excesses: tuple[Excess, ...]
    steep: float

    @property
    def has_gradient(self) -> bool:
        """Whether all parts have one."""
        return self.objective.has_gradient and all(excess.has_gradient for excess in self.excesses)

    def value(self, X: Array) -> Array:
        """The difference (m,) at ``X`` (m, d)."""
        total = self.objective.value(X)
        for excess in self.excesses:
            total = total - self.steep * np.maximum(excess.value(X), 0.0)
        return total

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The difference (m,) and its derivatives (m, d), one-sided at the limits."""
        total, slope = self.objective.value_with_gradient(X)
        for excess in self.excesses:
            e, by_x = excess.value_with_gradient(X)
            total = total - self.steep * np.maximum(e, 0.0)
            slope = slope - self.steep * np.where((e > 0.0)[:, None], by_x, 0.0)
        return total, slope


@dataclass(frozen=True, slots=True, eq=False)
class DrawnExcess:
    """e of a posterior sample of an output; ``scale`` is the standard deviation of its results."""

    path: Paths
    limits: Limits
    scale: float
    has_gradient: ClassVar[bool] = True

    def value(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""
        v = self.path.value(X)[0]
        excess: Array = np.maximum(v - self.limits.high, self.limits.low - v) / self.scale
        return excess

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """e (m,) and its derivatives (m, d)."""
        values, slopes = self.path.value_with_gradient(X)
        over, under = values[0] - self.limits.high, self.limits.low - values[0]
        side = np.where(over >= under, 1.0, -1.0)[:, None]
        return np.maximum(over, under) / self.scale, side * slopes[0] / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class BoundExcess:
    """e of the confidence bound that is nearest to the limits: ``root`` standard deviations from the posterior mean."""

    model: Model
    limits: Limits
    scale: float
    root: float

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives gradients."""
        return has(self.model, Differentiable)

    def value(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""
        at = self.model.predict(X)
        return (np.maximum(at.mean - self.limits.high, self.limits.low - at.mean) - self.root * at.std) / self.scale

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """e (m,) and its derivatives (m, d)."""
        at = cast(Differentiable, self.model).predict_with_gradient(X)
        over, under = at.mean - self.limits.high, self.limits.low - at.mean
        side = np.where(over >= under, 1.0, -1.0)[:, None]
        slope = side * at.mean_gradient - self.root * at.std_gradient
        return (np.maximum(over, under) - self.root * at.std) / self.scale, slope / self.scale
