"""Laws of models with gradients: :class:`~believer.surrogates.protocols.Differentiable`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from believer.arrays import Array
from believer.surrogates.data import Data
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Model,
    Prediction,
    PredictionGradient,
    Surrogate,
)
from believer.testing.contract import Breach, law, laws_in, require
from believer.testing.scenes import Scene, fitted, predicted, require_close, scene

_ROUNDING = 1e-8

# Short steps avoid the kinks of a network of rectifiers; long ones outweigh the rounding of a small variance.
_STEPS = (1e-5, 1e-4, 1e-3)

_AGREEMENT = 1e-4

# A difference across a kink is no slope, but few of 60 entries can meet one at every step.
_ENOUGH = 0.9


def _with_gradient(model: Model, X: Array) -> PredictionGradient:
    """The prediction with gradients at ``X`` (m, d); Breach unless the gradients have the shape (m, d)."""
    if not isinstance(model, Differentiable):
        raise Breach(f"{type(model).__name__} has no predict_with_gradient, though another fit of this surrogate had.")
    at = model.predict_with_gradient(X.copy())
    for name, found in (("mean_gradient", at.mean_gradient), ("std_gradient", at.std_gradient)):
        require(np.shape(found) == X.shape, f"{name} has shape {np.shape(found)} for points of shape {X.shape}.")
    return at


def _models(surrogate: Surrogate, data: Scene) -> list[Model]:
    """A fitted model, and a conditioned one if possible."""
    model = fitted(surrogate, data)
    if isinstance(model, Conditionable):
        return [model, model.condition(Data(scene(data.X.shape[1], m=2, seed=3).at, data.y[[0, -1]]))]
    return [model]


def _slopes(f: Callable[[Array], Array], X: Array, step: float) -> Array:
    """Fourth-order central differences (m, d) of ``f: (k, d) -> (k,)`` at ``X`` (m, d)."""
    m, d = X.shape
    E = step * np.eye(d)
    near, far = (
        (f((X[:, None, :] + k * E).reshape(-1, d)) - f((X[:, None, :] - k * E).reshape(-1, d))).reshape(m, d)
        for k in (1.0, 2.0)
    )
    slope: Array = (8.0 * near - far) / (12.0 * step)
    return slope


def require_slopes(name: str, gradient: Array, f: Callable[[Array], Array], X: Array) -> None:
    """Breach unless nearly all entries agree, at one step at least, to 1e-4 of themselves and of their typical size."""
    tried = np.array([_slopes(f, X, step) for step in _STEPS])
    size = np.abs(tried) + np.median(np.abs(tried), axis=(1, 2), keepdims=True) + np.finfo(np.float64).tiny
    off = (np.abs(gradient - tried) / size).min(axis=0)
    wrong = ~(off <= _AGREEMENT)
    i, j = np.unravel_index(int(np.argmax(off)), off.shape)
    require(
        bool(wrong.mean() <= 1.0 - _ENOUGH),
        f"{name} differs from central differences in {int(wrong.sum())} of {wrong.size} entries; column {j} of point "
        f"{i} is {float(gradient[i, j]):.6g}, the slope there {float(tried[1, i, j]):.6g}.",
    )


@law("Compute mean and std in predict_with_gradient by the formulas of predict.", Differentiable)
def values_that_come_with_gradients_are_the_predictions(surrogate: Surrogate) -> None:
    """Of a fitted and of a conditioned model, at the data too."""
    for d in (1, 6):
        data = scene(d)
        X = np.vstack([data.at, data.X])
        for model in _models(surrogate, data):
            at = _with_gradient(model, X)
            values = Prediction(np.asarray(at.mean), np.asarray(at.std))
            require_close(predicted(model, X), values, data.spread, _ROUNDING, "from predict_with_gradient")


@law(
    "Check d mean/dx and d std/dx, with the scaling of y; d std/dx = (d variance/dx) / (2 std).",
    Differentiable,
)
def gradients_are_the_slopes_of_predict(surrogate: Surrogate) -> None:
    """Central differences at 20 random points in 3 dimensions; at least nine entries in ten agree."""
    data = scene(d=3, m=20)
    for model in _models(surrogate, data):
        at = _with_gradient(model, data.at)

        def mean(X: Array, model: Model = model) -> Array:
            return model.predict(X).mean

        def std(X: Array, model: Model = model) -> Array:
            return model.predict(X).std

        require_slopes("mean_gradient", np.asarray(at.mean_gradient), mean, data.at)
        require_slopes("std_gradient", np.asarray(at.std_gradient), std, data.at)


@law("Handle distance zero and a std near zero: climbs start close to the best data.", Differentiable)
def gradients_are_finite_at_the_data_and_the_corners(surrogate: Surrogate) -> None:
    """At every data point, every lie and two corners, in 1 and 6 dimensions; after a single observation too."""
    for d in (1, 6):
        for n in (1, 12):
            data = scene(d, n)
            X = np.vstack([data.X, scene(d, m=2, seed=3).at, np.zeros((1, d)), np.ones((1, d))])
            for model in _models(surrogate, data):
                at = _with_gradient(model, X)
                for name, found in (("mean_gradient", at.mean_gradient), ("std_gradient", at.std_gradient)):
                    bad = ~np.isfinite(found).all(axis=1)
                    require(
                        not bad.any(), f"{name} is not finite at {int(bad.sum())} of {len(X)} points: {X[bad][:1]}."
                    )


LAWS = laws_in(globals())
