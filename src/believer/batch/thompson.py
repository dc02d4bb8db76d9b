"""Thompson sampling: a function drawn from the model for each point of the batch, and its minimum.

Workers need no lies to keep apart: each has its own idea of the objective, and goes where that is least
([Kandasamy2018]). Draws are diverse where the model is unsure and agree where it is sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from believer.arrays import Array, whole
from believer.batch.capability import require
from believer.batch.picking import Picked, best_places, pick, taken
from believer.batch.random import draw
from believer.batch.request import Choice, Chosen, Request
from believer.capabilities import able
from believer.maximize.objective import Search, first_distinct
from believer.maximize.screening import candidates
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Paths, Pathwise, Sampling

MOST_CANDIDATES = 4000
"""Their values are drawn jointly: covariances are (candidates, candidates)."""

_NEIGHBORS = 40
_WIDTHS = (0.2, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class Thompson:
    """Choose for each trial the minimum of a function drawn from the model, its own ([Kandasamy2018]).

    The function is drawn whole and searched with gradients, where the model can do that (``paths``). A model that can
    only draw values (``sample``) has them drawn jointly at ``candidates`` space-filling points and some neighbors of
    the best results, and the point of the least is taken.

    The acquisition of the study plays no part. Pending points change nothing but that they are not proposed again: a
    result that is not there yet says nothing about the objective. Where draws agree on a point, as they do when the
    model is sure, the first trial gets it and the next ones the best that is left; provenance says so. A trial's draw
    depends on its id and on the results alone, so q x ask(1) = ask(q), bit for bit.

    Parameters
    ----------
    candidates : how many such space-filling points; a search of whole functions has the study's maximizer.
    """

    candidates: int = 256

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", whole(self.candidates, "candidates", 1, MOST_CANDIDATES))

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """One draw for each trial of ``request``, from the trial's own randomness; ``memory`` plays no part."""
        model = request.model
        if not able(model, Sampling):
            require(model, Pathwise, "thompson", "One that draws values (sample), as MQRBF's does, will do as well.")
        around, avoid, choices = best_places(request), request.avoid, []
        for trial in request.ids:
            search = Search(request.region, around, avoid)
            if able(model, Pathwise):
                choice = _by_function(model, request, trial, search)
            else:
                choice = self._by_values(cast(Sampling, model), request, trial, search)
            choices.append(choice)
            avoid = taken(avoid, choice.x, request)
        return Chosen(tuple(choices))

    def _by_values(self, model: Sampling, request: Request, trial: int, search: Search) -> Choice:
        """The least of values drawn jointly at candidates, or at all points of a small finite region.  O(m³)."""
        size = request.region.size
        if size is not None and size <= self.candidates:
            X = request.region.enumerate()
        else:
            X = candidates(self.candidates, search, _NEIGHBORS, _WIDTHS, request.randomness(trial, "maximize"))
        values = -model.sample(X, 1, request.randomness(trial, "path"))[0] if len(X) else np.zeros(0)
        found = first_distinct(X, values, search)
        if found is not None:
            picked = Picked(found.x, found.passed_over, False)
        else:
            picked = Picked(draw(request.region, search.avoid, request.randomness(trial, "random"))[0], len(X), True)
        return picked.choice("Thompson", f" of {len(X)} values drawn from the model")


def _by_function(model: Pathwise, request: Request, trial: int, search: Search) -> Choice:
    """The minimum of a function drawn whole."""
    drawn = model.paths(1, request.randomness(trial, "path"))
    depth = Depth(drawn, *standardization(request.data.y))
    picked = pick(depth, request, trial, search.around, search.avoid)
    return picked.choice("Thompson", " of a function drawn from the model")


@dataclass(frozen=True, slots=True, eq=False)
class Depth:
    """How far a single drawn function lies below the results' mean, in their standard deviations.

    A maximizer's tolerances are for values of about one; in the units of y they would be too fine or too coarse.
    """

    path: Paths
    shift: float
    scale: float

    @property
    def has_gradient(self) -> bool:
        """Always."""
        return True

    def value(self, X: Array) -> Array:
        """(shift - f) / scale (m,) at ``X`` (m, d)."""
        depth: Array = (self.shift - self.path.value(X)[0]) / self.scale
        return depth

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its derivatives by x, (m, d)."""
        values, slopes = self.path.value_with_gradient(X)
        return (self.shift - values[0]) / self.scale, slopes[0] / -self.scale
