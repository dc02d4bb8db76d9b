"""The naive batch: the q best points of one acquisition."""

from __future__ import annotations

from dataclasses import dataclass

from believer.acquisitions import View, objective_on
from believer.batch.incumbent import real_incumbent
from believer.batch.picking import best_places, pick, taken
from believer.batch.request import Chosen, Request


@dataclass(frozen=True, slots=True)
class TopQ:
    """Maximizers of one acquisition on the model of real data, which is never told of the points chosen before.

    A baseline: nothing but the rule of distinct points (1e-6 of the encoded cube) keeps the points apart, and they come
    out nearly identical ([paper] section 1). Of pending points it knows only that they are taken. Every trial has its
    own randomness, so that asking for q points at once or one by one is the same computation.
    """

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """The best point that is not taken yet, for each trial of ``request``; ``memory`` plays no part."""
        view = View(request.model, real_incumbent(request), request.data)
        objective = objective_on(request.acquisition, view)
        around, avoid = best_places(request), request.avoid
        choices = []
        for trial in request.ids:
            picked = pick(objective, request, trial, around, avoid)
            choices.append(picked.choice(type(request.acquisition).__name__))
            avoid = taken(avoid, picked.x, request)
        return Chosen(tuple(choices))
