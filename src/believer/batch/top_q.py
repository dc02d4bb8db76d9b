"""The naive batch: the q best points of one acquisition function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from believer.batch.best_so_far import best_so_far
from believer.batch.picking import pick, taken
from believer.batch.request import SEVERAL, Chosen, Request
from believer.batch.worth import refuse_acquisition, worth


@dataclass(frozen=True, slots=True)
class TopQ:
    """Maximizers of one acquisition function given real results, without regard to the points chosen before.

    This is a baseline: only the rule of distinct points (1e-6 of the encoded cube) keeps the points apart, and they are
    nearly identical ([paper] section 1). Pending points are avoided and have no other effect. Every trial has its own
    randomness, so that asking for q points at once or one by one is the same computation.
    """

    takes: ClassVar[str] = SEVERAL

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose the best point that is not taken yet for each trial of ``request``; ``memory`` is ignored."""
        refuse_acquisition(request)
        here, models = best_so_far(request), tuple(learned.model for learned in request.outputs)
        near_best, avoid = request.region.project(here.places()), request.avoid
        choices = []
        for trial in request.ids:
            found = worth(request, models, here, trial, incumbent=here.incumbent)
            picked = pick(found.objective, request, trial, near_best, avoid, is_scaled=found.is_scaled)
            choices.append(picked.choice(found.name))
            avoid = taken(avoid, picked.x, request)
        return Chosen(tuple(choices))
