"""The request to a strategy, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import Array, read_only
from believer.batch.learned import Learned, Output, Pending
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Maximizer
from believer.space.likely import Likely
from believer.space.region import Region
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction, Surrogate
from believer.surrogates.warp import Warp

Randomness = Callable[[int, str], np.random.Generator]
"""The generator that belongs to a trial id and a purpose; the same pair always gives the same stream."""

ONE, LIMITS, SEVERAL = "one objective", "one objective within limits", "several objectives within limits"
"""The kinds of studies that a strategy supports: values of its class attribute ``takes``, :data:`ONE` by default."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Everything that a strategy may use to choose points.

    Attributes
    ----------
    ids : the trials that need a point each.
    outputs : the fitted models of the outputs, at least one; objectives come first, then outputs with limits.
    surrogate : the recipe of the models.
    acquisition : the acquisition function.
    region : the region to search.
    avoid : points (k, d) that must not be proposed again.
    distinct : whether the batch's own points must differ as well.
    randomness : the generator that belongs to a trial id and a purpose.
    maximizer : the maximizer that the user chose; None for the one that suits the objective.
    resolution : the smallest improvement that matters to the user; None if it is to be inferred from the results.
    reference : the reference point of several objectives, (k,), for minimization; None if it is to be inferred.
    repeat : whether an evaluated point may be chosen again if that is worth more than a new point. Only strategies
        whose class has ``repeats = True`` are asked for this.
    likely : beliefs about where the optimum is; None if there are none.
    answered_then : for each earlier trial that a strategy chose, the number of trials that had results at that time.
    fresh : whether a model has chosen before, and there are results since. The point of the first of ``ids`` then has
        candidates of its own, and the other points share one set; asking for one point after each result needs no
        shared set.
    """

    ids: tuple[int, ...]
    outputs: tuple[Learned, ...]
    surrogate: Surrogate
    acquisition: Acquisition
    region: Region
    avoid: Array
    distinct: bool
    randomness: Randomness
    maximizer: Maximizer | None = None
    resolution: float | None = None
    reference: Array | None = None
    repeat: bool = False
    likely: Likely | None = None
    answered_then: Mapping[int, int] = field(default_factory=dict)
    fresh: bool = False

    def __post_init__(self) -> None:
        if not self.outputs:
            raise InvalidInput("a request needs at least one output; got none.")

    @property
    def model(self) -> Model:
        """The model of the first objective, conditioned on failed trials; :class:`NoModel` if none is needed."""
        return self.outputs[0].model

    @property
    def data(self) -> Data:
        """The results of the first objective, in the units of its model."""
        return self.outputs[0].data

    @property
    def pending(self) -> Pending:
        """The points whose result of the first objective is pending."""
        return self.outputs[0].pending

    @property
    def failed(self) -> Data | None:
        """Failed trials, with the value that they count as in the first objective; None if there are none."""
        return self.outputs[0].failed

    @property
    def sign(self) -> float:
        """-1 if the first objective is maximized, otherwise 1."""
        return self.outputs[0].output.sign

    @property
    def warp(self) -> Warp | None:
        """The warp from the user's units to those of the first objective's model; None if they are the same."""
        return self.outputs[0].warp

    @property
    def objectives(self) -> int:
        """The number of objectives."""
        return sum(learned.output.limits is None for learned in self.outputs)

    @property
    def limited(self) -> tuple[Learned, ...]:
        """The outputs with limits."""
        return tuple(learned for learned in self.outputs if learned.output.limits is not None)

    def stream(self, trial: int, purpose: str, place: int) -> np.random.Generator:
        """The generator of a ``trial`` and a ``purpose`` for the output at ``place``, independent of all others."""
        named = purpose if place == 0 else f"{purpose} of {self.outputs[place].output.name}"
        return self.randomness(trial, named)

    def with_first(self, **changes: Any) -> Request:
        """A copy of the request with other values for the first objective, such as its model or its data.

        ``changes`` are fields of :class:`Learned` with their values, or the ``sign`` of its output. If ``model`` is
        given without ``fit``, it is used for both; if ``data`` is given without ``ids``, its ids are 0, 1, ...
        """
        first = self.outputs[0]
        if "model" in changes:
            changes.setdefault("fit", changes["model"])
        if "data" in changes:
            changes.setdefault("ids", tuple(range(len(changes["data"]))))
        if "sign" in changes:
            changes["output"] = replace(first.output, sign=changes.pop("sign"))
        return replace(self, outputs=(replace(first, **changes), *self.outputs[1:]))

    @classmethod
    def single(
        cls,
        ids: tuple[int, ...],
        surrogate: Surrogate,
        acquisition: Acquisition,
        model: Model,
        data: Data,
        pending: Pending,
        region: Region,
        avoid: Array,
        distinct: bool,
        randomness: Randomness,
        maximizer: Maximizer | None = None,
    ) -> Request:
        """A request of a study with one objective and no limits; the results have the ids 0, 1, ...

        Parameters
        ----------
        ids, surrogate, acquisition, region, avoid, distinct, randomness, maximizer : as in a request.
        model, data, pending : as in :class:`Learned`.
        """
        learned = Learned(Output("value"), tuple(range(len(data))), data, pending, model, model)
        return cls(ids, (learned,), surrogate, acquisition, region, avoid, distinct, randomness, maximizer)


def with_pending(request: Request, ids: tuple[int, ...], X: Array) -> Request:
    """``request`` with the further points ``X`` (k, d) of trials ``ids`` pending in every output."""

    outputs = (replace(one, pending=joined_pending(one.pending, ids, X)) for one in request.outputs)
    return replace(request, outputs=tuple(outputs))


def joined_pending(pending: Pending, ids: tuple[int, ...], X: Array) -> Pending:
    """``pending`` and further points ``X`` (k, d) of trials ``ids``."""
    return Pending(pending.ids + ids, read_only(np.vstack([pending.X, X])))


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A point of a batch, and the reason for its choice.

    Parameters
    ----------
    x : the point, (d,), in the encoded cube.
    provenance : the reason for the choice, in words.
    repeats : whether the point is a replicate of an evaluated point.
    """

    x: Array
    provenance: str
    repeats: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The points of a batch.

    Attributes
    ----------
    choices : a choice for each trial of the request.
    memory : an object that may be passed with the next request to save work. It never changes the choice.
    """

    choices: tuple[Choice, ...]
    memory: object = None


class Strategy(Protocol):
    """A frozen recipe for choosing q points together."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose one point for each of ``request.ids``.

        Parameters
        ----------
        request : everything that the strategy may use.
        memory : the memory of the last :class:`Chosen`; it may save work, but must not change the choice. None if there
            is none.
        """


def needs_model(strategy: Strategy) -> bool:
    """Whether ``strategy`` needs a fitted model: yes, unless its class has ``needs_model = False``."""
    return bool(getattr(strategy, "needs_model", True))


def takes(strategy: Strategy) -> str:
    """The kind of study that a strategy supports: ``takes`` of its class, or :data:`ONE`."""
    return str(getattr(strategy, "takes", ONE))


def named_that(fits: Callable[[Strategy], bool]) -> str:
    """The names of the library's strategies that fit, for an error message; ``top_q``, a baseline, is left out."""
    from believer.batch import STRATEGIES  # imports this module

    return ", ".join(name for name, strategy in STRATEGIES.items() if fits(strategy) and name != "top_q")


