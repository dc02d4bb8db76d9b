"""Results and models, files of results, and what else scikit-optimize has in ``skopt.utils``.

A file is a journal of ours, so that reading one runs no code; scikit-optimize's own are pickles, which are not read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult as OptimizeResult

from believer.acquisitions import UCB, View, objective_on
from believer.arrays import Array, shown
from believer.errors import InvalidInput, JournalError
from believer.integrations.skopt.space import Categorical, Integer, Point, Real, Space, check_random_state, one_of
from believer.numerics.sampling import latin_hypercube, sobol
from believer.plugins import Fitted, History, ModelCache, Search, StudySettings, make_settings, maximizer_for
from believer.study import serialization
from believer.study.events import Begun, Event, Observed
from believer.study.files import PathLike
from believer.study.formats import FORMAT
from believer.study.journal import write_events
from believer.study.model_cache import Learned
from believer.study.outcome import ONLY, Outcome
from believer.study.settings import settings_from_config, versions
from believer.study.study import read_study

_KINDS = {"Real": Real, "Integer": Integer, "Categorical": Categorical}


class Model:
    """A model of a ``history`` on transformed points of a ``space``, fitted when it is first asked."""

    def __init__(self, space: Space, history: History, cache: ModelCache) -> None:
        self._space, self._history, self._cache, self.settings = space, history, cache, cache.settings

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """What is expected at the transformed points ``X`` (n, columns), with ``return_std`` also how surely."""
        at = self.learned().predict(self._space.units(X))
        return (at.mean, at.std) if return_std else at.mean

    def learned(self) -> Learned:
        """The fitted model, on the encoded cube of the engine."""
        return self._cache.learned(self._history)


def history_of(
    settings: StudySettings, space: Space, Xi: Sequence[Point], yi: Sequence[Any], fitted: Fitted | None = None
) -> History:
    """Results as the engine's history: a value that is no number is a failed evaluation, None is one under way."""
    values = [None if y is None else float(y) for y in yi]
    trials = [(i, space.params(x), y) for i, (x, y) in enumerate(zip(Xi, values, strict=True))]
    return History.of(settings, trials, fitted)


def create_result(
    Xi: list[Point], yi: Any, space: Any = None, rng: Any = None, specs: Any = None, models: Any = None
) -> OptimizeResult:
    """The result of evaluations ``Xi``, ``yi`` so far, of which the best is the least that is a number."""
    y = np.asarray(yi)
    best = int(np.argmin(np.where(np.isfinite(y), y, np.inf)))
    kept = {"models": models, "space": space, "random_state": rng, "specs": specs}
    return OptimizeResult(x=Xi[best], fun=y[best], func_vals=y, x_iters=list(Xi), **kept)


def last_model(res: OptimizeResult) -> Any:
    """The last model of a result."""
    if not res.models:
        raise InvalidInput("this result has no model: there were initial points only, or it is a random search's.")
    return res.models[-1]


def expected_minimum(res: OptimizeResult, n_random_starts: int = 20, random_state: Any = None) -> tuple[Point, float]:
    """Where the last model of a result is least, in any kind of space, and what it expects there.

    Parameters
    ----------
    res : the result.
    n_random_starts : plays no part: how hard to search is the engine's business.
    random_state : of the candidates of the search.
    """
    learned, space = last_model(res).learned(), res.space.engine
    worth, rng = objective_on(UCB(0.0), View(learned.model, 0.0)), check_random_state(random_state)
    search = Search(space.region(), learned.data.X[[np.argmin(learned.data.y)]], learned.data.X[:0])
    x = maximizer_for(worth, None).maximize(worth, search, np.random.default_rng(rng.randint(2**31 - 1))).x[None, :]
    return res.space.point(space.decode(x)[0]), float(learned.predict(x).mean[0])


def dump(res: OptimizeResult, filename: PathLike, store_objective: bool = True, **kwargs: Any) -> None:
    """Write a result to a file that :func:`load` reads, and that ``believer.Optimizer.load`` goes on with.

    Parameters
    ----------
    res : the result.
    filename : what was there is replaced.
    store_objective : plays no part: functions are not stored. Nor do options such as ``compress``.
    """
    if not isinstance(res, OptimizeResult) or not isinstance(res.get("space"), Space):
        raise InvalidInput(f"dump takes a result of this library's own; got {shown(res)}.")
    space, args = res.space, res.specs["args"].items()
    settings = res.models[-1].settings if res.models else make_settings(space.engine, strategy="random", n_init=1)
    plain = {name: value for name, value in args if isinstance(value, str | int | float | None)}
    told = {"dimensions": [_config(dim) for dim in space], "args": plain, "function": res.specs["function"]}
    events: list[Event] = [Begun(FORMAT, {**settings.to_config(), "skopt": told}, versions())]
    for i, (x, y) in enumerate(zip(res.x_iters, np.asarray(res.func_vals, dtype=float).tolist(), strict=True)):
        outcome, error = (Outcome({ONLY: y}), None) if np.isfinite(y) else (None, str(y))
        events.append(Observed(i, space.params(x), outcome, error))
    write_events(filename, events)


