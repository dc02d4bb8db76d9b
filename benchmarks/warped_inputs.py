"""A Gaussian process of warped inputs, to be tried beside the default: each column through Kumaraswamy's distribution.

w(x) = 1 - (1 - xᵃ)ᵇ, with log a and log b of each column N(0, STD²), at their best together with the hyperparameters:
in turns, a and b by L-BFGS-B with numerical gradients, the hyperparameters by a fit. Inputs stay as they are where that
is as likely, and where results are noisy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize

from believer.arrays import Array
from believer.surrogates import gp
from believer.surrogates.data import Data
from believer.surrogates.gp_fit import PRIORS, SEPARATE, SHARED
from believer.surrogates.gp_likelihood import log_likelihood
from believer.surrogates.protocols import JointPrediction, Model, Prediction, PredictionGradient

STD, FARTHEST, TURNS, NOISE = 0.5, 1.5, 2, 1e-6


@dataclass(frozen=True)
class WarpedInputsModel:
    """``process`` of w(x), with log a and log b (2, d); ``cost`` is -log p(a, b)."""

    process: gp.GPModel
    logs: Array
    cost: float

    def _warped(self, X: Array) -> Array:
        return warped(X, self.logs)

    def _of(self, process: gp.GPModel) -> Self:
        return type(self)(process, self.logs, self.cost)

    @property
    def lengthscales(self) -> Array:
        """Of the warped columns."""
        return self.process.lengthscales

    @property
    def is_noisy(self) -> bool:
        """As of the process; so are the methods below, at warped points."""
        return self.process.is_noisy

    @property
    def noise_std(self) -> float:
        return self.process.noise_std

    def predict(self, X: Array) -> Prediction:
        return self.process.predict(self._warped(X))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at, slope = self.process.predict_with_gradient(self._warped(X)), slopes(X, self.logs)
        return PredictionGradient(at.mean, at.std, at.mean_gradient * slope, at.std_gradient * slope)

    def joint(self, X: Array) -> JointPrediction:
        return self.process.joint(self._warped(X))

    def mean_at_data(self) -> Array:
        return self.process.mean_at_data()

    def condition(self, data: Data) -> Self:
        return self._of(self.process.condition(Data(self._warped(data.X), data.Y, data.noise, data.groups)))

    def with_lengthscales(self, lengthscales: Array) -> Self:
        return self._of(self.process.with_lengthscales(lengthscales))

    def log_evidence(self) -> float:
        return self.process.log_evidence() - self.cost


@dataclass(frozen=True)
class WarpedInputs:
    """The recipe."""

    prior: str = SHARED

    def suited(self, finite: bool) -> WarpedInputs:
        """With the prior of a study."""
        return WarpedInputs(SEPARATE if finite else SHARED)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> WarpedInputsModel:
        """The likelier of the model of the inputs as they are and of the one of warped inputs."""
        d, last = data.X.shape[1], previous if isinstance(previous, WarpedInputsModel) else None
        plain = gp.fit_gp(data, "matern52", "auto", rng, None if last is None else last.process, PRIORS[self.prior])
        unwarped = WarpedInputsModel(plain, np.zeros((2, d)), 0.0)
        if plain.is_noisy:
            return unwarped
        logs, process = unwarped.logs if last is None else last.logs, plain
        shift, scale = gp.standardization(data.y)
        y = (data.y - shift) / scale
        for _ in range(TURNS):
            theta = np.log([*process.hyper.lengthscales, process.hyper.signal])

            def nats(flat: Array, theta: Array = theta) -> float:
                X = warped(data.X, flat.reshape(2, d))
                found = log_likelihood("matern52", X, y, theta, NOISE, PRIORS[self.prior].mean_std)
                return 0.5 * float(flat @ flat) / STD**2 - found.value

            ends = minimize(
                nats, logs.ravel(), method="L-BFGS-B", bounds=[(-FARTHEST, FARTHEST)] * 2 * d, options={"maxiter": 8}
            )
            logs = ends.x.reshape(2, d)
            inputs = Data(warped(data.X, logs), data.Y, data.noise, data.groups)
            process = gp.fit_gp(inputs, "matern52", NOISE, rng, process, PRIORS[self.prior])
        found = WarpedInputsModel(process, logs, 0.5 * float(np.square(logs).sum()) / STD**2)
        return found if found.log_evidence() > plain.log_evidence() else unwarped

    def describe(self, model: WarpedInputsModel) -> dict[str, Any]:
        """Hyperparameters and the warp."""
        return {"process": model.process.hyper.to_config(), "logs": model.logs.tolist(), "cost": model.cost}

    def restore(self, data: Data, state: dict[str, Any]) -> WarpedInputsModel:
        """The model of ``data`` under them."""
        logs = np.array(state["logs"])
        inputs = Data(warped(data.X, logs), data.Y, data.noise, data.groups)
        return WarpedInputsModel(gp.GP().restore(inputs, state["process"]), logs, state["cost"])


def warped(X: Array, logs: Array) -> Array:
    """w at ``X`` (m, d)."""
    a, b = np.exp(logs)
    w: Array = 1.0 - (1.0 - np.clip(X, 1e-6, 1.0 - 1e-6) ** a) ** b
    return w


def slopes(X: Array, logs: Array) -> Array:
    """w' at ``X`` (m, d)."""
    (a, b), X = np.exp(logs), np.clip(X, 1e-6, 1.0 - 1e-6)
    slope: Array = a * b * X ** (a - 1.0) * (1.0 - X**a) ** (b - 1.0)
    return slope
