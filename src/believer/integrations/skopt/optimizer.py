"""scikit-optimize's ``Optimizer``: its calls and their meaning, on the engine of this library.

Results are kept here, and what to ask for is a pure function of them (:func:`~believer.propose.propose`): so an ask
that is not followed by a tell is answered in the same way again, and nothing is ever pending, as there.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from numbers import Number
from typing import Any, Self

import numpy as np
from scipy.optimize import OptimizeResult

from believer.arrays import shown
from believer.errors import SpaceExhausted
from believer.integrations.skopt.dimensions import check_random_state
from believer.integrations.skopt.estimators import (
    STRATEGIES,
    Model,
    acquisition,
    cook_estimator,
    has_gradients,
    history_of,
    maximizer,
    seed_from,
)
from believer.integrations.skopt.refusals import InvalidInput, InvalidKind, OutOfOrder
from believer.integrations.skopt.results import create_result
from believer.integrations.skopt.sampler import cook_initial_point_generator
from believer.integrations.skopt.space import Categorical, Point, Space
from believer.plugins import Fitted, History, ModelCache, make_settings, propose
from believer.surrogates import GP

__all__ = ["Optimizer"]


class Optimizer:
    """Ask for points, tell what they returned; to be minimized.

    ``Xi`` and ``yi`` are what was told, ``models`` those after each tell that followed the initial points.

    Parameters
    ----------
    dimensions : of the search space, each as for :func:`~believer.integrations.skopt.space.check_dimension`.
    base_estimator : "GP", "RF", "ET", "GBRT", "dummy", or a scikit-learn regressor.
    n_random_starts : the former name of ``n_initial_points``.
    n_initial_points : results before the model takes over.
    initial_point_generator : "random", "lhs", "sobol", "halton", "hammersly" or "grid".
    acq_func : "EI", "PI", "LCB"; "gp_hedge" leaves the choice to this library, which takes its LogEI.
    acq_optimizer : "lbfgs", "sampling", or "auto".
    random_state : a seed or a RandomState; initial points are those of scikit-optimize.
    model_queue_size : how many models to keep; None for all.
    space_constraint : says of a point, a list, whether it is allowed.
    acq_func_kwargs : ``xi`` of EI and PI, ``kappa`` of LCB.
    avoid_duplicates : no point is asked for twice, where the space has others.
    n_jobs, acq_optimizer_kwargs : play no part.
    """

    def __init__(
        self,
        dimensions: Any,
        base_estimator: Any = "gp",
        n_random_starts: int | None = None,
        n_initial_points: int = 10,
        initial_point_generator: Any = "random",
        n_jobs: int = 1,
        acq_func: str = "gp_hedge",
        acq_optimizer: str = "auto",
        random_state: Any = None,
        model_queue_size: int | None = None,
        space_constraint: Callable[[Point], bool] | None = None,
        acq_func_kwargs: dict[str, Any] | None = None,
        acq_optimizer_kwargs: dict[str, Any] | None = None,
        avoid_duplicates: bool = True,
    ) -> None:
        self.specs = {"args": {k: v for k, v in locals().items() if k != "self"}, "function": "Optimizer"}
        self.rng, self.acq_func, self.avoid_duplicates = check_random_state(random_state), acq_func, avoid_duplicates
        worth = acquisition(acq_func, acq_func_kwargs or {})
        if n_random_starts is not None:
            warnings.warn("n_random_starts is now called n_initial_points.", DeprecationWarning, stacklevel=2)
            n_initial_points = n_random_starts
        if n_initial_points < 0:
            raise InvalidInput(f"n_initial_points must be zero or more; got {n_initial_points}.")
        self.n_initial_points_ = self._n_initial_points = n_initial_points
        seed = seed_from(self.rng if isinstance(base_estimator, str) else copy.deepcopy(self.rng))
        self.base_estimator_ = None if base_estimator is None else cook_estimator(base_estimator)
        search = maximizer(acq_optimizer, has_gradients(self.base_estimator_), space_constraint is not None)
        if space_constraint is not None and not callable(space_constraint):
            raise InvalidInput(
                f"space_constraint must be a function of a point or None; got {shown(space_constraint)}."
            )
        self.space = Space(dimensions, constraint=space_constraint)
        if isinstance(self.base_estimator_, GP):
            each = ["onehot" if isinstance(dim, Categorical) else "normalize" for dim in self.space]
            self.space.set_transformer(each)
        generator = cook_initial_point_generator(initial_point_generator)
        self._initial_samples = None
        if generator is not None:
            self._initial_samples = generator.generate(
                self.space.dimensions, n_initial_points, random_state=seed_from(self.rng)
            )
        if not isinstance(model_queue_size, int | None):
            raise InvalidKind(f"model_queue_size must be a whole number or None; got {shown(model_queue_size)}.")
        self.max_model_queue_size = model_queue_size
        self._settings = make_settings(self.space.engine(), self.base_estimator_, worth, STRATEGIES[0], search, 1, seed)
        self.models: list[Model] = []
        self.Xi: list[Point] = []
        self.yi: list[Any] = []
        self.cache_: dict[tuple[int, str], list[Point]] = {}
        self._cache = ModelCache(self._settings)
        self._fitted: Fitted | None = None
        self._history: History | None = None
        self._next_x: Point | None = None

    def copy(self, random_state: Any = None) -> Self:
        """Another optimizer that was told the same, with its own ``random_state``."""
        other = copy.copy(self)
        other.rng, other.cache_ = check_random_state(random_state), {}
        other.Xi, other.yi, other.models = list(self.Xi), list(self.yi), list(self.models)
        return other

    def ask(self, n_points: int | None = None, strategy: str = "cl_min") -> list[Any]:
        """The next point; the same again until something is told, but for random initial points.

        Parameters
        ----------
        n_points : None for one point, a number for a list of so many.
        strategy : the lie about points of the list that came before: "cl_min", "cl_mean" or "cl_max".
        """
        if n_points is None:
            return self._ask()
        if not isinstance(n_points, int) or n_points <= 0:
            raise InvalidInput(f"n_points must be a whole number above zero; got {shown(n_points)}.")
        if strategy not in STRATEGIES:
            raise InvalidInput(f"strategy must be one of {', '.join(STRATEGIES)}; got {shown(strategy)}.")
        if (n_points, strategy) not in self.cache_:
            self.cache_ = {(n_points, strategy): self._batch(n_points, strategy)}
        return self.cache_[n_points, strategy]

    def _ask(self) -> Point:
        if self._n_initial_points > 0 or self.base_estimator_ is None:
            return self._initial(self.rng, 0)
        if self._next_x is None:
            self._next_x = self._proposed(self._learned(), 1, "cl_min")[0]
        return self._next_x

    def _batch(self, n: int, lie: str) -> list[Point]:
        """Initial points while there are any; then points that are good together, and with these."""
        rng = np.random.RandomState(seed_from(self.rng))
        first = n if self.base_estimator_ is None else max(0, min(n, self._n_initial_points))
        points = [self._initial(rng, i) for i in range(first)]
        if first == n:
            return points
        known = (self._settings, self.space, self.Xi, self.yi, self._fitted)
        return points + self._proposed(history_of(*known, points) if points else self._learned(), n - first, lie)

    def _learned(self) -> History:
        """What the model has learnt from."""
        if self._history is None:
            raise OutOfOrder("there are no initial points to ask for, and no model yet: tell a result, with fit=True.")
        return self._history

    def _initial(self, rng: np.random.RandomState, ahead: int) -> Point:
        """The initial point that comes next, or so many ``ahead``."""
        if self._initial_samples is None:
            return self.space.rvs(random_state=rng)[0]
        return self._initial_samples[len(self._initial_samples) - self._n_initial_points + ahead]

    def _proposed(self, history: History, q: int, lie: str) -> list[Point]:
        """q points of the engine's; random ones where the space has no more that are new."""
        distinct = bool(self.avoid_duplicates)
        try:
            proposal = propose(self._settings, history, q, strategy=lie, distinct=distinct, cache=self._cache)
        except SpaceExhausted as error:
            warnings.warn("all points of the space were evaluated before; going on with random ones.", stacklevel=4)
            new = self._proposed(history, error.left, lie) if error.left else []
            return new + self.space.rvs(q - len(new), random_state=self.rng)
        if proposal.model is not None:
            self._fitted = (history.ids, proposal.model)
        return [self.space.point(trial.params) for trial in proposal.batch]

    def tell(self, x: Any, y: Any, fit: bool = True) -> OptimizeResult:
        """Results of points, asked for or not; returns all results so far.

        Parameters
        ----------
        x : a point, or a list of points.
        y : its value, or a list of values. NaN and infinities are failed evaluations.
        fit : learn from all results; False leaves the model, and so the next point, as they are.
        """
        check_x_in_space(x, self.space)
        points, values = _told(x, y)
        self.Xi += points
        self.yi += values
        self._n_initial_points -= len(points)
        self.cache_ = {}
        if fit and self._n_initial_points <= 0 and self.base_estimator_ is not None:
            self._history = history_of(self._settings, self.space, self.Xi, self.yi, self._fitted)
            self._next_x = None
            new = [Model(self.space, self._history, self._cache)] if self._history.ids else []
            self.models = [*self.models, *new][-(self.max_model_queue_size or 0) :]
        return self.get_result()

    def run(self, func: Callable[[Point], float], n_iter: int = 1) -> OptimizeResult:
        """Ask for a point and tell what ``func`` makes of it, ``n_iter`` times."""
        for _ in range(n_iter):
            x = self.ask()
            self.tell(x, func(x))
        return self.get_result()

    def update_next(self) -> None:
        """Make up the next point anew."""
        self.cache_, self._next_x = {}, None

    def get_result(self) -> OptimizeResult:
        """All results so far."""
        return create_result(self.Xi, self.yi, self.space, self.rng, self.specs, self.models)


def check_x_in_space(x: Any, space: Space) -> None:
    """InvalidInput for a point, or one of a list of points, that is not of the ``space``."""
    for point in x if _are_points(x) else [x] if isinstance(x, list | tuple) else []:
        if point not in space:
            raise InvalidInput(f"a point must lie within the bounds of the space, {space.bounds}; got {shown(point)}.")
        if len(point) != space.n_dims:
            raise InvalidInput(f"a point must have {space.n_dims} values; got {shown(point)}.")


def _are_points(x: Any) -> bool:
    return all(isinstance(point, list | tuple) for point in x)


def _told(x: Any, y: Any) -> tuple[list[Point], list[Any]]:
    """Points and their values; InvalidInput where they do not go together."""
    if isinstance(y, list | tuple) and _are_points(x):
        points, values = list(x), list(y)
    elif isinstance(x, list | tuple) and not (x and _are_points(x)):
        points, values = [x], [y]
    else:
        raise InvalidInput(f"x is a point and y a number, or both are lists; got {shown(x)} and {shown(y)}.")
    if len(points) != len(values) or not all(isinstance(value, Number) for value in values):
        raise InvalidInput(f"each point needs a number as its value; got {len(points)} points and {shown(y)}.")
    return points, values
