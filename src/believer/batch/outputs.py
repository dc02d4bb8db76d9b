"""Pseudo-observations about several outputs: limits to be kept, and objectives to be traded for each other.

Each output has a model and a belief of its own. A point that was picked is lied about in all of them at once, so that
they stay consistent: what a batch counts on is one world. Where of a pending point some outputs are known already,
only the others are lied about.

======  ===================================================================================================
symbol  meaning
======  ===================================================================================================
P_j     probability that output j is within its limits
f⁺      of one objective: the least value at a point that counts as feasible, real or believed
F       of several: values of feasible points that no other such point beats in all objectives
r       the reference point: hypervolumes are measured from there
======  ===================================================================================================

A point is worth log EI(f⁺) or log EHVI(F, r), plus Σ_j log P_j; as long as nothing feasible is known, Σ_j log P_j
alone. Lies are about objectives: a constant one would say nothing of limits, and these are believed, or fantasized.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from believer.acquisitions import View, completed, objective_on
from believer.acquisitions.acquisition import Several
from believer.acquisitions.feasibility import FAR, Feasible
from believer.arrays import Array
from believer.batch.hedge import is_own
from believer.batch.lies import Believe, Fantasy
from believer.batch.picking import pick, taken
from believer.batch.pseudo import PLAUSIBLE, Belief, PseudoObservations
from believer.batch.repeat import repeated_instead
from believer.batch.request import Choice, Chosen, Request
from believer.batch.standing import Known, Standing, rows_of, stand
from believer.batch.verdict import nearness
from believer.capabilities import able
from believer.errors import MissingCapability
from believer.maximize import Objective
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Model


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What is believed of each output of a request, in their order.

    Attributes
    ----------
    parts : of each output, a model and the lies that it was told.
    """

    parts: tuple[Belief, ...]

    def with_lie(self, request: Request, trial: int, x: Array) -> Beliefs:
        """[paper] Algorithm 1, lines 6-7 and 3, for every output: lie about ``x`` (d,) and update the models.

        Parameters
        ----------
        request : whose outputs they are.
        trial : that got the point.
        x : the point.
        """
        pairs = zip(self.parts, request.outputs, strict=True)
        return Beliefs(tuple(part.with_lie(output.request, trial, x) for part, output in pairs))

    @property
    def models(self) -> tuple[Model, ...]:
        """Of all outputs."""
        return tuple(part.model for part in self.parts)

    @property
    def largest(self) -> Belief:
        """The part with the most lies: pending points that are known in some outputs are missing in others."""
        return max(self.parts, key=lambda part: len(part.ids))

    def hedged(self, request: Request) -> tuple[Beliefs, tuple[Model, ...], float]:
        """With plausible hedges; the models under them, and the least factor of their lengthscales."""
        pairs = zip(self.parts, request.outputs, strict=True)
        parts = tuple(part.with_hedge(output.request, PLAUSIBLE) for part, output in pairs)
        found = [part.hedge(PLAUSIBLE) for part in parts]
        return Beliefs(parts), tuple(model for _, model in found), min(factor for factor, _ in found)


def believed(strategy: PseudoObservations, request: Request, memory: object = None) -> Beliefs:
    """The models of a request, told of what is pending in each output.

    Parameters
    ----------
    strategy : what is believed, ``PseudoObservations()`` for the models' own guess; limits never get a constant lie.
    request : with outputs.
    memory : may hold the beliefs of an earlier call.
    """
    remembered = memory.parts if isinstance(memory, Beliefs) else ()
    parts = []
    for place, output in enumerate(request.outputs):
        lies = isinstance(strategy.lie, Fantasy) or output.limits is None
        own = strategy if lies else replace(strategy, lie=Believe())
        part = cast(Belief, own.resume(output.request, remembered[place] if place < len(remembered) else None))
        pending = output.request.pending
        for trial, x in zip(pending.ids[len(part.ids) :], pending.X[len(part.ids) :], strict=True):
            part = part.with_lie(output.request, trial, x)
        parts.append(part)
    return Beliefs(tuple(parts))


