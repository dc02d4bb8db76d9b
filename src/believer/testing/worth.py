"""Laws of acquisition functions: finite values, correct gradients, and no randomness of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from believer.acquisitions import Acquisition, Several, View, objective_on
from believer.acquisitions.hypervolume import front_of, inferred_reference
from believer.arrays import Array
from believer.maximize import Objective
from believer.surrogates import GP
from believer.surrogates.data import Data
from believer.testing.contract import law, laws_in, require
from believer.testing.derivatives import require_slopes
from believer.testing.scenes import fitted, scene

_SCENE = scene(d=3, m=20)
_ROUNDING = 1e-8


def _objectives(acquisition: Acquisition, seed: int = 5) -> Iterator[Objective]:
    """On a Gaussian process; of several objectives on two of them, and on three."""
    X, y = _SCENE.X, _SCENE.y
    if not isinstance(acquisition, Several):
        yield objective_on(acquisition, View(fitted(GP(), _SCENE), float(y.min()), Data(X, y)))
        return
    Y = np.column_stack([y, 0.01 * (X[:, 0] - 0.8) ** 2, 1e3 * X[:, 1] * X[:, 2]])
    for k in (2, 3):
        models = tuple(fitted(GP(), replace(_SCENE, y=column)) for column in Y[:, :k].T)
        front, reference = front_of(Y[:, :k]), inferred_reference(front_of(Y[:, :k]), Y[:, :k])
        yield acquisition.of_several(models, front, reference, np.random.default_rng(seed))


def _values(objective: Objective, X: Array) -> Array:
    value = np.asarray(objective.value(X.copy()))
    require(value.shape == (len(X),), f"value has shape {value.shape} for {len(X)} points.")
    require(bool(np.isfinite(value).all()), f"{int((~np.isfinite(value)).sum())} of {len(X)} values are not finite.")
    return value


@law("Avoid logarithms of zero: return a number that a maximizer can compare for each point.")
def values_are_finite_one_for_each_point(acquisition: Acquisition) -> None:
    """At random points, at the corners, at and beside results."""
    X = np.vstack([_SCENE.at, np.zeros((1, 3)), np.ones((1, 3)), _SCENE.X, np.clip(_SCENE.X + 1e-4, 0.0, 1.0)])
    for objective in _objectives(acquisition):
        _values(objective, X)
        _values(objective, X[:1])


@law("Draw random numbers only from the given generator.")
def the_same_generator_gives_the_same_values(acquisition: Acquisition) -> None:
    """Made twice, and asked twice."""
    for one, two in zip(_objectives(acquisition), _objectives(acquisition), strict=True):
        found = [_values(objective, _SCENE.at) for objective in (one, two, one)]
        require(all(np.array_equal(found[0], other) for other in found), "the values differ the second time.")


@law("Check the derivatives by mean and std, or by x; if there are no gradients, has_gradient must be False.")
def gradients_are_the_slopes_of_values(acquisition: Acquisition) -> None:
    """Central differences at 20 random points in 3 dimensions; at least nine entries in ten agree."""
    for objective in _objectives(acquisition):
        if objective.has_gradient:
            value, gradient = objective.value_with_gradient(_SCENE.at.copy())
            require(np.shape(gradient) == _SCENE.at.shape, f"the gradient has shape {np.shape(gradient)}.")
            plain = _values(objective, _SCENE.at)
            same = np.allclose(value, plain, rtol=_ROUNDING, atol=_ROUNDING * float(np.abs(plain).max()))
            require(same, "value_with_gradient has other values than value.")
            require_slopes("the gradient", np.asarray(gradient), objective.value, _SCENE.at)


LAWS = laws_in(globals())
