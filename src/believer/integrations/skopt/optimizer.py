"""scikit-optimize's ``Optimizer`` and minimizers: its calls and their meaning, on the engine of this library.

Results are kept here, and what to ask for is a pure function of them (:func:`~believer.propose.propose`): so an ask
that is not followed by a tell is answered in the same way again, and nothing is ever pending, as there.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.acquisitions import PI, UCB, LogEI
from believer.arrays import shown, whole
from believer.errors import InvalidInput, SpaceExhausted
from believer.integrations.skopt.callbacks import VerboseCallback
from believer.integrations.skopt.space import Categorical, OutOfOrder, Point, Space, check_random_state, one_of
from believer.integrations.skopt.utils import Model, cook_initial_point_generator, create_result, history_of
from believer.maximize import Candidates
from believer.plugins import Fitted, History, ModelCache, make_settings, propose
from believer.surrogates import GP, RandomForest, SklearnSurrogate


class Optimizer:
    """Ask for points, tell what they returned; to be minimized.

    ``Xi`` and ``yi`` are what was told, ``models`` those after each tell that followed the initial points.

    Parameters
    ----------
    dimensions : of the search space, each as for :func:`~believer.integrations.skopt.space.check_dimension`.
    base_estimator : "GP", "RF", "ET", "dummy", a scikit-learn regressor, or a surrogate of this library.
    n_initial_points, initial_point_generator : how many results come before the model takes over, and from where:
        "random", as in scikit-optimize; "lhs", "grid": Latin; "sobol", "halton", "hammersly": Sobol's.
    acq_func, acq_func_kwargs : "EI" or "PI" with ``xi``, "LCB" with ``kappa``; "gp_hedge" is this library's LogEI.
    acq_optimizer, random_state : "lbfgs", "sampling" or "auto"; a seed or a RandomState.
    acq_optimizer_kwargs, n_jobs, model_queue_size : play no part: what a search costs is the engine's business.
    """

    def __init__(
        self,
        dimensions: Any,
        base_estimator: Any = "gp",
        *,
        n_initial_points: int = 10,
        initial_point_generator: Any = "random",
        acq_func: str = "gp_hedge",
        acq_optimizer: str = "auto",
        random_state: Any = None,
        acq_func_kwargs: dict[str, Any] | None = None,
        acq_optimizer_kwargs: dict[str, Any] | None = None,
        n_jobs: int = 1,
        model_queue_size: int | None = None,
    ) -> None:
        self.specs = {"args": {k: v for k, v in locals().items() if k != "self"}, "function": "Optimizer"}
        self.rng, given = check_random_state(random_state), {"xi": 0.01, "kappa": 1.96, **(acq_func_kwargs or {})}
        worths = {"gp_hedge": LogEI(), "EI": LogEI(given["xi"]), "PI": PI(given["xi"]), "LCB": UCB(given["kappa"] ** 2)}
        worth = worths[one_of(acq_func, worths, "acq_func")]
        self._n_initial_points = whole(n_initial_points, "n_initial_points", 0)
        seed = seed_from(self.rng if isinstance(base_estimator, str) else copy.deepcopy(self.rng))
        self.base_estimator_ = _surrogate(base_estimator)
        climbs = self.base_estimator_ is not None and not isinstance(self.base_estimator_, RandomForest)
        if one_of(acq_optimizer, ("auto", "sampling", "lbfgs"), "acq_optimizer") == "lbfgs" and not climbs:
            raise InvalidInput("this estimator has no gradients: it needs acq_optimizer='sampling'.")
        search = Candidates() if acq_optimizer == "sampling" and climbs else None
        self.space = Space(dimensions)
        for dim in self.space if isinstance(self.base_estimator_, GP) else ():
            dim.transform = "onehot" if isinstance(dim, Categorical) else "normalize"
        generate = cook_initial_point_generator(initial_point_generator)
        self._initial_points = generate(self.space, n_initial_points, seed_from(self.rng)) if generate else []
        self._settings = make_settings(self.space.engine, self.base_estimator_, worth, "cl_min", search, 1, seed)
        self.models, self.Xi, self.yi = list[Model](), list[Point](), list[Any]()
        self._asked: dict[tuple[int, str], list[Point]] = {}
        self._cache = ModelCache(self._settings)
        self._fitted: Fitted | None = None
        self._history: History | None = None

    def ask(self, n_points: int | None = None, strategy: str = "cl_min") -> list[Any]:
        """The next point, or a list of ``n_points``; the same again until something is told, but for random ones.

        ``strategy`` is the lie about points of the list that came before: "cl_min", "cl_mean" or "cl_max".
        """
        if n_points is None and (self._n_initial_points > 0 or self.base_estimator_ is None):
            return self._initial(1, self.rng)[0]
        n = whole(1 if n_points is None else n_points, "n_points", 1)
        key = (n, one_of(strategy, ("cl_min", "cl_mean", "cl_max"), "strategy"))
        if key not in self._asked:
            first = n if self.base_estimator_ is None else max(0, min(n, self._n_initial_points))
            points = self._initial(first, np.random.RandomState(seed_from(self.rng))) if first else []
            self._asked[key] = points + (self._proposed(points, n - first, strategy) if n > first else [])
        return self._asked[key][0] if n_points is None else self._asked[key]

    def _initial(self, n: int, rng: np.random.RandomState) -> list[Point]:
        """Points of the generator, while it has any; then, or without one, random points."""
        at = len(self._initial_points) - self._n_initial_points if self._n_initial_points > 0 else 0
        points = self._initial_points[at : at + n]
        return points + [self.space.rvs(random_state=rng)[0] for _ in range(n - len(points))]

    def _proposed(self, points: list[Point], q: int, lie: str) -> list[Point]:
        """q points of the engine's, good together and with ``points``, which are to be evaluated before."""
        history = self._history
        if points:
            told = [*self.Xi, *points], [*self.yi, *([None] * len(points))]
            history = history_of(self._settings, self.space, *told, self._fitted)
        if history is None:
            raise OutOfOrder("there are no initial points to ask for, and no model yet: tell a result, with fit=True.")
        try:
            proposal = propose(self._settings, history, q, strategy=lie, cache=self._cache)
        except SpaceExhausted:
            warnings.warn("too few points of the space are left that were not evaluated before.", stacklevel=3)
            proposal = propose(self._settings, history, q, strategy=lie, distinct=False, cache=self._cache)
        if proposal.model is not None:
            self._fitted = (history.ids, proposal.model)
        return [self.space.point(trial.params) for trial in proposal.batch]

    def tell(self, x: Any, y: Any, fit: bool = True) -> OptimizeResult:
        """Tell the value ``y`` of a point ``x``, or lists of both; returns all results so far.

        NaN and infinities are failed evaluations. Without ``fit`` the model, and so the next point, stay as they are.
        """
        points, values = (x, y) if isinstance(y, list | tuple) else ([x], [y])
        if len(points) != len(values) or not all(isinstance(value, Real) for value in values):
            raise InvalidInput(f"x is a point and y a number, or both are lists; got {shown(x)} and {shown(y)}.")
        for point in points:
            if not isinstance(point, list | tuple) or len(point) != self.space.n_dims or point not in self.space:
                raise InvalidInput(f"a point must have a value within each of {self.space.bounds}; got {shown(point)}.")
        history = history_of(self._settings, self.space, [*self.Xi, *points], [*self.yi, *values], self._fitted)
        self.Xi += points
        self.yi += values
        self._n_initial_points -= len(points)
        self._asked = {}
        if fit and self._n_initial_points <= 0 and self.base_estimator_ is not None:
            self._history = history
            self.models = [*self.models, *([Model(history, self._cache)] if history.ids else [])]
        return self.get_result()

    def run(self, func: Any, n_iter: int = 1) -> OptimizeResult:
        """Ask for a point and tell what ``func`` makes of it, ``n_iter`` times."""
        for _ in range(n_iter):
            x = self.ask()
            self.tell(x, func(x))
        return self.get_result()

    def get_result(self) -> OptimizeResult:
        """All results so far."""
        return create_result(self.Xi, self.yi, self.space, self.rng, self.specs, self.models)


