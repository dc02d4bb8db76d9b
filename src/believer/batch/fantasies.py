"""An acquisition function averaged over fantasies: many posterior samples of the results of pending points.

======  ==========================================================  ======
symbol  meaning                                                     shape
======  ==========================================================  ======
S, p    fantasies, and points that were fantasized about
ỹ_s     values of fantasy s, each drawn given those before it       (p,)
f⁺_s    incumbent over real results and ỹ_s
α_s     acquisition on the model conditioned on ỹ_s, with f⁺_s     (m,)
w_s     share of α_s in the average, ∂α/∂α_s                        (m,)
======  ==========================================================  ======

The average estimates α(x) = E_ỹ[α(x | D, ỹ)] ([Snoek2012] section 3.3). Fantasies are fixed while a point is searched
for, so that α is as smooth as the acquisition function itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from believer.acquisitions import PointwiseAcquisition, View, completed, objective_on
from believer.arrays import Array, frozen
from believer.batch.belief import CONDITIONED, updated
from believer.batch.best_so_far import BestSoFar, best_among, learned_by
from believer.batch.learned import Part, is_noisy
from believer.batch.request import Request
from believer.batch.worth import Worth, in_logarithms
from believer.capabilities import has
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Fantasies,
    Fantasizing,
    FantasyGradient,
    Model,
    Prediction,
)

if TYPE_CHECKING:
    from believer.batch.pseudo import PseudoObservations


@dataclass(frozen=True, slots=True, eq=False)
class Separate:
    """A model for each of S fantasies, or one model for all if the update is "none"."""

    models: tuple[Model, ...]

    def of_each(self, samples: int) -> tuple[Model, ...]:
        """The model of each of the ``samples`` fantasies."""
        return self.models * (samples // len(self.models))

    def predict(self, X: Array) -> Prediction:
        """Means and stds (S, m), or (1, m), at ``X`` (m, d)."""
        at = [model.predict(X) for model in self.models]
        return Prediction(np.stack([a.mean for a in at]), np.stack([a.std for a in at]))

    def predict_with_gradient(self, X: Array) -> FantasyGradient:
        """The same, and a function that maps derivatives by them to derivatives by ``X`` (m, d)."""
        at = [cast(Differentiable, model).predict_with_gradient(X) for model in self.models]
        mean_gradient, std_gradient = np.stack([a.mean_gradient for a in at]), np.stack([a.std_gradient for a in at])

        def pull(by_mean: Array, by_std: Array) -> Array:
            gradient: Array = (by_mean[:, :, None] * mean_gradient + by_std[:, :, None] * std_gradient).sum(axis=0)
            return gradient

        return FantasyGradient(np.stack([a.mean for a in at]), np.stack([a.std for a in at]), pull)


@dataclass(frozen=True, slots=True, eq=False)
class Averaged:
    """α: an acquisition function averaged over the models of fantasies; ``incumbents`` (S,) has f⁺_s for each."""

    acquisition: PointwiseAcquisition
    models: Fantasies | Separate
    incumbents: Array

    @property
    def has_gradient(self) -> bool:
        """Whether all models give gradients."""
        models = self.models
        return not isinstance(models, Separate) or all(has(model, Differentiable) for model in models.models)

    def value(self, X: Array) -> Array:
        """α (m,) at ``X`` (m, d)."""
        at = self.models.predict(X)
        return self.acquisition.average(self.acquisition.over(at.mean, at.std, self.incumbents).value)[0]

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """α (m,) and ∂α/∂x = Σ_s w_s ∂α_s/∂x (m, d) at ``X`` (m, d)."""
        at = self.models.predict_with_gradient(X)
        alphas = self.acquisition.over(at.mean, at.std, self.incumbents)
        value, weights = self.acquisition.average(alphas.value)
        return value, at.pull(weights * alphas.by_mean, weights * alphas.by_std)


@dataclass(frozen=True, slots=True, eq=False)
class Fantasized:
    """Models with the fantasies that they are conditioned on: trial ``ids``, points (p, d) and values Y (S, p)."""

    strategy: PseudoObservations
    base: Model
    models: Fantasies | Separate
    ids: tuple[int, ...]
    X: Array
    Y: Array

    @property
    def y(self) -> Array:
        """The expected values of the points (p,): the mean over fantasies."""
        expected: Array = self.Y.mean(axis=0)
        return expected

    def best_so_far(self, request: Request) -> BestSoFar:
        """The incumbent and the Pareto front, if every pending point returns its expected value."""
        part = Part(request.outputs[0], self.base, self.ids, self.X, self.y)
        return best_among([part], request.surrogate)

    def worth(self, request: Request, here: BestSoFar, trial: int) -> Worth:
        """α: the objective that the point of ``trial`` maximizes."""
        incumbents, name = self._incumbents(request), type(request.acquisition).__name__
        acquisition, is_scaled = request.acquisition, False
        if request.likely is not None:
            acquisition, is_scaled = in_logarithms(acquisition)
        if not self.ids:
            view = View(self.base, float(incumbents[0]), request.data)
            return Worth(objective_on(acquisition, view), name, is_scaled)
        return Worth(Averaged(completed(acquisition), self.models, incumbents), name, is_scaled)

    def with_lies(self, request: Request) -> Fantasized:
        """The fantasies, extended by those of all pending points that are new."""
        conditioned, pending = self, request.pending
        for trial, x in zip(pending.ids[len(self.ids) :], pending.X[len(self.ids) :], strict=True):
            conditioned = conditioned.with_lie(request, trial, x)
        return conditioned

    def with_lie(self, request: Request, trial: int, x: Array) -> Fantasized:
        """[paper] Algorithm 1, lines 6-7 and 3, for each fantasy: draw a value of ``x`` and update the model."""
        X, rng = np.vstack([self.X, x]), request.randomness(trial, "lie")
        models, update = self.models, self.strategy.update
        if isinstance(models, Separate):
            each = models.of_each(len(self.Y))
            drawn = [self.strategy.lie.value(model, x, request.data, request.sign, rng) for model in each]
            Y = np.column_stack([self.Y, drawn])
            if update != "none":
                pairs = zip(each, Y, strict=True)
                models = Separate(tuple(updated(model, update, request, 0, trial, X, y) for model, y in pairs))
        else:
            models, values = models.fantasize(x, rng)
            Y = np.column_stack([self.Y, values])
        return replace(self, models=models, ids=(*self.ids, trial), X=frozen(X), Y=frozen(Y))

    def _incumbents(self, request: Request) -> Array:
        """f⁺ (S,)."""
        data, models = request.data, self.models
        if self.strategy.incumbent == "data":
            return np.full(len(self.Y), data.y.min())
        if isinstance(models, Separate):
            pairs = zip(models.of_each(len(self.Y)), self.Y, strict=True)
            parts = [Part(request.outputs[0], model, self.ids, self.X, y) for model, y in pairs]
            return np.array([best_among([part], request.surrogate).incumbent for part in parts])
        known = np.column_stack([np.tile(data.y, (len(self.Y), 1)), self.Y])
        if is_noisy(self.base):
            rows = learned_by(request.surrogate, data)
            known = models.predict(np.vstack([data.X if rows is None else data.X[rows], self.X])).mean
        least: Array = known.min(axis=1)
        return least


def resumed(strategy: PseudoObservations, samples: int, request: Request, memory: object) -> Fantasized:
    """The fantasies of an earlier call, if they have the same model and the first of the pending points.

    Otherwise ``samples`` fantasies of the fitted model, before the first value is drawn.
    """
    model, pending = request.model, request.pending
    if (
        isinstance(memory, Fantasized)
        and memory.strategy == strategy
        and memory.base is model
        and memory.ids == pending.ids[: len(memory.ids)]
        and np.array_equal(memory.X, pending.X[: len(memory.ids)])
    ):
        return memory
    models: Fantasies | Separate = Separate((model,))
    if has(model, Fantasizing) and has(model, Conditionable) and strategy.update in CONDITIONED:
        models = model.fantasies(samples)
    nothing = frozen(np.zeros((0, request.region.dim)))
    return Fantasized(strategy, model, models, (), nothing, frozen(np.zeros((samples, 0))))
