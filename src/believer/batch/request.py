"""What a strategy is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from believer.acquisitions import Acquisition
from believer.acquisitions.feasibility import Within
from believer.arrays import Array, read_only
from believer.capabilities import able
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Maximizer
from believer.space.region import Region
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction, Surrogate
from believer.surrogates.warp import Warp

Randomness = Callable[[int, str], np.random.Generator]
"""The generator that belongs to a trial id and a purpose; the same pair always gives the same stream."""

LIES = "hedged, kb, kb_lower, kb_upper, cl_min, cl_mean, cl_max, fantasy"
WEIGH_ALL = f"{LIES}, thompson; random"
"""Strategies that weigh all outcomes together, however many objectives there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Points handed out and not answered yet, in the order of their trial ids.

    Parameters
    ----------
    ids : of their trials.
    X : the points in the encoded cube, (p, d).
    """

    ids: tuple[int, ...]
    X: Array


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Everything that a strategy may look at to choose points.

    Attributes
    ----------
    ids : the trials that need a point each.
    surrogate : the model's recipe.
    acquisition : what makes a point worth an experiment.
    model : fitted to ``data`` alone, then told of ``failed`` trials; :class:`NoModel` for a strategy without one.
    data : real results.
    pending : points handed out and not answered yet.
    region : where to search.
    avoid : points (k, d) that must not be proposed again.
    distinct : whether the batch's own points must differ as well.
    randomness : the generator that belongs to a trial id and a purpose.
    sign : -1 when the user maximizes, else 1.
    maximizer : what the user wants the acquisition to be maximized with; None for what suits the objective.
    failed : failed trials, with the value that they count as; None without any.
    warp : from the user's units to those of ``model``, ``data`` and ``failed``; None where they are the same.
    resolution : the least improvement that matters to the user; None for one from ``data``.
    outputs : of a study that declares its outcomes, objectives first; empty where there is one number. What stands
        above is then that of the first objective.
    reference : of several objectives, (k,), to be minimized; None for one that is inferred.
    repeat : whether a measured point may be proposed again, where that is worth more than a new one; only strategies
        with ``repeats = True`` in the body of their class are asked for it.
    """

    ids: tuple[int, ...]
    surrogate: Surrogate
    acquisition: Acquisition
    model: Model
    data: Data
    pending: Pending
    region: Region
    avoid: Array
    distinct: bool
    randomness: Randomness
    sign: float = 1.0
    maximizer: Maximizer | None = None
    failed: Data | None = None
    warp: Warp | None = None
    resolution: float | None = None
    outputs: tuple[Output, ...] = ()
    reference: Array | None = None
    repeat: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """One of several numbers that an evaluation returns.

    Attributes
    ----------
    name : what it is called.
    limits : where it has to lie, in the units of its model; None for an objective, which is to be minimized.
    probability : how surely, for a point to count as feasible.
    ids : trials of which it is known, in the order of ``request.data``.
    request : what a strategy would be asked if there were no other number.
    exact : whether what was seen is so, however noisy a model finds it.
    """

    name: str
    limits: Within | None
    probability: float
    ids: tuple[int, ...]
    request: Request
    exact: bool = False


def with_pending(request: Request, ids: tuple[int, ...], X: Array) -> Request:
    """``request`` with further points ``X`` (k, d) of trials ``ids`` pending, in every output."""

    def more(one: Request) -> Request:
        return replace(one, pending=Pending(one.pending.ids + ids, read_only(np.vstack([one.pending.X, X]))))

    outputs = tuple(replace(output, request=more(output.request)) for output in request.outputs)
    return replace(more(request), outputs=outputs)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One point of a batch, and why it was chosen.

    Parameters
    ----------
    x : the point, (d,), in the encoded cube.
    provenance : in words, why it was chosen.
    repeats : whether it is measured already, and meant to be measured again.
    """

    x: Array
    provenance: str
    repeats: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The points of a batch.

    Attributes
    ----------
    choices : one for each trial of the request.
    memory : may be handed back with the next request to save work, never to change it.
    """

    choices: tuple[Choice, ...]
    memory: object = None


