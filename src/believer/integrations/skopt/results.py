"""What a run of scikit-optimize returns, and where the model of a result is least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.arrays import Array
from believer.capabilities import able
from believer.integrations.skopt.dimensions import check_random_state
from believer.integrations.skopt.refusals import InvalidInput
from believer.integrations.skopt.space import Point
from believer.plugins import Differentiable, Model, Search, maximizer_for

__all__ = ["OptimizeResult", "create_result", "expected_minimum", "expected_minimum_random_sampling"]


def create_result(
    Xi: list[Point], yi: Any, space: Any = None, rng: Any = None, specs: Any = None, models: Any = None
) -> OptimizeResult:
    """The result of evaluations so far.

    Parameters
    ----------
    Xi, yi : the points and their values; the best is the least that is a number.
    space, rng, specs, models : kept with them.
    """
    y = np.asarray(yi)
    best = int(np.argmin(np.where(np.isfinite(y), y, np.inf)))
    kept = {"models": models, "space": space, "random_state": rng, "specs": specs}
    return OptimizeResult(x=Xi[best], fun=y[best], func_vals=y, x_iters=list(Xi), **kept)


def expected_minimum(res: OptimizeResult, n_random_starts: int = 20, random_state: Any = None) -> tuple[Point, float]:
    """Where the last model of a result is least, in any kind of space, and what it expects there.

    Parameters
    ----------
    res : the result.
    n_random_starts : plays no part: how hard to search is the engine's business.
    random_state : of the candidates of the search.
    """
    learned, space = last_model(res).learned(), res.space.engine()
    objective, seed = _Least(learned.model), check_random_state(random_state).randint(2**31 - 1)
    search = Search(space.region(), learned.data.X[[np.argmin(learned.data.y)]], learned.data.X[:0])
    x = maximizer_for(objective, None).maximize(objective, search, np.random.default_rng(seed)).x[None, :]
    return res.space.point(space.decode(x)[0]), float(learned.predict(x).mean[0])


def expected_minimum_random_sampling(
    res: OptimizeResult, n_random_starts: int = 100000, random_state: Any = None
) -> tuple[Point, float]:
    """The best of random points, by the last model of a result.

    Parameters
    ----------
    res : the result.
    n_random_starts : how many points.
    random_state : that they are drawn with.
    """
    points = res.space.rvs(n_random_starts, random_state=random_state)
    expected = last_model(res).predict(res.space.transform(points))
    return points[int(np.argmin(expected))], float(expected.min())


def last_model(res: OptimizeResult) -> Any:
    """The last model of a result."""
    if not res.models:
        raise InvalidInput("this result has no model: there were initial points only, or it is a random search's.")
    return res.models[-1]


@dataclass(frozen=True, slots=True, eq=False)
class _Least:
    """-μ: what is largest where the model is least."""

    model: Model

    @property
    def has_gradient(self) -> bool:
        return able(self.model, Differentiable)

    def value(self, X: Array) -> Array:
        return -self.model.predict(X).mean

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        assert able(self.model, Differentiable)
        at = self.model.predict_with_gradient(X)
        return -at.mean, -at.mean_gradient
