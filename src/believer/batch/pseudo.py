"""Sequential batch selection by pseudo-observations: [paper] Algorithm 1.

Pick a point, lie about it, update the model, pick the next. Points that are pending from earlier batches pass through
the same update before the first pick, so that asking for q points at once or one by one is the same computation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np

from believer.acquisitions import View, objective_on
from believer.arrays import Array, BoolArray, finite, frozen, read_only, shown
from believer.batch.hedge import (
    MOST_NATS,
    is_own,
    is_quiet,
    is_settled,
    plausible,
    resolution_of,
)
from believer.batch.incumbent import believed_incumbent, is_noisy, real_incumbent
from believer.batch.lies import Believe, Lie, lie_about
from believer.batch.picking import Picked, best_places, counted, pick, taken
from believer.batch.repeat import repeated_instead
from believer.batch.request import Choice, Chosen, Request
from believer.batch.update import updated
from believer.batch.verdict import nearness
from believer.errors import InvalidInput
from believer.maximize import Objective
from believer.surrogates.data import Data
from believer.surrogates.protocols import Conditionable, Model

if TYPE_CHECKING:
    from believer.batch.fantasies import Fantasized

UPDATES = ("auto", "condition", "refit", "none")
INCUMBENTS = ("believed", "data")

PLAUSIBLE, _SHORTEST = "plausible", "shortest"
"""The hedges of a belief: lengthscales that the results allow, and half of the model's whatever they say."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A model together with the lies that it was given: trial ``ids``, points (p, d) and values (p,), in that order.

    ``hedges``: models under shorter lengthscales that were given the same, by name, with the factor of each; None where
    there can be none. ``moves``: the columns (d,) in which their lengthscales are shorter.
    """

    strategy: PseudoObservations
    base: Model
    model: Model
    ids: tuple[int, ...]
    X: Array
    y: Array
    hedges: tuple[tuple[str, float, Model | None], ...] = ()
    moves: BoolArray | None = None

    def view(self, request: Request) -> View:
        """D' and f⁺: what the acquisition looks at."""
        if self.strategy.incumbent == "data":
            best = float(request.data.y.min())
        else:
            best = believed_incumbent(request, self.model, self.X, self.y)
        return View(self.model, best, request.data, Data(self.X, self.y))

    def objective(self, request: Request) -> Objective:
        """α(· | D'): what the next point maximizes."""
        return objective_on(request.acquisition, self.view(request))

    def with_lie(self, request: Request, trial: int, x: Array) -> Belief:
        """[paper] Algorithm 1, lines 6-7 and 3: lie about ``x`` (d,) and update the model."""
        strategy, rng = self.strategy, request.randomness(trial, "lie")
        lie = lie_about(strategy.lie, self.model, x, request.data, request.warp, request.sign, rng)
        X, y = read_only(np.vstack([self.X, x])), read_only(np.append(self.y, lie))
        model = updated(self.model, strategy.update, request, trial, X, y)
        told = Data(X[-1:], y[-1:])
        hedges = tuple((name, factor, _told(hedge, told)) for name, factor, hedge in self.hedges)
        return replace(self, model=model, ids=(*self.ids, trial), X=X, y=y, hedges=hedges)

    def with_hedge(self, request: Request, name: str) -> Belief:
        """With the hedge of that ``name``, "plausible" or "shortest"; those of an ask with other ``fixed`` are gone."""
        moves = request.region.metric
        hedges = self.hedges if self.moves is not None and np.array_equal(self.moves, moves) else ()
        if any(known == name for known, _, _ in hedges):
            return self
        factor, hedge = plausible(request, self.strategy.hedge if name == PLAUSIBLE else math.inf)
        new = (name, factor, _told(hedge, Data(self.X, self.y)))
        return replace(self, hedges=(*hedges, new), moves=moves)

    def hedge(self, name: str) -> tuple[float, Model]:
        """The factor of the hedge of that name, and its model; the model itself where there can be none."""
        found = next((factor, model) for known, factor, model in self.hedges if known == name)
        return (1.0, self.model) if found[1] is None else (found[0], found[1])


def _told(model: Model | None, data: Data) -> Model | None:
    return None if model is None else cast(Conditionable, model).condition(data)