class Strategy(Protocol):
    """A frozen recipe for choosing q points together."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """One choice for each of ``request.ids``.

        Parameters
        ----------
        request : all that may be looked at.
        memory : what the last :class:`Chosen` remembered, to save work, never to change it; None without any.
        """
        ...


@runtime_checkable
class ModelFree(Protocol):
    """A strategy that says whether it needs a model. One that says no is given none, and no fit is paid for.

    ``needs_model = False`` in the body of its class is all that it takes.
    """

    @property
    def needs_model(self) -> bool:
        """Whether :meth:`Strategy.choose` looks at ``request.model``, whatever the request."""
        ...


@runtime_checkable
class TakesOutputs(Protocol):
    """A strategy that says whether it knows what to do with several outputs: limits, or more than one objective.

    ``takes_outputs = True`` in the body of its class is all that it takes.
    """

    @property
    def takes_outputs(self) -> bool:
        """Whether :meth:`Strategy.choose` looks at ``request.outputs``."""
        ...


def refuse_outputs(strategy: Strategy, name: str) -> None:
    """MissingCapability for a strategy that would look at the first objective alone.

    Parameters
    ----------
    strategy : what was asked for.
    name : what people call it.
    """
    if not able(strategy, TakesOutputs) or not strategy.takes_outputs:
        raise MissingCapability(
            f"{name} chooses for one number, and this study declares its outcomes. Strategies that weigh them "
            f"together: {WEIGH_ALL}; and of one objective qei, gp_bucb, ucb_pe."
        )


@runtime_checkable
class Repeats(Protocol):
    """A strategy that says whether it knows when to measure a point again."""

    @property
    def repeats(self) -> bool:
        """Whether :meth:`Strategy.choose` looks at ``request.repeat``."""
        ...


def refuse_repeats(strategy: Strategy, name: str, objectives: int) -> None:
    """MissingCapability where repeats were asked for, and nothing says when to repeat.

    Parameters
    ----------
    strategy : what was asked for.
    name : what people call it.
    objectives : how many there are.
    """
    if objectives > 1:
        raise MissingCapability("repeat=True is for one objective: of several, nothing says what a repeat is worth.")
    if not able(strategy, Repeats) or not strategy.repeats:
        raise MissingCapability(
            f"{name} never measures a point again; strategies that do where it is worth it: {LIES}. To allow for equal "
            "points, say distinct=False."
        )


def needs_model(strategy: Strategy) -> bool:
    """Whether a fit comes before the ``strategy`` is asked: always, unless it says otherwise."""
    return not able(strategy, ModelFree) or bool(strategy.needs_model)


@dataclass(frozen=True, slots=True)
class NoModel:
    """What stands for the model in a request to a strategy that needs none."""

    def predict(self, X: Array) -> Prediction:
        """MissingCapability: there is none."""
        raise MissingCapability(
            "there is no model here: the strategy says that it needs none (needs_model = False). Take that out of it."
        )


def checked_answer(chosen: object, request: Request, strategy: object) -> Chosen:
    """``chosen`` if it answers the request; an error that names the strategy otherwise."""
    wrong = None
    if not isinstance(chosen, Chosen) or not all(isinstance(choice, Choice) for choice in chosen.choices):
        wrong = f"choose must return Chosen((Choice(x, provenance), ...)); it returned {type(chosen).__name__}"
    elif len(chosen.choices) != len(request.ids):
        wrong = f"{len(request.ids)} points were asked for, and it chose {len(chosen.choices)}"
    else:
        for choice in chosen.choices:
            x = np.asarray(choice.x, dtype=np.float64)
            if x.shape != (request.region.dim,) or not ((x >= 0.0) & (x <= 1.0)).all():
                wrong = f"a point must be {request.region.dim} numbers in [0, 1]; it chose {choice.x!r}"
            elif not isinstance(choice.provenance, str):
                wrong = f"provenance must be a text; it gave {choice.provenance!r}"
    if wrong is not None or not isinstance(chosen, Chosen):
        raise InvalidInput(
            f"the strategy {type(strategy).__name__} breaks the contract: {wrong}. Nothing was handed out; "
            "believer.testing.check_strategy says more."
        )
    return chosen