def seed_from(rng: np.random.RandomState) -> int:
    """A seed for the engine."""
    return int(rng.randint(0, np.iinfo(np.int32).max))


def _surrogate(base_estimator: Any) -> Any:
    """The engine's surrogate for an estimator of scikit-optimize; None for "dummy"."""
    if isinstance(base_estimator, str):
        name = one_of(base_estimator.upper(), ("GP", "RF", "ET", "DUMMY"), "base_estimator")
        forest = name in ("RF", "ET")
        return RandomForest(trees=100, min_leaf=3, extra=name == "ET") if forest else GP() if name == "GP" else None
    if base_estimator is None:
        raise InvalidInput('base_estimator must be given; "dummy" is a random search.')
    return SklearnSurrogate(base_estimator) if hasattr(base_estimator, "get_params") else base_estimator


def base_minimize(
    func: Any,
    dimensions: Any,
    base_estimator: Any,
    n_calls: int = 100,
    n_initial_points: int | None = None,
    x0: Any = None,
    y0: Any = None,
    verbose: bool = False,
    callback: Any = None,
    xi: float = 0.01,
    kappa: float = 1.96,
    **options: Any,
) -> OptimizeResult:
    """Minimize a function by calling it ``n_calls`` times; ``options`` are those of :class:`Optimizer`.

    Parameters
    ----------
    func : takes a point, a list, and returns a number.
    dimensions, base_estimator, xi, kappa : as for :class:`Optimizer`.
    n_calls : how often ``func`` is called.
    n_initial_points : initial points beside those of ``x0``; default 10, for a random search all.
    x0, y0 : a point, or a list of points, to begin with, and their values; ``func`` is called without, which counts.
    verbose, callback : print what happens; functions of the result so far, of which one that returns True ends the run.
    """
    specs = {"args": {**locals(), **options}, "function": "base_minimize"}
    n_initial_points = options.pop("n_random_starts", n_initial_points)  # its former name
    points = [] if x0 is None or len(x0) == 0 else x0 if isinstance(x0[0], list | tuple) else [x0]
    values = list(y0) if isinstance(y0, Iterable) else None if y0 is None else [y0]
    if not isinstance(points, list) or (values and len(values) != len(points)):
        raise InvalidInput(f"x0 must be a list, and y0 have a value for each; got {shown(x0)} and {shown(y0)}.")
    begun = 0 if values else len(points)
    if n_initial_points is None:
        n_initial_points = n_calls - begun if base_estimator == "dummy" else 10
    whole(n_initial_points, "n_initial_points", 0 if points else 1)
    whole(n_calls, "n_calls", n_initial_points + begun)
    options = {name: options[name] for name in options if name not in ("n_points", "n_restarts_optimizer")}
    options |= {"n_initial_points": n_initial_points + len(points), "acq_func_kwargs": {"xi": xi, "kappa": kappa}}
    optimizer = Optimizer(dimensions, base_estimator, **{"acq_func": "EI", "acq_optimizer": "lbfgs", **options})
    optimizer.specs = specs
    if any(len(point) != optimizer.space.n_dims for point in points):
        raise OutOfOrder(f"each point of x0 must have {optimizer.space.n_dims} values; got {shown(x0)}.")
    callbacks = [] if callback is None else [callback] if callable(callback) else callback
    if not isinstance(callbacks, list) or not all(map(callable, callbacks)):
        raise InvalidInput(f"callback must be a function or a list of functions; got {shown(callback)}.")
    callbacks = [*callbacks, *([VerboseCallback(n_calls, begun, n_initial_points)] if verbose else [])]
    if points:
        result = optimizer.tell(points, values or [func(point) for point in points])
        said = [call(result) for call in callbacks]
    while begun < n_calls and not (optimizer.Xi and any(said)):
        x, begun = optimizer.ask(), begun + 1
        result = optimizer.tell(x, func(x))
        said = [call(result) for call in callbacks]
    return result


