"""scikit-optimize's ``Optimizer``, minimizers, results and their files, on the engine of this library.

Suggestions are a pure function of the results: asking again without a tell gives the same points.
"""

import copy
import inspect
import json
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import astuple, replace
from functools import partial, wraps
from numbers import Real as RealNumber
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult as OptimizeResult

from believer.acquisitions import PI, UCB, LogEI, View, objective_on
from believer.arrays import as_points, finite, shown, whole
from believer.errors import InvalidInput, JournalError, SpaceExhausted
from believer.integrations.skopt.callbacks import VerboseCallback
from believer.integrations.skopt.space import Categorical, Integer, OutOfOrder, Real, Space, check_random_state, one_of
from believer.maximize import Candidates
from believer.numerics.sampling import latin_hypercube, sobol
from believer.plugins import History, ModelCache, Search, StudySettings, maximizer_for, propose
from believer.study import events, formats, journal, outcome, serialization, settings, study
from believer.study.options import suggesting, unknown_option
from believer.surrogates import GP, RandomForest, SklearnSurrogate

_FOREST = partial(RandomForest, trees=100, min_leaf=3)
_ESTIMATORS: dict[str, Any] = {"GP": GP, "RF": _FOREST, "ET": partial(_FOREST, extra=True), "DUMMY": lambda: None}


def estimator_of(name: str | None) -> Any:
    """The surrogate for a name of scikit-optimize."""
    known = str(name).upper()
    if known == "GBRT":
        from believer.integrations.skopt.learning import GradientBoostingQuantileRegressor

        return lambda: SklearnSurrogate(GradientBoostingQuantileRegressor())
    return _ESTIMATORS[one_of(known, [*_ESTIMATORS, "GBRT"], "base_estimator")]


_FILLS = {"lhs": latin_hypercube, "grid": latin_hypercube, "sobol": sobol, "halton": sobol, "hammersly": sobol}
_KINDS = {"Real": Real, "Integer": Integer, "Categorical": Categorical}
_SEEDS = 2**31 - 1


def _worth(acq_func: Any, options: Any) -> Any:
    """The acquisition function of the name ``acq_func``, with ``xi`` or ``kappa`` from the options."""
    given = {"xi": 0.01, "kappa": 1.96, **(options or {})}
    xi, kappa = (finite(given[name], name) for name in ("xi", "kappa"))
    worths = {"gp_hedge": LogEI(), "EI": LogEI(xi), "PI": PI(xi), "LCB": UCB(kappa**2)}
    return worths[one_of(acq_func, worths, "acq_func")]


