"""Sequential batch selection by pseudo-observations: [paper] Algorithm 1.

Pick a point, lie about it, update the model, pick the next. Points that are pending from earlier batches pass through
the same update before the first pick, so that asking for q points at once or one by one is the same computation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from believer.acquisitions import View, objective_on
from believer.arrays import Array, frozen, read_only, shown
from believer.batch.incumbent import believed_incumbent
from believer.batch.lies import Believe, Lie
from believer.batch.picking import best_places, counted, pick, taken
from believer.batch.request import Chosen, Request
from believer.batch.update import resolved, updated
from believer.errors import InvalidInput
from believer.maximize import Objective
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model

if TYPE_CHECKING:
    from believer.batch.fantasies import Fantasized

UPDATES = ("auto", "condition", "refit", "none")
INCUMBENTS = ("believed", "data")


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A model together with the lies that it was given: trial ``ids``, points (p, d) and values (p,), in that order."""

    strategy: PseudoObservations
    base: Model
    model: Model
    ids: tuple[int, ...]
    X: Array
    y: Array

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

    @property
    def informed(self) -> Model | None:
        """The model, where its covariances are those given all points that it was lied to about."""
        return self.model if resolved(self.strategy.update, self.base) == "condition" else None

    def with_lie(self, request: Request, trial: int, x: Array) -> Belief:
        """[paper] Algorithm 1, lines 6-7 and 3: lie about ``x`` (d,) and update the model."""
        strategy, rng = self.strategy, request.randomness(trial, "lie")
        lie = strategy.lie.value(self.model, x, request.data, request.sign, rng)
        X, y = read_only(np.vstack([self.X, x])), read_only(np.append(self.y, lie))
        model = updated(self.model, strategy.update, request, trial, X, y)
        return replace(self, model=model, ids=(*self.ids, trial), X=X, y=y)


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
    """

    lie: Lie = field(default_factory=Believe)
    update: str = "auto"
    incumbent: str = "believed"

    def __post_init__(self) -> None:
        if isinstance(self.lie, type) or not callable(getattr(self.lie, "value", None)):
            raise InvalidInput(f'lie must be a lie, e.g. ConstantLie("min") or Believe(); got {shown(self.lie)}.')
        if self.update not in UPDATES:
            raise InvalidInput(f"update must be one of {', '.join(UPDATES)}; got {shown(self.update)}.")
        if self.incumbent not in INCUMBENTS:
            raise InvalidInput(f"incumbent must be one of {', '.join(INCUMBENTS)}; got {shown(self.incumbent)}.")

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """[paper] Algorithm 1, lines 2-8, after the pending points of ``request``; ``memory`` may hold their lies."""
        belief = self._resume(request, memory)
        for trial, x in zip(request.pending.ids[len(belief.ids) :], request.pending.X[len(belief.ids) :], strict=True):
            belief = belief.with_lie(request, trial, x)
        informed = belief.informed
        choices = []
        avoid = request.avoid
        for trial in request.ids:
            around = best_places(request, belief.X, belief.y)
            picked = pick(belief.objective(request), request, trial, around, avoid)
            choices.append(picked.choice(type(request.acquisition).__name__, self._after(belief.ids)))
            avoid = taken(avoid, picked.x, request)
            belief = belief.with_lie(request, trial, picked.x)
        return Chosen(tuple(choices), belief, informed)

    def _resume(self, request: Request, memory: object) -> Belief | Fantasized:
        """The belief of an earlier call, where it is about the same model and a prefix of the pending points."""
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

    def _after(self, ids: tuple[int, ...]) -> str:
        return f" after {self.lie.verb} {counted(len(ids))}" if ids else ""
