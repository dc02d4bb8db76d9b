"""The belief about each output while points are pending: models, conditioned on lies.

A picked point gets a lie in every output at once, so that all models describe the same assumed result. If some outputs
of a pending point are known, only the others get a lie. The rule of the user applies to objectives. A limited outcome
never gets a constant lie, because that says nothing about feasibility; it gets the posterior mean, or a posterior
sample if the rule is Fantasy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from believer.acquisitions import View
from believer.arrays import Array, read_only
from believer.batch.best_so_far import BestSoFar, best_among
from believer.batch.hedge import plausible
from believer.batch.learned import Follower, Part
from believer.batch.lies import Believe, Fantasy, Lie, draws, lie_about
from believer.batch.picking import best_rows, deserves_candidates, drawn, drawn_near, is_long
from believer.batch.request import Request
from believer.batch.worth import Worth, worth
from believer.capabilities import has
from believer.errors import MissingCapability
from believer.maximize import Objective
from believer.space.region import Region
from believer.surrogates.data import Data, joined
from believer.surrogates.protocols import Conditionable, Model

if TYPE_CHECKING:
    from believer.batch.pseudo import PseudoObservations

CONDITIONED = ("auto", "condition")
"""Updates by which a lie reaches a model that can be conditioned in closed form."""

PLAUSIBLE, SHORTEST = "plausible", "shortest"
"""The names of the followers with shorter lengthscales. PLAUSIBLE: the shortest that the results still allow, at least
half as long as the fitted ones. SHORTEST: the fitted lengthscales, halved, whatever the likelihood."""

_UNUSED = np.random.default_rng(0)
"""A generator for lies that draw nothing: making one takes longer than such a lie."""


@dataclass(frozen=True, slots=True, eq=False)
class WantedCandidates:
    """Candidates that are to be drawn: near good ``places`` after every few lies, and near the point ``x`` of a trial
    if it is one of them.

    ``states``: for each output, the number of lies when they were asked for, and the model of that time (None if it can
    be computed again by conditioning).
    """

    trial: int
    x: Array
    places: Array
    states: tuple[tuple[int, Model | None], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The models of a request, together with the lies on which they are conditioned.

    Attributes
    ----------
    strategy : the strategy, which has the rule for the lies and the kind of update.
    parts : the belief about each output of the request, in its order.
    region : the region that was searched.
    wanted : further candidates, which are drawn before the next point is chosen.
    left_out : if the space is a long list, only its best points became candidates; this is the largest acquisition
        value, before any lie, among the other points, and minus infinity if there are none. None for any other space.
    """

    strategy: PseudoObservations
    parts: tuple[Part, ...]
    region: Region
    wanted: tuple[WantedCandidates, ...] = ()
    left_out: float | None = None
    _best_so_far: BestSoFar | None = field(init=False, repr=False, default=None)
    """Computed when it is first needed. A copy by ``replace`` begins without it, because its lies may be others."""

    @staticmethod
    def of(strategy: PseudoObservations, request: Request) -> Belief:
        """The models of a ``request``, before the first lie of a ``strategy``."""
        return Belief(strategy, tuple([Part.of(learned) for learned in request.outputs]), request.region)

    def with_candidates(self, request: Request) -> Belief:
        """The belief before the first lie, with one candidate set for all points.

        Returns self unchanged if each point draws its own candidates.
        """
        here, left_out = self.best_so_far(request), None
        # A list has one decision, which is its row. A region with several is none, even if it lists its points.
        if len(request.region.decisions) == 1 and is_long(request.region):
            best = best_rows(request, self.worth(request, here, 0).objective)
            X, left_out = (None, None) if best is None else best
        else:
            X = drawn(request, here.places())
        if X is None:
            return self
        kept = replace(self, parts=tuple([Part.of(learned, X) for learned in request.outputs]), left_out=left_out)
        object.__setattr__(kept, "_best_so_far", here)  # the copy has the same lies, which are none
        return kept

    @property
    def keeps_candidates(self) -> bool:
        """Whether all points share one set of candidates; otherwise each draws its own."""
        return self.parts[0].pool_before_lies is not None

    @property
    def models(self) -> tuple[Model, ...]:
        """The models of all outputs, conditioned on the lies."""
        return tuple([part.model for part in self.parts])

    @property
    def lies(self) -> Part:
        """The part with the most lies. Parts differ if some outputs of a pending point are already known."""
        return self.parts[0] if len(self.parts) == 1 else max(self.parts, key=lambda part: len(part.ids))

    @property
    def model(self) -> Model:
        """The model of the first objective, conditioned on the lies."""
        return self.parts[0].model

    def view(self, request: Request) -> View:
        """D' and f⁺ of the first objective: what an acquisition function may use."""
        best, first = self.incumbent(self.best_so_far(request)), self.parts[0]
        assert best is not None
        return View(first.model, best, request.data, Data(first.X, first.y))

    def objective(self, request: Request, trial: int = 0) -> Objective:
        """α(· | D'): the objective that the point of ``trial`` in a ``request`` maximizes."""
        return self.worth(request, self.best_so_far(request), trial).objective

    def best_so_far(self, request: Request) -> BestSoFar:
        """The incumbent, the Pareto front and the feasible points, from results and lies."""
        if self._best_so_far is None:
            object.__setattr__(self, "_best_so_far", best_among(self.parts, request.surrogate))
        assert self._best_so_far is not None
        return self._best_so_far

    def incumbent(self, here: BestSoFar) -> float | None:
        """f⁺ by the strategy's ``incumbent`` rule; None if nothing feasible is known."""
        return here.incumbent_of_data if self.strategy.incumbent == "data" else here.incumbent

    def worth(
        self,
        request: Request,
        here: BestSoFar,
        trial: int,
        models: tuple[Model, ...] | None = None,
        margin: float = 0.0,
    ) -> Worth:
        """α(· | D'): the objective that the point of a trial maximizes, with its name.

        Parameters
        ----------
        request : the request to the strategy.
        here : the incumbent, the Pareto front and the feasible points.
        trial : the id of the trial that gets the point.
        models : one model for each output, in place of the belief's own.
        margin : the least improvement on f⁺ that counts.
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

    def with_lies(self, request: Request) -> Belief:
        """The belief with lies at all pending points, in each output whose result is not known yet."""
        without_lie = [
            dict(zip(learned.pending.ids[len(part.ids) :], learned.pending.X[len(part.ids) :], strict=True))
            for part, learned in zip(self.parts, request.outputs, strict=True)
        ]
        if not any(without_lie):
            return self
        if not self.keeps_candidates:
            parts = list(self.parts)
            for place, points in enumerate(without_lie):
                for trial, x in points.items():
                    parts[place] = self._lied(parts[place], request, place, trial, x)
            return replace(self, parts=tuple(parts))
        belief = self
        for trial in sorted(set[int]().union(*without_lie)):
            x = next(points[trial] for points in without_lie if trial in points)
            belief = belief._with(request, trial, x, [trial in points for points in without_lie])
        return belief

    def with_lie(self, request: Request, trial: int, x: Array) -> Belief:
        """[paper] Algorithm 1, lines 6-7 and 3, for every output of a ``request``: add a lie at ``x`` (d,), the point
        of a ``trial``, and update the models."""
        return self._with(request, trial, x, [True] * len(self.parts))

    def _with(self, request: Request, trial: int, x: Array, lacking: list[bool]) -> Belief:
        """The belief with a lie at ``x`` in each output that lacks its result. It may ask for further candidates."""
        parts = [
            self._lied(part, request, place, trial, x) if lacking[place] else part
            for place, part in enumerate(self.parts)
        ]
        updated_belief = replace(self, parts=tuple(parts))
        if not updated_belief.keeps_candidates:
            return updated_belief
        places = updated_belief.best_so_far(request).places()
        if not deserves_candidates(request, x, len(updated_belief.lies.ids), places):
            return updated_belief
        # A conditioned model is not kept, because it can be computed again from the lies: hundreds would be large.
        by_conditioning = self.strategy.update in CONDITIONED
        states = [
            (len(part.ids), None if by_conditioning and has(part.model, Conditionable) else part.model)
            for part in updated_belief.parts
        ]
        wanted = WantedCandidates(trial, x, places, tuple(states))
        return replace(updated_belief, wanted=(*updated_belief.wanted, wanted))

    def _with_wanted_candidates(self, request: Request) -> Belief:
        """The belief with the candidates that its lies asked for, which are drawn only when another point is to be
        chosen."""
        parts = list(self.parts)
        for one in self.wanted:
            near = drawn_near(request, one.trial, one.x, max(lies for lies, _ in one.states), one.places)
            if len(near):
                pairs = zip(parts, one.states, strict=True)
                parts = [replace(p, added=(*p.added, (lies, near, model))) for p, (lies, model) in pairs]
        return replace(self, parts=tuple(parts), wanted=())

    def _lied(self, part: Part, request: Request, place: int, trial: int, x: Array) -> Part:
        learned, rule = part.learned, self._rule(part)
        rng = request.stream(trial, "lie", place) if draws(rule) else _UNUSED
        lie = lie_about(rule, part.model, x, learned.data, learned.warp, learned.output.sign, rng)
        X, y = read_only(np.concatenate([part.X, x[None, :]])), read_only(np.concatenate([part.y, (lie,)]))
        model = updated(part.model, self.strategy.update, request, place, trial, X, y)
        return Part(learned, model, (*part.ids, trial), X, y, part.pool_before_lies, part.added, part.followers)

    def _rule(self, part: Part) -> Lie:
        """The rule for an output's lies: an output with limits never gets a constant."""
        own = self.strategy.lie
        return own if part.learned.output.limits is None or isinstance(own, Fantasy) else Believe()

    def following(self, request: Request, name: str) -> tuple[Belief, tuple[Follower, ...]]:
        """Return this belief with one follower for each output, and the followers.

        A follower is a copy of an output's model under other lengthscales (the same ones for :data:`OWN`), conditioned
        on the same lies as the model.

        Parameters
        ----------
        request : the request to the strategy.
        name : :data:`OWN`, :data:`PLAUSIBLE` or :data:`SHORTEST`.
        """
        # For SHORTEST, any evidence against the lengthscales is allowed. OWN is among the followers from the start.
        nats, parts, followers = self.strategy.hedge if name == PLAUSIBLE else math.inf, list[Part](), list[Follower]()
        here = self._with_wanted_candidates(request) if self.wanted else self
        for part in here.parts:
            if name not in part.followers:
                part = part.following(name, *plausible(part.learned, request.region, nats))
            part, follower = part.caught_up(name)
            parts.append(part)
            followers.append(follower)
        return replace(here, parts=tuple(parts)), tuple(followers)

    def is_about(self, request: Request, strategy: PseudoObservations) -> bool:
        """Whether this belief is of ``strategy``, has the models of ``request``, and its lies are at the first k
        pending points of each output, in their order, for some k."""
        return (
            self.strategy == strategy
            and self.region is request.region
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
    request : the request to the strategy.
    """
    from believer.batch.pseudo import PseudoObservations  # imports this module

    return PseudoObservations().begin(request).with_lies(request)


def updated(model: Model, update: str, request: Request, place: int, trial: int, X: Array, y: Array) -> Model:
    """Update ``model``, which has all of the lies ``X`` (p, d), ``y`` (p,) except the last, with the last lie.

    place: the position of the model's output in the request. trial: the id of the trial of the last lie; a refit uses
    its random stream.
    """
    if has(model, Conditionable) and update in CONDITIONED:
        return model.condition(Data(X[-1:], y[-1:]))
    if update == "condition":
        raise MissingCapability(
            f'{type(model).__name__} cannot be conditioned; use update="refit", or a surrogate that can (GP).'
        )
    if update == "none":
        return model
    own = request.outputs[place]
    data = [own.data] if own.failed is None else [own.data, own.failed]
    return request.surrogate.fit(joined(*data, Data(X, y)), request.stream(trial, "refit", place), model)