class Model:
    """The model of a ``history``, kept in a ``cache`` and fitted when it is first used."""

    def __init__(self, history: History, cache: ModelCache) -> None:
        self.history, self.cache = history, cache

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The posterior mean at transformed points ``X`` (n, columns), with ``return_std`` also the std."""
        at = self.cache.learned(self.history).predict(as_points(X, self.cache.settings.space.dim))
        return (at.mean, at.std) if return_std else at.mean


class Optimizer:
    """Ask for points and tell their values, which are minimized.

    ``Xi`` and ``yi`` are the told results, and ``models`` has the model after each tell since the initial points.
    ``acq_func`` and ``acq_func_kwargs`` may be changed: the next tell or :meth:`update_next` uses the new ones.

    Parameters
    ----------
    dimensions : the dimensions, each as for :func:`~believer.integrations.skopt.space.check_dimension`.
    base_estimator : "GP", "RF", "ET", "GBRT", "dummy", a scikit-learn regressor, or a surrogate of this library.
    n_random_starts : the former name of ``n_initial_points``.
    n_initial_points, initial_point_generator : the number of results before the model is used, and the design of their
        points: "random", as in scikit-optimize; a Latin hypercube for "lhs" and "grid"; a Sobol sequence for "sobol",
        "halton" and "hammersly".
    acq_func, acq_func_kwargs : "EI" or "PI" with ``xi``, "LCB" with ``kappa``; "gp_hedge" is this library's LogEI.
    acq_optimizer, random_state : "lbfgs", "sampling" or "auto"; a seed or a RandomState.
    acq_optimizer_kwargs, n_jobs, model_queue_size : ignored, because the engine decides how to search.
    space_constraint : a function that says whether a point may be evaluated; None if all may, or if the space has one.
    """

    @suggesting
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
        space_constraint: Callable[[list[Any]], bool] | None = None,
        acq_func_kwargs: dict[str, Any] | None = None,
        acq_optimizer_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.specs = {"args": {k: v for k, v in locals().items() if k != "self"}, "function": "Optimizer"}
        if n_random_starts is not None:
            warnings.warn("n_random_starts= is now called n_initial_points=.", DeprecationWarning, stacklevel=3)
            n_initial_points = n_random_starts
        self.rng = check_random_state(random_state)
        self.acq_func, self.acq_func_kwargs = acq_func, acq_func_kwargs
        self._worth = _worth(acq_func, acq_func_kwargs)
        self._n_initial_points = whole(n_initial_points, "n_initial_points", 0)
        seed = (self.rng if isinstance(base_estimator, str) else copy.deepcopy(self.rng)).randint(_SEEDS)
        if isinstance(base_estimator, str | None):
            base_estimator = estimator_of(base_estimator)()
        is_regressor = hasattr(base_estimator, "get_params")
        self.base_estimator_ = SklearnSurrogate(base_estimator) if is_regressor else base_estimator
        climbs = not isinstance(self.base_estimator_, RandomForest | None)
        if one_of(acq_optimizer, ("auto", "sampling", "lbfgs"), "acq_optimizer") == "lbfgs" and not climbs:
            raise InvalidInput("this estimator has no gradients: it needs acq_optimizer='sampling'.")
        self.space = Space(dimensions, space_constraint)
        for dim in self.space if isinstance(self.base_estimator_, GP) else ():
            dim.transform = "onehot" if isinstance(dim, Categorical) else "normalize"
        generate = cook_initial_point_generator(initial_point_generator)
        self._initial_points = generate(self.space, n_initial_points, self.rng.randint(_SEEDS)) if generate else []
        search = Candidates() if acq_optimizer == "sampling" and climbs else None
        chosen = StudySettings.of(
            self.space.engine,
            surrogate=self.base_estimator_,
            acquisition=self._worth,
            strategy="cl_min",
            maximizer=search,
            n_init=1,
            seed=seed,
        )
        self._cache, self._asked = ModelCache(chosen), dict[Any, list[Any]]()
        self.models, self.Xi, self.yi = list[Model](), list[Any](), list[Any]()
        self._fitted: Any = None
        self._history: History | None = None

    def ask(self, n_points: int | None = None, strategy: str = "cl_min") -> list[Any]:
        """The next point, or a list of ``n_points``; the same points again until a result is told, except for random
        ones.

        ``strategy`` is the lie about earlier points of the list: "cl_min", "cl_mean" or "cl_max".
        """
        n = whole(1 if n_points is None else n_points, "n_points", 1)
        key = (n_points, one_of(strategy, ("cl_min", "cl_mean", "cl_max"), "strategy"))
        first = n if self.base_estimator_ is None else max(0, min(n, self._n_initial_points))
        if key not in self._asked or (first and n_points is None):
            at = len(self._initial_points) - max(0, self._n_initial_points)
            points = self._initial_points[at : at + first]
            rng = np.random.RandomState(self.rng.randint(_SEEDS)) if first and n_points is not None else self.rng
            points += [self.space.rvs(random_state=rng)[0] for _ in range(first - len(points))]
            self._asked[key] = points + (self._proposed(points, n - first, strategy) if n > first else [])
        return self._asked[key][0] if n_points is None else self._asked[key]

    def _proposed(self, points: list[Any], q: int, lie: str) -> list[Any]:
        """q points of the engine, good together and with ``points``, which are evaluated before them."""
        history = self._told(points, [None] * len(points)) if points else self._history
        if history is None:
            raise OutOfOrder("ask needs initial points or a model, and there is neither; tell a result, with fit=True.")
        find = partial(propose, self._cache.settings, history, q, strategy=lie, cache=self._cache)
        try:
            proposal = find()
        except SpaceExhausted:
            warnings.warn("too few points of the space are left that were not evaluated before.", stacklevel=3)
            proposal = find(distinct=False)
        if proposal.model is not None:
            self._fitted = (history.ids, proposal.model)
        return [self.space.point(trial.params) for trial in proposal.batch]

    def _told(self, points: Any, values: Any) -> History:
        """The history with the ``values`` of further ``points``: a value that is not a number is a failure, and None is
        pending."""
        told = enumerate(zip([*self.Xi, *points], [*self.yi, *values], strict=True))
        trials = [(i, self.space.params(x), None if y is None else float(y)) for i, (x, y) in told]
        return History.of(self._cache.settings, trials, self._fitted)

    def tell(self, x: Any, y: Any, fit: bool = True) -> OptimizeResult:
        """Tell the value ``y`` of a point ``x``, or lists of both; returns all results so far.

        NaN and infinities are failed evaluations. Without ``fit``, the model and the next point do not change.
        """
        points, values = (x, y) if isinstance(y, list | tuple) else ([x], [y])
        if len(points) != len(values) or not all(isinstance(value, RealNumber) for value in values):
            raise InvalidInput(
                f"x must be a point and y a number, or both must be lists; got {shown(x)} and {shown(y)}."
            )
        for point in points:
            if not isinstance(point, list | tuple) or len(point) != self.space.n_dims or point not in self.space:
                raise InvalidInput(f"a point must have a value within each of {self.space.bounds}; got {shown(point)}.")
        self._follow_settings()
        history = self._told(points, values)
        self.Xi += points
        self.yi += values
        self._n_initial_points -= len(points)
        self._asked = {}
        if fit and self._n_initial_points <= 0 and self.base_estimator_ is not None:
            self._history = history
            self.models = [*self.models, *([Model(history, self._cache)] if history.ids else [])]
        return self.get_result()

    def update_next(self) -> None:
        """Choose the next point again, for use after a change of ``acq_func`` or ``acq_func_kwargs``."""
        self._follow_settings()
        self._asked = {}

    def _follow_settings(self) -> None:
        """Use the present ``acq_func`` and ``acq_func_kwargs`` if they have been changed."""
        worth = _worth(self.acq_func, self.acq_func_kwargs)
        if worth != self._worth:
            self._worth, self._cache = worth, ModelCache(replace(self._cache.settings, acquisition=worth))

    def copy(self, random_state: Any = None) -> "Optimizer":
        """An independent optimizer with the same results, with another ``random_state`` if one is given.

        It has the remaining initial points.
        """
        other = copy.copy(self)
        other.rng = copy.deepcopy(self.rng) if random_state is None else check_random_state(random_state)
        other.Xi, other.yi, other.models, other._asked = list(self.Xi), list(self.yi), list(self.models), {}
        return other

    def run(self, func: Any, n_iter: int = 1) -> OptimizeResult:
        """Ask for a point, evaluate ``func`` and tell its value, ``n_iter`` times."""
        for _ in range(n_iter):
            x = self.ask()
            self.tell(x, func(x))
        return self.get_result()

    def get_result(self) -> OptimizeResult:
        """All results so far."""
        y = np.asarray(self.yi)
        best = int(np.argmin(np.where(np.isfinite(y), y, np.inf)))
        found = {"x": self.Xi[best], "fun": y[best], "func_vals": y, "x_iters": list(self.Xi), "models": self.models}
        return OptimizeResult(**found, space=self.space, random_state=self.rng, specs=self.specs)


_OF_A_RUN = (
    *("n_initial_points", "n_random_starts", "callback", "verbose"),
    *("xi", "kappa", "n_points", "n_restarts_optimizer"),
)
"""The options of a run that an optimizer does not have."""

_FIRST = ("n_calls", "n_random_starts", "n_initial_points", "initial_point_generator", "acq_func", "acq_optimizer")
_MIDDLE = ("x0", "y0", "random_state", "verbose", "callback", "n_points")
_LAST = ("n_jobs", "model_queue_size", "space_constraint")
_PLACES = {
    "base_minimize": (*_FIRST, *_MIDDLE, "n_restarts_optimizer", "xi", "kappa", *_LAST),
    "gp_minimize": (*_FIRST, *_MIDDLE, "n_restarts_optimizer", "xi", "kappa", "noise", *_LAST),
    "forest_minimize": (*_FIRST[:3], "acq_func", "initial_point_generator", *_MIDDLE, "xi", "kappa", *_LAST),
    "gbrt_minimize": (*_FIRST, *_MIDDLE, "xi", "kappa", *_LAST),
    "dummy_minimize": ("n_calls", "initial_point_generator", *_MIDDLE[:-1], "model_queue_size"),
}
"""The options of each minimizer in the order of scikit-optimize's positional arguments."""


