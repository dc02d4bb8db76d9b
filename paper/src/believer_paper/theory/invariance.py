"""Does believing leave the mean unchanged? [paper] Lemma 1, and three ways to break it.

======  =====================================================  ======
symbol  meaning                                                shape
======  =====================================================  ======
x*, ỹ   the point, and the believed value ỹ = μ(x*)            (d,)
Δμ      mean after the lie less mean before it                 (m,)
======  =====================================================  ======

Conditioning at frozen hyperparameters: Δμ = w (ỹ - μ(x*)) = 0 exactly. It takes a model whose mean makes a sum of
squared residuals and a penalty stationary, for then a believed value adds a residual of zero: Gaussian processes, ridge
regression on any features, radial basis functions. A mean that is affine in y is not enough: that of the nearest
neighbor is, and a believed point takes over its neighborhood. It breaks, too, when the lie also changes

- the *standardization* of y: the prior mean moves to the average of data and lie, and σ is rescaled (it may rise),
- the *hyperparameters*: a refit sees one more perfectly fitting point,

and where the believed value is not one of residual zero: a process on log y believes exp(μ + σ²/2), whose logarithm is
not its mean μ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, finite
from believer.batch import Data
from believer.errors import MissingCapability
from believer.plugins import Conditionable, Prediction
from believer.surrogates import GP, GPModel, posterior, standardization
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.theory import arguments
from believer_paper.theory.arguments import GaussianProcess
from believer_paper.theory.rank_one import conditioned


@dataclass(frozen=True, slots=True, eq=False)
class Believed:
    """Predictions at m points before a believed value, and after three ways to update the model with it."""

    before: Prediction
    conditioned: Prediction
    restandardized: Prediction
    refitted: Prediction
    spread: float
    """max y - min y of the real results"""

    @property
    def ways(self) -> dict[str, Prediction]:
        """The predictions after the update, by way."""
        return {"condition": self.conditioned, "restandardize": self.restandardized, "refit": self.refitted}

    @property
    def shifts(self) -> dict[str, float]:
        """max |Δμ| / (max y - min y) of each way; NaN where all results are the same."""
        spread = self.spread if self.spread > 0.0 else np.nan
        return {name: float(np.abs(way.mean - self.before.mean).max()) / spread for name, way in self.ways.items()}

    @property
    def rises(self) -> dict[str, float]:
        """The largest relative rise of σ for each way; it is at most rounding if σ never rises."""
        return {name: float((way.std / self.before.std - 1.0).max()) for name, way in self.ways.items()}


def mean_shift(model: Conditionable, x: Array, at: Array) -> Array:
    """Δμ (m,) at ``at`` (m, d) when ``model`` is conditioned on what it predicts at ``x`` (d,): zero by Lemma 1."""
    arguments.conditionable(model)
    x, at = arguments.place(model, x, at)
    believed = float(model.predict(x[None, :]).mean[0])
    shift: Array = conditioned(model, x, believed, at).mean - model.predict(at).mean
    return shift


def restandardized(model: GaussianProcess, data: Data, x: Array, lie: float) -> GPModel:
    """The model of data and lie with the same hyperparameters and y standardized again, as at every fit."""
    hyper = arguments.process(model).hyper
    x = arguments.point(x, arguments.columns(model))
    data = arguments.results(data, len(x))
    X, y = np.vstack([data.X, x[None, :]]), np.append(data.y, finite(lie, "lie"))
    return posterior(hyper, X, y, *standardization(y))


def believe(recipe: GP | PrintedGP, data: Data, x: Array, at: Array, rng: np.random.Generator) -> Believed:
    """Fit ``recipe`` to ``data``, believe its mean at ``x`` (d,), and compare predictions at ``at`` (m, d), m >= 1."""
    if not isinstance(recipe, GP | PrintedGP):
        raise MissingCapability(f"this compares ways to update GP, the exact process; got {type(recipe).__name__}.")
    x = arguments.point(x, None)
    data, at = arguments.results(data, len(x)), arguments.points(at, len(x), least=1)
    model = recipe.fit(data, rng)
    lie = float(model.predict(x[None, :]).mean[0])
    again = recipe.fit(Data(np.vstack([data.X, x[None, :]]), np.append(data.y, lie)), rng, model)
    return Believed(
        before=model.predict(at),
        conditioned=conditioned(model, x, lie, at),
        restandardized=restandardized(model, data, x, lie).predict(at),
        refitted=again.predict(at),
        spread=float(np.ptp(data.y)),
    )