def _config(dim: Any) -> list[Any]:
    """The kind of a dimension, and what it was made with, as JSON has it."""
    if isinstance(dim, Categorical):
        choices, prior = dim.parameter.choices, dim.prior
        if choices != dim.categories:
            raise InvalidInput(f"a file holds categories that are str, int, float, bool or None; got {shown(dim)}.")
        given = {"categories": list(choices), "prior": None if prior is None else [float(share) for share in prior]}
    else:
        given = {name: getattr(dim, name) for name in ("low", "high", "prior", "base")}
    return [type(dim).__name__, {**given, "transform": dim.transform_, "name": dim.name}]


def load(filename: PathLike, **kwargs: Any) -> OptimizeResult:
    """The result in a file of :func:`dump`; its model is fitted when it is asked.

    Parameters
    ----------
    filename : of the journal; options such as ``mmap_mode`` play no part.
    """
    os.stat(filename)  # FileNotFoundError, as there
    try:
        study = read_study(filename)
    except JournalError as error:
        raise InvalidInput(f"only files of this library's dump can be loaded, no pickles; {error}") from error
    begun = study.events[0]
    assert isinstance(begun, Begun)
    told = begun.config.get("skopt")
    if not isinstance(told, dict):
        raise InvalidInput(f"{filename} is a journal that dump did not write; believer.Optimizer.load opens it.")
    try:
        space = Space([_KINDS[kind](**given) for kind, given in told["dimensions"]])
        specs = {"args": dict(told["args"]), "function": told["function"]}
        done = [record["trial_id"] for record in study.records() if record["status"] in ("done", "failed")]
        outcomes, trials = study.outcomes, {trial.id: trial for trial in study.trials}
        Xi = [space.point(trials[i].params) for i in done]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{filename} says what dump never writes: {error!r}.") from error
    yi = [outcomes[i].value if i in outcomes else np.nan for i in done]
    models, strategy = [], serialization.named(begun.config["strategy"])
    if strategy != "random" and not serialization.is_custom(begun.config["surrogate"]):
        settings = settings_from_config(begun.config)
        models = [Model(space, history_of(settings, space, Xi, yi), ModelCache(settings))]
    return create_result(Xi, yi, space, None, specs, models)


def use_named_args(dimensions: Sequence[Any]) -> Callable[[Callable[..., Any]], Callable[[Point], Any]]:
    """A decorator: of a function with named arguments, one that takes a point of ``dimensions`` with names."""

    def decorator(func: Callable[..., Any]) -> Callable[[Point], Any]:
        if any(getattr(dim, "name", None) is None for dim in dimensions):
            raise InvalidInput(f"dimensions must be Real, Integer or Categorical, with names; got {shown(dimensions)}.")

        @wraps(func)
        def named(x: Point) -> Any:
            if len(x) != len(dimensions):
                raise InvalidInput(f"a point must have {len(dimensions)} values; got {shown(x)}.")
            return func(**{dim.name: value for dim, value in zip(dimensions, x, strict=True)})

        return named

    return decorator


def _halton(n: int, d: int, rng: np.random.Generator) -> Array:
    from scipy.stats import qmc

    return np.asarray(qmc.Halton(d, seed=rng).random(n))


def _hammersly(n: int, d: int, rng: np.random.Generator) -> Array:
    """Halton's in all dimensions but the first, which is a regular grid."""
    return np.hstack([(np.arange(n)[:, None] + 0.5) / n, _halton(n, d, rng)[:, 1:]])


def _grid(n: int, d: int, rng: np.random.Generator) -> Array:
    """So many middles, drawn from the cells of the smallest grid that has n."""
    order = int(np.ceil(n ** (1.0 / d) - 1e-9))
    cells = rng.choice(order**d, size=n, replace=False)
    return (np.stack([cells // order**j % order for j in range(d)], axis=1) + 0.5) / order


_FILLS = {"lhs": latin_hypercube, "sobol": sobol, "halton": _halton, "hammersly": _hammersly, "grid": _grid}


def cook_initial_point_generator(generator: str | None) -> Callable[[Space, int, int], list[Point]] | None:
    """The generator of that name: n points of a space, from (space, n, seed). None for "random"."""
    name = "random" if generator is None else str(generator).lower()
    if one_of(name, ("random", *_FILLS), "an initial point generator") == "random":
        return None

    def generate(space: Space, n: int, seed: int) -> list[Point]:
        widths = [len(dim.categories) if isinstance(dim, Categorical) else 1 for dim in space]
        U = np.repeat(_FILLS[name](n, space.n_dims, np.random.default_rng(seed)), widths, axis=1)
        return [space.point(params) for params in space.engine.decode(space.engine.region().spread(U))]

    return generate