def keeping_limits() -> str:
    """The names of strategies that keep limits."""
    return named_that(lambda strategy: takes(strategy) != ONE)


def refuse_outputs(strategy: Strategy, name: Callable[[], str], objectives: int, limited: bool) -> None:
    """Raise MissingCapability if there are several objectives, or limits, and the strategy does not support them.
    ``name`` is a function that returns its name."""
    can = takes(strategy)
    if objectives > 1 and can != SEVERAL:
        raise MissingCapability(
            f"{name()} chooses for one objective, and this study has {objectives}. Strategies that weigh several "
            f"objectives: {named_that(lambda one: takes(one) == SEVERAL)}."
        )
    if limited and can == ONE:
        raise MissingCapability(
            f"{name()} chooses for one objective without limits, and this study has limits. Strategies that keep "
            f"limits: {keeping_limits()}."
        )


def refuse_repeats(strategy: Strategy, name: Callable[[], str], objectives: int) -> None:
    """Raise MissingCapability if repeats were asked for and the strategy has no rule for when to repeat."""
    if objectives > 1:
        raise MissingCapability(
            "repeat=True needs a single objective, because the worth of a replicate is not defined for several."
        )
    if not getattr(strategy, "repeats", False):
        raise MissingCapability(
            f"{name()} never repeats a point. Strategies that do when it is worthwhile: "
            f"{named_that(lambda one: getattr(one, 'repeats', False))}. To allow equal points, pass distinct=False."
        )


@dataclass(frozen=True, slots=True)
class NoModel:
    """The placeholder for the model in a request to a strategy that needs none."""

    def predict(self, X: Array) -> Prediction:
        """Raise MissingCapability, because there is no model."""
        raise MissingCapability(
            "this strategy gets no model, because it has needs_model = False; remove that from its class."
        )


def checked_answer(chosen: object, request: Request, strategy: object) -> Chosen:
    """Return ``chosen`` if it answers the request; otherwise raise InvalidInput that names the strategy."""
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
            f"the strategy {type(strategy).__name__} breaks the contract: {wrong}. Nothing was handed out; use "
            "believer.testing.check_strategy to find out more."
        )
    return chosen