def standing(request: Request, beliefs: Beliefs) -> Standing:
    """Where things stand, given what is real and what is believed."""
    known = []
    for output, part in zip(request.outputs, beliefs.parts, strict=True):
        lies = dict(zip(part.ids, zip(part.X, part.y.tolist(), strict=True), strict=True))
        known.append(Known(part.model, output.limits, output.probability, rows_of(output), lies, output.exact))
    return stand(known, request.region.dim)


def objective(request: Request, models: tuple[Model, ...], here: Standing, trial: int) -> tuple[Objective, str]:
    """What the point of ``trial`` maximizes under ``models``, and its name."""
    aims = tuple(model for output, model in zip(request.outputs, models, strict=True) if output.limits is None)
    limits = tuple((m, one.limits) for one, m in zip(request.outputs, models, strict=True) if one.limits is not None)
    name = type(request.acquisition).__name__
    if limits and not here.feasible.any():
        return Feasible(None, limits), "feasibility"
    worth = _worth(request, aims, here, trial)
    return (Feasible(worth, limits), f"{name} times feasibility") if limits else (worth, name)


def _worth(request: Request, aims: tuple[Model, ...], here: Standing, trial: int) -> Objective:
    """What a point is worth if it is feasible."""
    acquisition = request.acquisition
    if able(acquisition, Several):
        reference = here.reference() if request.reference is None else _near(request.reference, request)
        return acquisition.of_several(aims, here.Y[here.front()], reference, request.randomness(trial, "weights"))
    own, incumbent = completed(acquisition).log(), here.incumbent
    assert own is not None
    assert incumbent is not None
    return objective_on(own, View(aims[0], incumbent, request.data))


def _near(reference: Array, request: Request) -> Array:
    """A reference (k,) no farther from results than counts: volumes are measured from there only to be compared."""
    found = [standardization(one.request.data.y) for one in request.outputs if one.limits is None]
    shifts, scales = (np.array(part) for part in zip(*found, strict=True))
    near: Array = np.clip(reference, shifts - FAR * scales, shifts + FAR * scales)
    return near


def refuse_acquisition(request: Request) -> None:
    """MissingCapability for an acquisition that cannot weigh what the request has: before anything is looked for."""
    acquisition, name = request.acquisition, type(request.acquisition).__name__
    several = sum(output.limits is None for output in request.outputs) > 1
    if several and not able(acquisition, Several):
        raise MissingCapability(
            f"several objectives need an acquisition that trades them for each other, EHVI or Scalarized; got {name}."
        )
    if not several and able(acquisition, Several):
        raise MissingCapability(f"{name} is for several objectives; for one there are LogEI, EI and PI.")
    if not several and completed(acquisition).log() is None:
        raise MissingCapability(f"limits weigh the logarithm of an improvement: LogEI, EI or PI; {name} has none.")


def choose(strategy: PseudoObservations, request: Request, memory: object) -> Chosen:
    """[paper] Algorithm 1, lines 2-8, on all outputs at once."""
    refuse_acquisition(request)
    beliefs, avoid, choices = believed(strategy, request, memory), request.avoid, list[Choice]()
    for trial in request.ids:
        most, under = beliefs.largest, ""
        models, spacing = beliefs.models, None
        if strategy.hedge:
            rule = replace(nearness(request.region, len(most.ids) + 1, request.model), points=most.X)
            spacing = rule if request.distinct else None
            if not is_own(request, trial, len(most.ids)):
                beliefs, models, factor = beliefs.hedged(request)
                under = f" under lengthscales {factor:.2g} times as long" if factor < 1.0 else ""
        here = standing(request, beliefs)
        worth, name = objective(request, models, here, trial)
        around = request.region.project(here.places())
        picked = pick(worth, request, trial, around, avoid, spacing=spacing)
        choice = picked.choice(name, strategy.after(most.ids) + under)
        if here.Y.shape[1] == 1 and here.feasible.any():
            part = beliefs.parts[0]
            choice = repeated_instead(request, part.model, part.X, choice, here.X[here.feasible])
        choices.append(choice)
        avoid = taken(avoid, choice.x, request)
        beliefs = beliefs.with_lie(request, trial, choice.x)
    return Chosen(tuple(choices), beliefs)