def _by_name(minimizer: str, given: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The ``options``, with those that were ``given`` by position."""
    names = _PLACES[minimizer][: len(given)]
    if len(names) < len(given) or (names and not options.keys().isdisjoint(names)):
        order = ", ".join(_PLACES[minimizer])
        raise TypeError(f"{minimizer} takes each option once, by name, or by position in the order {order}.")
    return {**dict(zip(names, given, strict=True)), **options}


def callbacks_of(given: Any) -> list[Callable[[Any], Any]]:
    """The functions of a ``callback``: one, a list of them, or None."""
    callbacks = [] if given is None else [given] if callable(given) else given
    if not isinstance(callbacks, list) or not all(map(callable, callbacks)):
        raise InvalidInput(f"callback must be a function or a list of functions; got {shown(given)}.")
    return callbacks


def base_minimize(func: Any, dimensions: Any, base_estimator: Any, *given: Any, **options: Any) -> OptimizeResult:
    """Minimize ``func``; see :func:`gp_minimize`."""
    options = {"n_calls": 100, "x0": None, "y0": None, **_by_name("base_minimize", given, options)}
    n_calls, x0, y0 = (options.pop(name) for name in ("n_calls", "x0", "y0"))
    args = {"func": func, "dimensions": dimensions, "base_estimator": base_estimator}
    args |= {"n_calls": n_calls, "x0": x0, "y0": y0}
    names = [*_OF_A_RUN, *[*inspect.signature(Optimizer).parameters][2:]]
    for name in options:
        if name not in names:
            raise unknown_option(name, ("n_calls", "x0", "y0", "noise", *names))
    specs = {"args": {"n_initial_points": 10, **args, **options}, "function": "base_minimize"}
    points = [] if x0 is None or len(x0) == 0 else x0 if isinstance(x0[0], list | tuple) else [x0]
    values = list(y0) if isinstance(y0, Iterable) else None if y0 is None else [y0]
    if not isinstance(points, list) or (values and len(values) != len(points)):
        raise InvalidInput(f"x0 must be a list, and y0 have a value for each; got {shown(x0)} and {shown(y0)}.")
    begun = 0 if values else len(points)
    n_initial, former = (options.pop(name, None) for name in ("n_initial_points", "n_random_starts"))
    n_initial = n_initial if former is None else former
    if n_initial is None:
        n_initial = n_calls - begun if base_estimator == "dummy" else 10
    least = begun + whole(n_initial, "n_initial_points", 0 if points else 1)
    if whole(n_calls, "n_calls", 0) < least:
        of_x0 = f" and the {begun} of x0" if begun else ""
        raise InvalidInput(
            f"n_calls must be {least} or more, because it includes n_initial_points={n_initial}{of_x0}; got {n_calls}. "
            "Pass a smaller n_initial_points, or more n_calls."
        )
    callback, is_verbose = options.pop("callback", None), options.pop("verbose", False)
    callbacks = callbacks_of(callback)
    if is_verbose:
        callbacks = [*callbacks, VerboseCallback(n_calls)]
    worth = {name: options.pop(name) for name in ("xi", "kappa", "n_points", "n_restarts_optimizer") if name in options}
    options = {"acq_func": "EI", "acq_optimizer": "lbfgs", **options, "acq_func_kwargs": worth}
    optimizer = Optimizer(dimensions, base_estimator, n_initial_points=n_initial + len(points), **options)
    optimizer.specs = specs
    if any(len(point) != optimizer.space.n_dims for point in points):
        raise OutOfOrder(f"each point of x0 must have {optimizer.space.n_dims} values; got {shown(x0)}.")
    X = points or [optimizer.ask()]
    y, begun = values or [func(x) for x in X], 0 if values else len(X)
    while True:
        result = optimizer.tell(X, y)
        said = [call(result) for call in callbacks]
        if any(said) or begun >= n_calls:
            return result
        X, begun = [optimizer.ask()], begun + 1
        y = [func(X[0])]


def gp_minimize(func: Any, dimensions: Any, base_estimator: Any = None, *given: Any, **options: Any) -> OptimizeResult:
    """Minimize by a Gaussian process.

    Options are passed by name, or ``given`` by position as in scikit-optimize. They are those of :class:`Optimizer`,
    and: ``n_calls`` (100), the number of calls of ``func``; ``x0``, a point or a list of points to begin with, and
    ``y0``, their values (without them ``func`` is called); ``n_initial_points`` (10), further initial points; ``xi``
    and ``kappa``; ``verbose``, whether to print; ``callback``, a function of the result so far, or a list of them,
    which ends the run by returning True; ``noise``, which is "gaussian" by default, to infer the noise, or a share of
    the variance of the values.

    Parameters
    ----------
    func, dimensions, base_estimator : a function of a point, a list; the others as for :class:`Optimizer`.
    """
    options = _by_name("gp_minimize", given, options)
    rng, noise = check_random_state(options.pop("random_state", None)), options.pop("noise", "gaussian")
    if base_estimator is None:
        rng.randint(_SEEDS)  # scikit-optimize draws one here, too: so the initial points are the same
        base_estimator = GP() if noise == "gaussian" else GP(noise=max(float(noise), 1e-8))  # less is no stabler
    defaults = {"acq_func": "gp_hedge", "acq_optimizer": "auto"}
    return base_minimize(func, dimensions, base_estimator, **{**defaults, **options}, random_state=rng)


def forest_minimize(
    func: Any, dimensions: Any, base_estimator: Any = "ET", *given: Any, **options: Any
) -> OptimizeResult:
    """Minimize by a forest; needs scikit-learn.

    Parameters
    ----------
    func, dimensions, base_estimator : as for :func:`gp_minimize`, whose options follow.
    """
    options = _by_name("forest_minimize", given, options)
    return base_minimize(func, dimensions, base_estimator, acq_optimizer="sampling", **options)


def gbrt_minimize(
    func: Any, dimensions: Any, base_estimator: Any = None, *given: Any, **options: Any
) -> OptimizeResult:
    """Minimize by boosted trees; needs scikit-learn.

    Parameters
    ----------
    func, dimensions : as for :func:`gp_minimize`, whose options follow.
    base_estimator : a GradientBoostingRegressor with ``loss="quantile"``, or a GradientBoostingQuantileRegressor.
    """
    options = {**_by_name("gbrt_minimize", given, options), "acq_optimizer": "sampling"}  # whatever is asked, as there
    if base_estimator is None:
        base_estimator = "GBRT"
    elif not hasattr(base_estimator, "quantiles"):
        from believer.integrations.skopt.learning import GradientBoostingQuantileRegressor

        base_estimator = GradientBoostingQuantileRegressor(base_estimator=base_estimator)
    return base_minimize(func, dimensions, base_estimator, **options)


def dummy_minimize(func: Any, dimensions: Any, *given: Any, **options: Any) -> OptimizeResult:
    """Random search, or the points of an ``initial_point_generator``.

    Parameters
    ----------
    func, dimensions : as for :func:`gp_minimize`, whose options follow.
    """
    options = _by_name("dummy_minimize", given, options)
    return base_minimize(func, dimensions, "dummy", acq_optimizer="sampling", **options)


def last_model(res: OptimizeResult) -> Any:
    """The last model of a result."""
    if not res.models:
        raise InvalidInput("this result has no model: there were initial points only, or it is a random search's.")
    return res.models[-1]


def expected_minimum(res: OptimizeResult, n_random_starts: int = 20, random_state: Any = None) -> tuple[Any, float]:
    """The minimizer of the last model's mean, in any kind of space, and the mean there.

    Parameters
    ----------
    res, random_state : the result, and the random state of the search.
    n_random_starts : ignored, because the engine decides how to search.
    """
    model, rng = last_model(res), np.random.default_rng(check_random_state(random_state).randint(_SEEDS))
    learned = model.cache.learned(model.history)
    worth = objective_on(UCB(0.0), View(learned.model, 0.0))
    search = Search(res.space.engine.region(), learned.data.X[[np.argmin(learned.data.y)]], learned.data.X[:0])
    x = maximizer_for(worth, None).maximize(worth, search, rng).x[None, :]
    return res.space.inverse_transform(x)[0], float(model.predict(x)[0])


def expected_minimum_random_sampling(
    res: OptimizeResult, n_random_starts: int = 100000, random_state: Any = None
) -> tuple[Any, float]:
    """The minimizer of the last model's mean among random points, and the mean there.

    Parameters
    ----------
    res : the result.
    n_random_starts, random_state : the number of random points, and their random state.
    """
    points = res.space.rvs(n_random_starts, check_random_state(random_state))
    means = last_model(res).predict(res.space.transform(points))
    best = int(np.argmin(means))
    return points[best], float(means[best])


def dump(res: OptimizeResult, filename: Any, store_objective: bool = True, **kwargs: Any) -> None:
    """Write a result to a journal that :func:`load` reads, and that ``believer.Optimizer.load`` goes on with.

    Parameters
    ----------
    res, filename : the result, and the path of the file, which is replaced.
    store_objective : ignored, because functions are not stored; options such as ``compress`` are ignored, too.
    """
    if not isinstance(res, OptimizeResult) or not isinstance(res.get("space"), Space):
        raise InvalidInput(f"dump needs a result of this library; got {shown(res)}.")
    if odd := [dim for dim in res.space if getattr(dim.parameter, "choices", dim.bounds) != dim.bounds]:
        raise InvalidInput(f"a file holds categories that are str, int, float, bool or None; got {shown(odd[0])}.")
    dimensions = json.dumps([[type(dim).__name__, *astuple(dim)] for dim in res.space], default=lambda n: n.item())
    plain = Space(res.space.dimensions).engine  # a file holds no function
    without = StudySettings.of(plain, strategy="random", n_init=1, seed=0)
    config = (replace(res.models[-1].cache.settings, space=plain) if res.models else without).to_config()
    begun = {**config, "skopt": {"dimensions": json.loads(dimensions)}}
    lines: list[events.Event] = [events.Begun(formats.FORMAT, begun, settings.versions(), settings.ENGINE)]
    for i, (x, y) in enumerate(zip(res.x_iters, np.asarray(res.func_vals, dtype=float).tolist(), strict=True)):
        found, error = (outcome.Outcome.of(y), None) if np.isfinite(y) else (None, str(y))
        lines.append(events.Observed(i, res.space.params(x), found, error))
    journal.write_events(filename, lines)


def load(filename: Any, **kwargs: Any) -> OptimizeResult:
    """The result in a file of :func:`dump`. Loading runs no code; the model is fitted when it is first used.

    Parameters
    ----------
    filename : the path of the file; options such as ``mmap_mode`` are ignored.
    """
    os.stat(filename)  # FileNotFoundError, as there
    try:
        found = study.read_study(filename)
        config = found.events[0].config  # type: ignore[union-attr]  # a study begins with its settings
        space = Space([_KINDS[kind](*arguments) for kind, *arguments in config["skopt"]["dimensions"]])
        done = {r["trial_id"]: r["value"] for r in found.records() if r["status"] in ("done", "failed")}
        points = [space.point(trial.params) for trial in found.trials if trial.id in done]
    except (JournalError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"load needs a file of this library's dump, and not a pickle; got {error!r}") from error
    optimizer = Optimizer(space, "dummy", n_initial_points=0, random_state=0)
    if serialization.named(config["strategy"]) != "random" and not serialization.is_custom(config["surrogate"]):
        optimizer._cache = ModelCache(settings.StudySettings.from_config(config))
        optimizer.base_estimator_ = optimizer._cache.settings.surrogate
    return optimizer.tell(points, [np.nan if value is None else value for value in done.values()])


def use_named_args(dimensions: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[[list[Any]], Any]]:
    """A decorator that turns a function with named arguments into one that takes a point of ``dimensions`` with these
    names."""
    names = [str(getattr(dim, "name", None) or "") for dim in dimensions]
    if "" in names:
        raise InvalidInput(f"dimensions must be Real, Integer or Categorical, with names; got {shown(dimensions)}.")

    def named(func: Callable[..., Any], x: list[Any]) -> Any:
        if len(x) != len(names):
            raise InvalidInput(f"a point must have {len(names)} values; got {shown(x)}.")
        return func(**dict(zip(names, x, strict=True)))

    return lambda func: wraps(func)(partial(named, func))


def cook_initial_point_generator(generator: Any, **options: Any) -> Callable[[Space, int, int], list[Any]] | None:
    """The generator of that name, or of an object of ``skopt.sampler``: n points of a space, from (space, n, seed).

    None for "random". A result of this function is returned unchanged; ``options`` are ignored.
    """
    if isinstance(generator, partial) and generator.func is _filled:
        return generator
    named = str(getattr(generator, "design", generator) or "random").lower()
    name = one_of(named, ("random", *_FILLS), "initial_point_generator")
    return None if name == "random" else partial(_filled, _FILLS[name])


def _filled(fill: Callable[..., Any], space: Space, n: int, seed: int) -> list[Any]:
    U = fill(n, space.engine.dim, np.random.default_rng(seed))
    points = space.inverse_transform(space.engine.region().spread(U))
    if space.constraint is None:
        return points
    rng = np.random.RandomState(seed)
    return [point if space.constraint(point) else space.rvs(1, rng)[0] for point in points]
