"""The belief about each output while points are pending: models, conditioned on lies.

A point that was picked is lied about in all outputs at once, so that they stay consistent: what a batch counts on is
one world. Where some outputs of a pending point are known already, only the others are lied about. Lies are about
objectives: a constant one would say nothing of limits, and these are believed, or fantasized.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from believer.acquisitions import View
from believer.arrays import Array, read_only
from believer.batch.hedge import plausible
from believer.batch.learned import Part, conditioned
from believer.batch.lies import Believe, Fantasy, Lie, lie_about
from believer.batch.request import Request
from believer.batch.standing import Standing, stand
from believer.batch.worth import Worth, worth
from believer.capabilities import able
from believer.errors import MissingCapability
from believer.maximize import Objective
from believer.surrogates.data import Data, joined
from believer.surrogates.protocols import Conditionable, Model

if TYPE_CHECKING:
    from believer.batch.pseudo import PseudoObservations

CONDITIONED = ("auto", "condition")
"""Updates by which a lie reaches a model that can be conditioned in closed form."""

PLAUSIBLE, SHORTEST = "plausible", "shortest"
"""The hedges of a belief: lengthscales that the results allow, and half of the model's whatever they say."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The models of a request, together with the lies on which they are conditioned.

    Attributes
    ----------
    strategy : the strategy, which has the rule of the lies and the kind of update.
    parts : of each output of the request, in its order.
    """

    strategy: PseudoObservations
    parts: tuple[Part, ...]

    @property
    def models(self) -> tuple[Model, ...]:
        """Of all outputs, with lies."""
        return tuple([part.model for part in self.parts])

    @property
    def lies(self) -> Part:
        """The part with the most lies: pending points that are known in some outputs are missing in others."""
        return self.parts[0] if len(self.parts) == 1 else max(self.parts, key=lambda part: len(part.ids))

    @property
    def model(self) -> Model:
        """Of the first objective, with lies."""
        return self.parts[0].model

    def view(self, request: Request) -> View:
        """D' and f⁺ of the first objective: what an acquisition looks at."""
        best, first = self.incumbent(self.standing(request)), self.parts[0]
        assert best is not None
        return View(first.model, best, request.data, Data(first.X, first.y))

    def objective(self, request: Request, trial: int = 0) -> Objective:
        """α(· | D'): what the point of ``trial`` in a ``request`` maximizes."""
        return self.worth(request, self.standing(request), trial).objective

    def standing(self, request: Request) -> Standing:
        """Where things stand, given what is real and what is believed."""
        return stand(self.parts, request.surrogate)

    def incumbent(self, here: Standing) -> float | None:
        """f⁺, as the strategy reads it; None if nothing feasible is known."""
        return here.incumbent_of_data if self.strategy.incumbent == "data" else here.incumbent

    def worth(
        self,
        request: Request,
        here: Standing,
        trial: int,
        models: tuple[Model, ...] | None = None,
        margin: float = 0.0,
    ) -> Worth:
        """α(· | D'): what the point of a trial maximizes.

        Parameters
        ----------
        request : what the strategy was asked.
        here : where the study stands.
        trial : that gets the point.
        models : one for each output, in place of its own.
        margin : by how much f⁺ is to be improved at least.
        """
        best, first = self.incumbent(here), self.parts[0]
        return worth(
            request,
            self.models if models is None else models,
            here,
            trial,
            incumbent=None if best is None else best - margin,
            lies=Data(first.X, first.y),
        )

    def with_pending(self, request: Request) -> Belief:
        """With lies about all pending points of each output that it does not know yet."""
        parts = []
        for place, part in enumerate(self.parts):
            pending, known = request.outputs[place].pending, len(part.ids)
            for trial, x in zip(pending.ids[known:], pending.X[known:], strict=True):
                part = self._lied(part, request, place, trial, x)
            parts.append(part)
        return replace(self, parts=tuple(parts))

    def with_lie(self, request: Request, trial: int, x: Array) -> Belief:
        """[paper] Algorithm 1, lines 6-7 and 3, for every output: lie about a point and update the models.

        Parameters
        ----------
        request : what the strategy was asked.
        trial : that got the point.
        x : the point, (d,).
        """
        parts = [self._lied(part, request, place, trial, x) for place, part in enumerate(self.parts)]
        return replace(self, parts=tuple(parts))

    def _lied(self, part: Part, request: Request, place: int, trial: int, x: Array) -> Part:
        learned, rng = part.learned, request.stream(trial, "lie", place)
        lie = lie_about(self._lie(part), part.model, x, learned.data, learned.warp, learned.output.sign, rng)
        X, y = read_only(np.vstack([part.X, x])), read_only(np.append(part.y, lie))
        model = updated(part.model, self.strategy.update, request, place, trial, X, y)
        new = Data(X[-1:], y[-1:])
        hedges = tuple([(name, factor, conditioned(hedge, new)) for name, factor, hedge in part.hedges])
        return replace(part, model=model, ids=(*part.ids, trial), X=X, y=y, hedges=hedges)

    def _lie(self, part: Part) -> Lie:
        """What is said of an output: limits never get a constant lie."""
        own = self.strategy.lie
        return own if part.learned.output.limits is None or isinstance(own, Fantasy) else Believe()

    def hedged(self, request: Request, name: str) -> tuple[Belief, tuple[Model, ...], float]:
        """With hedges of that name; their models, and the least factor of their lengthscales.

        Parameters
        ----------
        request : what the strategy was asked.
        name : :data:`PLAUSIBLE` or :data:`SHORTEST`.
        """
        moves, nats = request.region.metric, self.strategy.hedge if name == PLAUSIBLE else math.inf
        parts = []
        for part in self.parts:
            if part.hedged_along(moves) and any(known == name for known, _, _ in part.hedges):
                parts.append(part)
            else:
                parts.append(part.with_hedge(name, *plausible(part.learned, request.region, nats), moves))
        found = [part.hedge(name) for part in parts]
        return replace(self, parts=tuple(parts)), tuple([m for _, m in found]), min([factor for factor, _ in found])

    def is_about(self, request: Request, strategy: PseudoObservations) -> bool:
        """Whether it is of this ``strategy``, about the models of ``request``, and about its first pending points."""
        return (
            self.strategy == strategy
            and len(self.parts) == len(request.outputs)
            and all(
                part.learned.model is now.model
                and part.ids == now.pending.ids[: len(part.ids)]
                and np.array_equal(part.X, now.pending.X[: len(part.ids)])
                for part, now in zip(self.parts, request.outputs, strict=True)
            )
        )


def believed(request: Request) -> Belief:
    """The models of a request, conditioned on their own means at the pending points of each output: Kriging Believer.

    Parameters
    ----------
    request : what the strategy was asked.
    """
    from believer.batch.pseudo import PseudoObservations  # it is made of beliefs

    return PseudoObservations().begin(request).with_pending(request)


def updated(model: Model, update: str, request: Request, place: int, trial: int, X: Array, y: Array) -> Model:
    """``model``, which knows all but the last of the lies ``X`` (p, d), ``y`` (p,), with that one as well.

    place: of its output. trial: to which the last lie belongs; a refit draws from its randomness.
    """
    if able(model, Conditionable) and update in CONDITIONED:
        return model.condition(Data(X[-1:], y[-1:]))
    if update == "condition":
        raise MissingCapability(
            f'{type(model).__name__} cannot be conditioned; use update="refit", or a surrogate that can (GP).'
        )
    if update == "none":
        return model
    own = request.outputs[place]
    known = [own.data] if own.failed is None else [own.data, own.failed]
    return request.surrogate.fit(joined(*known, Data(X, y)), request.stream(trial, "refit", place), model)
