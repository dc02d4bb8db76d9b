"""Thompson sampling: for each point of the batch a function is drawn from the model and minimized.

No lies are needed to keep points apart, because each point minimizes its own draw of the objective ([Kandasamy2018]).
Draws differ where the model is uncertain and agree where it is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from believer.acquisitions.scalarization import random_weights
from believer.arrays import Array, whole
from believer.batch.best_so_far import best_places
from believer.batch.capability import require
from believer.batch.picking import Picked, pick, taken
from believer.batch.random import draw
from believer.batch.request import SEVERAL, Choice, Chosen, Request
from believer.batch.worth import STEEP, DrawnExcess, LimitPenalized
from believer.capabilities import has
from believer.maximize import Objective
from believer.maximize.objective import Search, first_distinct
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Paths, Pathwise, Sampling

MAX_CANDIDATES = 4000
"""The largest number of candidates: values are drawn jointly, with covariances (candidates, candidates)."""

_NEIGHBORS = 40
_WIDTHS = (0.2, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class Thompson:
    """Choose for each trial the minimum of its own posterior sample ([Kandasamy2018]).

    If the model can draw whole functions (``paths``), the function is minimized with gradients. If it can only draw
    values (``sample``), they are drawn jointly at ``candidates`` space-filling points and some neighbors of the best
    results, and the point with the smallest value is chosen.

    The acquisition function of the study is ignored. Pending points are not suggested again, but have no other effect.
    If several draws have the same minimum, as they do when the model is certain, the first trial gets it and the others
    get the best points that are left; the provenance says so. The draw of a trial depends only on its id and on the
    results, so asking q times for one point equals asking for q points, bit for bit.

    With several outcomes, a function is drawn for each of them. Limits must hold for the drawn functions, and several
    objectives are scalarized by the largest weighted one, with random weights ([Paria2020]).

    Parameters
    ----------
    candidates : the number of space-filling points. Whole functions are minimized by the study's maximizer.
    """

    candidates: int = 256
    takes: ClassVar[str] = SEVERAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", whole(self.candidates, "candidates", 1, MAX_CANDIDATES))

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose a point for each trial of ``request`` by a draw from the trial's own randomness; ``memory`` is
        ignored."""
        model = request.model
        if len(request.outputs) > 1:
            for learned in request.outputs:
                require(learned.model, Pathwise, "thompson, of several outcomes,")
        if not has(model, Sampling):
            require(model, Pathwise, "thompson", "One that draws values (sample), as MQRBF's does, will do as well.")
        near_best, avoid, choices = best_places(request), request.avoid, []
        for trial in request.ids:
            search = Search(request.region, near_best, avoid)
            if has(model, Pathwise):
                choice = _by_function(request, trial, search)
            else:
                choice = self._by_values(cast(Sampling, model), request, trial, search)
            choices.append(choice)
            avoid = taken(avoid, choice.x, request)
        return Chosen(tuple(choices))

    def _by_values(self, model: Sampling, request: Request, trial: int, search: Search) -> Choice:
        """The point with the least value, drawn jointly at candidates or at all points of a small finite region.
        O(m³)."""
        size = request.region.size
        if size is not None and size <= self.candidates:
            X = request.region.points()
        else:
            X = search.candidates(self.candidates, _NEIGHBORS, _WIDTHS, request.randomness(trial, "maximize"))
        values = -model.sample(X, 1, request.randomness(trial, "path"))[0] if len(X) else np.zeros(0)
        found = first_distinct(X, values, search)
        if found is not None:
            picked = Picked(found.x, found.passed_over, False)
        else:
            picked = Picked(draw(request.region, search.avoid, request.randomness(trial, "random"))[0], len(X), True)
        return picked.choice("Thompson", f" of {len(X)} values drawn from the model")


def _by_function(request: Request, trial: int, search: Search) -> Choice:
    """The minimum of a function that was drawn whole; with several outputs, of the objective that their functions
    make."""
    one = len(request.outputs) == 1
    what = " of a function drawn from the model" if one else " of functions drawn from the models"
    picked = pick(_world(request, trial), request, trial, search.near_best, search.avoid, is_scaled=True)
    return picked.choice("Thompson", what)


def _world(request: Request, trial: int) -> Objective:
    """The objective in one draw from the posterior: a sampled function for each output."""
    depths, excesses = [], []
    for place, learned in enumerate(request.outputs):
        path = cast(Pathwise, learned.model).paths(1, request.stream(trial, "path", place))
        shift, scale = standardization(learned.data.y)
        if learned.limits is None:
            # The weights are for the distance of each objective from its best value.
            depths.append(Depth(path, float(learned.data.y.min()) if request.objectives > 1 else shift, scale))
        else:
            excesses.append(DrawnExcess(path, learned.limits, scale))
    worth: Objective = depths[0]
    if len(depths) > 1:
        worth = Least(tuple(depths), random_weights(len(depths), request.randomness(trial, "weights")))
    return LimitPenalized(worth, tuple(excesses), STEEP) if excesses else worth


@dataclass(frozen=True, slots=True, eq=False)
class Least:
    """The least of several weighted depths: the objective that is worst decides."""

    depths: tuple[Depth, ...]
    weights: Array
    has_gradient: ClassVar[bool] = True

    def value(self, X: Array) -> Array:
        """min_j w_j depth_j (m,) at ``X`` (m, d)."""
        least: Array = np.min([w * depth.value(X) for w, depth in zip(self.weights, self.depths, strict=True)], axis=0)
        return least

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its derivatives (m, d), which are those of the least depth."""
        parts = [depth.value_with_gradient(X) for depth in self.depths]
        values = np.stack([w * value for w, (value, _) in zip(self.weights, parts, strict=True)])
        slopes = np.stack([w * slope for w, (_, slope) in zip(self.weights, parts, strict=True)])
        behind, rows = values.argmin(axis=0), np.arange(len(X))
        return values[behind, rows], slopes[behind, rows]


@dataclass(frozen=True, slots=True, eq=False)
class Depth:
    """The depth of one sampled function below the mean of the results, in their standard deviations.

    A maximizer's tolerances are for values of about one; in the units of y they would be too fine or too coarse.
    """

    path: Paths
    shift: float
    scale: float
    has_gradient: ClassVar[bool] = True

    def value(self, X: Array) -> Array:
        """(shift - f) / scale (m,) at ``X`` (m, d)."""
        depth: Array = (self.shift - self.path.value(X)[0]) / self.scale
        return depth

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its derivatives by x, (m, d)."""
        values, slopes = self.path.value_with_gradient(X)
        return (self.shift - values[0]) / self.scale, slopes[0] / -self.scale