@dataclass(frozen=True, slots=True)
class PseudoObservations:
    """Choose one point at a time, pretending that those chosen before have returned.

    Parameters
    ----------
    lie : what they returned; with ``Fantasy(samples=S)`` the acquisition is averaged over S guesses of it.
    update : how it reaches the model: "condition" (closed form, [paper] Eq. 1-2), "refit" (train again on data and
        lies), "none" (the paper's parametric case), or "auto" (condition if the model can, else refit).
    incumbent : f⁺ over real results and lies ("believed") or over real results alone ("data", the paper's convention;
        with it, Kriging Believer can repeat a point).
    hedge : with more than 0, one point in p + 1, with p under way, is chosen so, and the others under the shortest
        lengthscales that the results do not speak against by more than so many nats each
        (:mod:`~believer.batch.hedge`); where the model expects no more than the resolution of the study, under half of
        its own, and to improve by that; and no two are nearly the same. 0 is [paper] Algorithm 1. Models without
        lengthscales have nothing to hedge.
    """

    lie: Lie = field(default_factory=Believe)
    update: str = "auto"
    incumbent: str = "believed"
    hedge: float = 0.0

    @property
    def takes_outputs(self) -> bool:
        """Unless the acquisition is averaged over many fantasies."""
        return getattr(self.lie, "samples", 1) == 1

    @property
    def repeats(self) -> bool:
        """Likewise."""
        return self.takes_outputs

    def __post_init__(self) -> None:
        if isinstance(self.lie, type) or not callable(getattr(self.lie, "value", None)):
            raise InvalidInput(f'lie must be a lie, e.g. ConstantLie("min") or Believe(); got {shown(self.lie)}.')
        if self.update not in UPDATES:
            raise InvalidInput(f"update must be one of {', '.join(UPDATES)}; got {shown(self.update)}.")
        if self.incumbent not in INCUMBENTS:
            raise InvalidInput(f"incumbent must be one of {', '.join(INCUMBENTS)}; got {shown(self.incumbent)}.")
        if not finite(self.hedge, "hedge", MOST_NATS) >= 0.0:
            raise InvalidInput(f"hedge must be nats, zero or more; got {self.hedge!r}.")
        if self.hedge and (getattr(self.lie, "samples", 1) > 1 or self.update not in ("auto", "condition")):
            raise InvalidInput('a hedge needs one model that is conditioned: one fantasy, and update="auto".')

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """[paper] Algorithm 1, lines 2-8, after the pending points of ``request``; ``memory`` may hold their lies."""
        if request.outputs:
            from believer.batch import outputs  # loaded by those who use it

            return outputs.choose(self, request, memory)
        belief = self.resume(request, memory)
        for trial, x in zip(request.pending.ids[len(belief.ids) :], request.pending.X[len(belief.ids) :], strict=True):
            belief = belief.with_lie(request, trial, x)
        choices, quiet = [], cache(partial(is_quiet, request))
        avoid = request.avoid
        for trial in request.ids:
            if self.hedge and isinstance(belief, Belief):
                belief, choice = self._hedged(belief, request, trial, avoid, quiet)
            else:
                around = best_places(request, belief.X, belief.y)
                picked = pick(belief.objective(request), request, trial, around, avoid)
                choice = picked.choice(type(request.acquisition).__name__, self.after(belief.ids))
            if isinstance(belief, Belief):
                choice = repeated_instead(request, belief.model, belief.X, choice)
            choices.append(choice)
            avoid = taken(avoid, choice.x, request)
            belief = belief.with_lie(request, trial, choice.x)
        return Chosen(tuple(choices), belief)

    def _hedged(
        self, belief: Belief, request: Request, trial: int, avoid: Array, quiet: Callable[[], bool]
    ) -> tuple[Belief, Choice]:
        """The point of ``trial``, chosen by the model or by a hedge; and the belief, with the hedges that were made.

        ``quiet``: whether the model expects nothing that matters anywhere, before any lie.
        """
        noisy = is_noisy(belief.model)
        rule = replace(nearness(request.region, len(belief.ids) + 1, request.model), points=belief.X)
        around, spacing = best_places(request, belief.X, belief.y), rule if request.distinct else None

        view = belief.view(request)

        def picked_on(model: Model, margin: float = 0.0) -> Picked:
            seen = replace(view, model=model, incumbent=view.incumbent - margin)
            objective = objective_on(request.acquisition, seen)
            return pick(objective, request, trial, around, avoid, spacing=spacing)

        own, picked, under = is_own(request, trial, len(belief.ids)), None, ""
        if own:
            picked = picked_on(belief.model)
            settled = is_settled(request, belief.model, view.incumbent, picked.x[None, :])
        else:
            # As a rule a point under way is the model's own choice, the best that it knew: then that says no at once.
            settled = is_settled(request, belief.base, real_incumbent(request), belief.X) and quiet()
        if settled or not own:
            name = _SHORTEST if settled else PLAUSIBLE
            belief = belief.with_hedge(request, name)
            factor, hedge = belief.hedge(name)
            if factor < 1.0:
                under = f" under lengthscales {factor:.2g} times as long"
                under += ", as nothing that matters is expected otherwise" if settled else ""
            if factor < 1.0 or picked is None:
                picked = picked_on(hedge, resolution_of(request) if settled else 0.0)
        assert picked is not None
        choice = picked.choice(type(request.acquisition).__name__, self.after(belief.ids) + under)
        known = replace(rule, points=np.vstack([request.data.X, belief.X]))
        if noisy and known.near(picked.x[None, :])[0]:
            choice = replace(choice, provenance=choice.provenance + "; nearly a replicate, as results are noisy")
        return belief, choice

    def resume(self, request: Request, memory: object) -> Belief | Fantasized:
        """The belief of an earlier call, where it is about the same model and a prefix of the pending points.

        Parameters
        ----------
        request : what is asked now.
        memory : what may be such a belief.
        """
        memory = cast("Belief | Fantasized", memory)
        if (
            getattr(memory, "strategy", None) == self
            and memory.base is request.model
            and memory.ids == request.pending.ids[: len(memory.ids)]
            and np.array_equal(memory.X, request.pending.X[: len(memory.ids)])
        ):
            return memory
        samples = getattr(self.lie, "samples", 1)
        if samples > 1:
            from believer.batch import fantasies  # loaded by those who use it

            return fantasies.begin(self, samples, request.model, request.region.dim)
        return self.begin(request)

    def begin(self, request: Request) -> Belief:
        """The fitted model, before the first lie; of a fantasy with many samples, one."""
        d = request.region.dim
        return Belief(self, request.model, request.model, (), frozen(np.zeros((0, d))), frozen(np.zeros(0)))

    def after(self, ids: tuple[int, ...]) -> str:
        """ " after believing 2 points", for provenance, where ``ids`` were lied about."""
        return f" after {self.lie.verb} {counted(len(ids))}" if ids else ""
