"""Sequential batch selection by pseudo-observations: [paper] Algorithm 1.

Pick a point, lie about it, update the model, pick the next. Points that are pending from earlier batches pass through
the same update before the first pick, so that asking for q points at once or one by one is the same computation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from believer.acquisitions import Bound
from believer.arrays import Array, frozen
from believer.batch.lies import Believe, Lie
from believer.batch.picking import best_places, counted, pick, taken
from believer.batch.request import Chosen, Request
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates.protocols import Conditionable, Model, Smoothing

UPDATES = ("auto", "condition", "refit", "none")
INCUMBENTS = ("believed", "data")


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """A model together with the lies that it was told: trial ``ids``, points (p, d) and values (p,), in that order."""

    strategy: PseudoObservations
    base: Model
    model: Model
    ids: tuple[int, ...]
    X: Array
    y: Array


@dataclass(frozen=True, slots=True)
class PseudoObservations:
    """Choose one point at a time, pretending that those chosen before have returned.

    lie: what they returned. update: how the lie reaches the model: "condition" (closed form, [paper] Eq. 1-2),
    "refit" (train again on data and lies), "none" (the paper's parametric case), or "auto" (condition if the model
    can, else refit). incumbent: f⁺ over real results and lies ("believed") or over real results alone ("data", the
    paper's convention; with it, Kriging Believer can repeat a point).
    """

    lie: Lie = field(default_factory=Believe)
    update: str = "auto"
    incumbent: str = "believed"

    def __post_init__(self) -> None:
        if isinstance(self.lie, type) or not callable(getattr(self.lie, "value", None)):
            raise InvalidInput(f'lie must be a lie, e.g. ConstantLie("min") or Believe(); got {self.lie!r}.')
        if self.update not in UPDATES:
            raise InvalidInput(f"update must be one of {', '.join(UPDATES)}; got {self.update!r}.")
        if self.incumbent not in INCUMBENTS:
            raise InvalidInput(f"incumbent must be one of {', '.join(INCUMBENTS)}; got {self.incumbent!r}.")

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """[paper] Algorithm 1, lines 2-8, after the pending points."""
        belief = self._resume(request, memory)
        for trial, x in zip(request.pending.ids[len(belief.ids) :], request.pending.X[len(belief.ids) :], strict=True):
            belief = self.believe(belief, request, trial, x)
        choices = []
        avoid = request.avoid
        for trial in request.ids:
            bound = self.objective(belief, request)
            picked = pick(bound, request, trial, best_places(request, belief.X, belief.y), avoid)
            choices.append(picked.choice(type(request.acquisition).__name__, self._after(belief)))
            avoid = taken(avoid, picked.x, request)
            belief = self.believe(belief, request, trial, picked.x)
        return Chosen(tuple(choices), belief)

    def _resume(self, request: Request, memory: object) -> Belief:
        """The belief of an earlier call, where it is about the same model and a prefix of the pending points."""
        if (
            isinstance(memory, Belief)
            and memory.strategy == self
            and memory.base is request.model
            and memory.ids == request.pending.ids[: len(memory.ids)]
            and np.array_equal(memory.X, request.pending.X[: len(memory.ids)])
        ):
            return memory
        return self.begin(request)

    def begin(self, request: Request) -> Belief:
        """The fitted model, before the first lie."""
        d = request.region.dim
        return Belief(self, request.model, request.model, (), frozen(np.zeros((0, d))), frozen(np.zeros(0)))

    def objective(self, belief: Belief, request: Request) -> Bound:
        """α(· | D'): what the next point maximizes."""
        return Bound(request.acquisition, belief.model, self._incumbent(belief, request))

    def believe(self, belief: Belief, request: Request, trial: int, x: Array) -> Belief:
        """[paper] Algorithm 1, lines 6-7 and 3: lie about ``x`` and update the model."""
        lie = self.lie.value(belief.model, x, request.data, request.sign, request.randomness(trial, "lie"))
        X, y = np.vstack([belief.X, x]), np.append(belief.y, lie)
        model = belief.model
        update = self.update
        if update == "auto":
            update = "condition" if isinstance(model, Conditionable) else "refit"
        if update == "condition":
            if not isinstance(model, Conditionable):
                raise MissingCapability(
                    f'{type(model).__name__} cannot be conditioned; use update="refit", or a surrogate that can (GP).'
                )
            model = model.condition(x[None, :], np.array([lie]))
        elif update == "refit":
            known = [request.data] if request.failed is None else [request.data, request.failed]
            model = request.surrogate.fit(
                np.vstack([*(part.X for part in known), X]),
                np.concatenate([*(part.y for part in known), y]),
                request.randomness(trial, "refit"),
                model,
            )
        return replace(belief, model=model, ids=(*belief.ids, trial), X=frozen(X), y=frozen(y))

    def _incumbent(self, belief: Belief, request: Request) -> float:
        """f⁺; with noise, the least posterior mean over evaluated and believed points."""
        data = request.data
        if self.incumbent == "data":
            return float(data.y.min())
        if isinstance(belief.model, Smoothing) and belief.model.is_noisy:
            return float(belief.model.predict(np.vstack([data.X, belief.X])).mean.min())
        return float(min(data.y.min(), belief.y.min(initial=np.inf)))

    def _after(self, belief: Belief) -> str:
        return f" after {self.lie.verb} {counted(len(belief.ids))}" if belief.ids else ""