def gp_minimize(func: Any, dimensions: Any, base_estimator: Any = None, **options: Any) -> OptimizeResult:
    """Minimize by a Gaussian process.

    Parameters
    ----------
    func, dimensions, base_estimator : as for :func:`base_minimize`, whose options follow by name. One more is
        ``noise``: "gaussian", the default, finds it out; a number is its variance, as a share of that of the values.
    """
    rng, noise = check_random_state(options.pop("random_state", None)), options.pop("noise", "gaussian")
    if base_estimator is None:
        seed_from(rng)  # scikit-optimize draws one here, too: so the initial points are the same
        base_estimator = GP() if noise == "gaussian" else GP(noise=max(float(noise), 1e-8))  # less is no stabler
    defaults = {"acq_func": "gp_hedge", "acq_optimizer": "auto"}
    return base_minimize(func, dimensions, base_estimator, **{**defaults, **options}, random_state=rng)


def forest_minimize(func: Any, dimensions: Any, base_estimator: Any = "ET", **options: Any) -> OptimizeResult:
    """Minimize by a forest; needs scikit-learn.

    Parameters
    ----------
    func, dimensions, base_estimator : as for :func:`base_minimize`, whose options follow by name.
    """
    return base_minimize(func, dimensions, base_estimator, acq_optimizer="sampling", **options)


def dummy_minimize(func: Any, dimensions: Any, **options: Any) -> OptimizeResult:
    """Random search, or the points of an ``initial_point_generator``.

    Parameters
    ----------
    func, dimensions : as for :func:`base_minimize`, whose options follow by name.
    """
    return base_minimize(func, dimensions, "dummy", acq_optimizer="sampling", **options)
