"""Sequential batch selection by pseudo-observations: [paper] Algorithm 1.

======  ========================================================================
symbol  meaning
======  ========================================================================
D       the data: all results
D'      the data and the lies (pseudo-observations) about points without results
f⁺      the best value so far, the incumbent
α       the acquisition function
======  ========================================================================

Pick a point, add a lie there, update the model, and pick the next point. Pending points of earlier batches pass through
the same update before the first pick, so asking for q points at once or one by one is the same computation. The
exception is a model that moves the points of a call together at the end, from 200 results on: a GP on a GPU, as a rule
(:func:`~believer.batch.together.moves_together`). [paper] is listed in docs/papers.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from believer.arrays import Array, finite, shown
from believer.batch.belief import CONDITIONED, PLAUSIBLE, SHORTEST, Belief
from believer.batch.best_so_far import BestSoFar
from believer.batch.hedge import MAX_NATS, NothingExpected, has_nothing_left, is_own, resolution_of
from believer.batch.learned import OWN, Follower, is_noisy
from believer.batch.lies import Believe, Lie
from believer.batch.picking import Picked, counted, is_long, pick, shares_candidates, taken
from believer.batch.repeat import repeated_instead
from believer.batch.request import ONE, SEVERAL, Choice, Chosen, Request, with_pending
from believer.batch.together import moved, moves_together
from believer.batch.verdict import nearness
from believer.batch.worth import refuse_acquisition
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.surrogates.protocols import Conditionable, Model

if TYPE_CHECKING:
    from believer.batch.fantasies import Fantasized

UPDATES = ("auto", "condition", "refit", "none")
INCUMBENTS = ("believed", "data")


@dataclass(frozen=True, slots=True)
class PseudoObservations:
    """Choose one point at a time, as if the points chosen before had already returned a result.

    Parameters
    ----------
    lie : the rule for the pseudo-observations. With ``Fantasy(samples=S)`` the acquisition function is averaged over S
        draws.
    update : how the model is updated: "condition" (in closed form, [paper] Eq. 1-2), "refit" (train again on data and
        lies), "none" (the paper's parametric case), or "auto" (condition if the model can, otherwise refit).
    incumbent : whether f⁺ is the best of real results and lies ("believed") or of real results only ("data", the
        paper's convention, with which Kriging Believer can repeat a point).
    hedge : protects a batch against fitted lengthscales that are too long; 0 is [paper] Algorithm 1. If it is above 0
        and p points are pending, the next point is chosen under the fitted lengthscales with probability 1/(p + 1), and
        otherwise under shorter ones: about the shortest, but at least half as long, whose log-likelihood is lower by at
        most this number of nats for each result (:mod:`~believer.batch.hedge`); ``hedged`` has 1/15. If the model of a
        single output expects no improvement above the resolution of the study, the fitted lengthscales, halved, are
        used, and the improvement must be at least the resolution. Distinct points of a batch keep a distance from each
        other and from pending points. Models without lengthscales are not hedged.
    """

    lie: Lie = field(default_factory=Believe)
    update: str = "auto"
    incumbent: str = "believed"
    hedge: float = 0.0

    @property
    def takes(self) -> str:
        """All kinds of outputs, unless the acquisition function is averaged over many fantasies."""
        return SEVERAL if self.samples == 1 else ONE

    @property
    def repeats(self) -> bool:
        """Whether replicates are possible: yes, unless the acquisition function is averaged over many fantasies."""
        return self.samples == 1

    @property
    def samples(self) -> int:
        """The number of fantasies over which the acquisition function is averaged; 1 with any other lie."""
        return int(getattr(self.lie, "samples", 1))

    def __post_init__(self) -> None:
        if isinstance(self.lie, type) or not callable(getattr(self.lie, "value", None)):
            raise InvalidInput(f'lie must be a lie, e.g. ConstantLie("min") or Believe(); got {shown(self.lie)}.')
        if self.update not in UPDATES:
            raise InvalidInput(f"update must be one of {', '.join(UPDATES)}; got {shown(self.update)}.")
        if self.incumbent not in INCUMBENTS:
            raise InvalidInput(f"incumbent must be one of {', '.join(INCUMBENTS)}; got {shown(self.incumbent)}.")
        if not finite(self.hedge, "hedge", MAX_NATS) >= 0.0:
            raise InvalidInput(f"hedge must be nats, zero or more; got {self.hedge!r}.")
        if self.hedge and (self.samples > 1 or self.update not in CONDITIONED):
            raise InvalidInput(
                'a hedge needs one model that is conditioned: one fantasy, and update="auto" or "condition".'
            )

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Run [paper] Algorithm 1, lines 2-8, given the pending points of ``request``; ``memory`` may hold the belief
        of an earlier call."""
        refuse_acquisition(request)
        # A request is ``fresh`` if a model has chosen before, and there are results since. Its first point draws
        # candidates of its own, and the other points share one set: asking for one point after each result then needs
        # no shared set.
        if request.fresh and shares_candidates(request) and not is_long(request.region) and self.samples == 1:
            if not moves_together(self, request):
                return self._first_alone(request)
            request = replace(request, fresh=False)
        return self._chosen(request, self.resume(request, memory).with_lies(request))

    def _chosen(self, request: Request, belief: Belief | Fantasized, keeps: bool = True) -> Chosen:
        """Algorithm 1, lines 3-8, from a ``belief`` that has lies at all pending points. If ``keeps`` is False, no lie
        is added at the last point.
        """
        choices, avoid = list[Choice](), request.avoid
        nothing_expected = NothingExpected(
            request, belief.parts[0].pool_before_lies if isinstance(belief, Belief) else None
        )
        if isinstance(belief, Belief) and belief.keeps_candidates and moves_together(self, request):
            return self._together(belief, request, nothing_expected)
        for trial in request.ids:
            here = belief.best_so_far(request)
            if isinstance(belief, Belief):
                belief, choice, _ = self._picked(belief, request, here, trial, avoid, nothing_expected)
                first, allowed = belief.parts[0], here.X[here.feasible] if here.limited else None
                if request.repeat and here.any_feasible:
                    choice = repeated_instead(request, first.model, first.X, choice, allowed)
            else:
                found, near_best = belief.worth(request, here, trial), request.region.project(here.places())
                picked = pick(found.objective, request, trial, near_best, avoid, is_scaled=found.is_scaled)
                choice = picked.choice(found.name, self.after(belief.ids))
            choices.append(choice)
            if keeps or trial != request.ids[-1]:
                avoid = taken(avoid, choice.x, request)
                belief = belief.with_lie(request, trial, choice.x)
        return Chosen(tuple(choices), belief)

    def _together(self, belief: Belief, request: Request, nothing_expected: NothingExpected) -> Chosen:
        """Pick the points one after the other among the candidates, then optimize their positions jointly.

        Each point is judged by the model that picked it: the fitted model or its copy with shorter lengthscales. Points
        picked under the fitted lengthscales, halved (:data:`SHORTEST`), stay where they are.
        """
        models: dict[str, Model | None] = {OWN: belief.model}
        if self.hedge:
            belief, (follower,) = belief.following(request, PLAUSIBLE)
            models[PLAUSIBLE] = follower.model
        avoid, choices, by, incumbents = request.avoid, list[Choice](), list[str](), list[float]()
        for trial in request.ids:
            here = belief.best_so_far(request)
            belief, choice, name = self._picked(belief, request, here, trial, avoid, nothing_expected)
            best = belief.incumbent(here)
            assert best is not None
            choices.append(choice)
            by.append(name)
            incumbents.append(best)
            avoid = taken(avoid, choice.x, request)
            belief = belief.with_lie(request, trial, choice.x)
        groups = [(m, [i for i, one in enumerate(by) if one == name]) for name, m in models.items() if m is not None]
        return Chosen(moved(request, choices, np.array(incumbents), groups, spaced=bool(self.hedge)))

    def _first_alone(self, request: Request) -> Chosen:
        """Choose the first point among candidates of its own, and the others among candidates that they share."""
        ids = request.ids[:1]
        chosen = self._chosen(replace(request, ids=ids), self.begin(request).with_lies(request), keeps=False)
        if len(request.ids) == 1:
            return replace(chosen, memory=None)
        x = chosen.choices[0].x
        others = replace(with_pending(request, ids, x[None, :]), ids=request.ids[1:], fresh=False)
        others = replace(others, avoid=taken(request.avoid, x, request))
        rest = self.choose(others)
        return replace(rest, choices=(*chosen.choices, *rest.choices))

    def _picked(
        self,
        belief: Belief,
        request: Request,
        here: BestSoFar,
        trial: int,
        avoid: Array,
        nothing_expected: NothingExpected,
    ) -> tuple[Belief, Choice, str]:
        """Choose the point of ``trial``, under the fitted lengthscales or shorter ones.

        Returns the belief with any new followers, the choice, and the name of the lengthscales under which it was made:
        :data:`OWN`, :data:`PLAUSIBLE` or :data:`SHORTEST`. ``nothing_expected`` says whether the model expected no
        improvement that matters anywhere before the first lie.
        """
        lies, near_best = belief.lies, request.region.project(here.places())
        near_lies = replace(nearness(request.region, len(lies.ids) + 1, request.model), points=lies.X)
        spacing = near_lies if request.distinct and self.hedge else None

        def picked_by(followers: tuple[Follower, ...], margin: float = 0.0) -> tuple[Picked, str, float]:
            """The point, the name of the objective, and the least factor of the lengthscales."""
            models, pools, factors = zip(*[(one.model, one.pool, one.factor) for one in followers], strict=True)
            found = belief.worth(request, here, trial, models, margin)
            candidates = found.known(pools, request.region)
            if candidates is not None and belief.left_out is not None:
                candidates = replace(candidates, left_out=belief.left_out)
            climbs = candidates is None or not moves_together(self, request)
            picked = pick(
                found.objective,
                request,
                trial,
                near_best,
                avoid,
                spacing=spacing,
                known=candidates,
                climbs=climbs,
                is_scaled=found.is_scaled,
            )
            return picked, found.name, min(factors)

        own, nothing_left, name = not self.hedge or is_own(request, trial, len(lies.ids)), False, OWN
        chosen = None
        if own:
            belief, followers = belief.following(request, OWN)
            chosen = picked_by(followers)
        if self.hedge and len(request.outputs) == 1:
            if chosen is not None:
                at = belief.model.predict(chosen[0].x[None, :])
                nothing_left = has_nothing_left(request, belief.incumbent(here), at)
            else:
                nothing_left = nothing_expected.holds(lies.X)
        if nothing_left or not own:
            shorter = SHORTEST if nothing_left else PLAUSIBLE
            belief, followers = belief.following(request, shorter)
            if chosen is None or min([one.factor for one in followers]) < 1.0:
                chosen, name = picked_by(followers, resolution_of(request) if nothing_left else 0.0), shorter
        assert chosen is not None
        (picked, what, factor), after = chosen, self.after(lies.ids)
        if factor < 1.0:
            after += f" under lengthscales {factor:.2g} times as long"
            after += ", as nothing that matters is expected otherwise" if nothing_left else ""
        if picked.among and not (factor == 1.0 and self._is_exact(belief)):
            after += f"; among the {picked.among:,} points that were best before"
        choice = picked.choice(what, after)
        if self.hedge and is_noisy(belief.model):
            near_any = replace(near_lies, points=np.vstack([request.data.X, lies.X]))
            if near_any.near(picked.x[None, :])[0]:
                choice = replace(choice, provenance=choice.provenance + "; nearly a replicate, as results are noisy")
        return belief, choice, name if factor < 1.0 else OWN

    def resume(self, request: Request, memory: object) -> Belief | Fantasized:
        """The belief of an earlier call, if it has the same models, and its lies are at the first k pending points, in
        their order, for some k; otherwise a new one.

        Parameters
        ----------
        request : the present request.
        memory : the memory of the earlier call, which may be a belief.
        """
        if self.samples == 1:
            same = isinstance(memory, Belief) and memory.is_about(request, self)
            return cast(Belief, memory) if same else self.begin(request).with_candidates(request)
        from believer.batch import fantasies  # loaded on use

        return fantasies.resumed(self, self.samples, request, memory)

    def begin(self, request: Request) -> Belief:
        """The belief of a request before the first lie, also for a single draw of a fantasy with many samples."""
        return Belief.of(self, request)

    def _is_exact(self, belief: Belief) -> bool:
        """Whether no row of a long list can be the best that was left out of the candidates.

        This holds if the fitted model of a single output chooses, conditioned on its own means: its acquisition values
        only fall while points are chosen. It does not hold with other lies, with several outputs, or under shorter
        lengthscales; the provenance then says that other rows were not compared.
        """
        conditioned = self.update in CONDITIONED and has(belief.model, Conditionable)
        return conditioned and self.lie == Believe() and len(belief.parts) == 1

    def after(self, ids: tuple[int, ...]) -> str:
        """The part of the provenance that counts the lies about trials ``ids``: " after believing 2 points"."""
        return f" after {self.lie.verb} {counted(len(ids))}" if ids else ""
