"""Results and models, files of results, and what else scikit-optimize has in ``skopt.utils``.

A file is a journal of ours, so that reading one runs no code; scikit-optimize's own are pickles, which are not read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult as OptimizeResult

from believer.acquisitions import UCB, View, objective_on
from believer.arrays import as_points, shown
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
_FILLS = {"lhs": latin_hypercube, "grid": latin_hypercube, "sobol": sobol, "halton": sobol, "hammersly": sobol}


class Model:
    """What a ``history`` teaches, fitted when it is first asked."""

    def __init__(self, history: History, cache: ModelCache) -> None:
        self._history, self._cache, self.settings = history, cache, cache.settings

    def learned(self) -> Learned:
        """The fitted model, with its data."""
        return self._cache.learned(self._history)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """What is expected at the transformed points ``X`` (n, columns), with ``return_std`` also how surely."""
        at = self.learned().predict(as_points(X, self.settings.space.dim))
        return (at.mean, at.std) if return_std else at.mean


def history_of(settings: StudySettings, space: Space, Xi: Any, yi: Any, fitted: Fitted | None = None) -> History:
    """Results as the engine's history: a value that is no number is a failed evaluation, None is one under way."""
    told = enumerate(zip(Xi, yi, strict=True))
    return History.of(settings, [(i, space.params(x), None if y is None else float(y)) for i, (x, y) in told], fitted)


def create_result(Xi: list[Point], yi: Any, space: Space, rng: Any, specs: Any, models: Any) -> OptimizeResult:
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
    learned, space, rng = last_model(res).learned(), res.space.engine, check_random_state(random_state)
    worth = objective_on(UCB(0.0), View(learned.model, 0.0))
    search = Search(space.region(), learned.data.X[[np.argmin(learned.data.y)]], learned.data.X[:0])
    x = maximizer_for(worth, None).maximize(worth, search, np.random.default_rng(rng.randint(2**31 - 1))).x[None, :]
    return res.space.inverse_transform(x)[0], float(learned.predict(x).mean[0])


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
    odd = [dim for dim in res.space if isinstance(dim, Categorical) and dim.parameter.choices != dim.categories]
    if odd:
        raise InvalidInput(f"a file holds categories that are str, int, float, bool or None; got {shown(odd[0])}.")
    made = [[type(dim).__name__, *(getattr(dim, field.name) for field in fields(dim))] for dim in res.space]
    kept = {"dimensions": json.loads(json.dumps(made, default=lambda number: number.item()))}
    settings = res.models[-1].settings if res.models else make_settings(res.space.engine, strategy="random", n_init=1)
    events: list[Event] = [Begun(FORMAT, {**settings.to_config(), "skopt": kept}, versions())]
    for i, (x, y) in enumerate(zip(res.x_iters, np.asarray(res.func_vals, dtype=float).tolist(), strict=True)):
        outcome, error = (Outcome({ONLY: y}), None) if np.isfinite(y) else (None, str(y))
        events.append(Observed(i, res.space.params(x), outcome, error))
    write_events(filename, events)


def load(filename: PathLike, **kwargs: Any) -> OptimizeResult:
    """The result in a file of :func:`dump`, without ``specs``; its model is fitted when it is asked.

    Parameters
    ----------
    filename : of the journal; options such as ``mmap_mode`` play no part.
    """
    os.stat(filename)  # FileNotFoundError, as there
    try:
        study = read_study(filename)
        begun, trials, models = study.events[0], {trial.id: trial for trial in study.trials}, []
        assert isinstance(begun, Begun)
        config = begun.config
        space = Space([_KINDS[kind](*arguments) for kind, *arguments in config["skopt"]["dimensions"]])
        done = {r["trial_id"]: r["value"] for r in study.records() if r["status"] in ("done", "failed")}
        Xi, yi = [space.point(trials[i].params) for i in done], [np.nan if y is None else y for y in done.values()]
    except (JournalError, KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"only files of this library's dump can be loaded, no pickles; got {error!r}") from error
    if serialization.named(config["strategy"]) != "random" and not serialization.is_custom(config["surrogate"]):
        settings = settings_from_config(config)
        models = [Model(history_of(settings, space, Xi, yi), ModelCache(settings))]
    return create_result(Xi, yi, space, None, None, models)


def use_named_args(dimensions: Sequence[Any]) -> Callable[[Callable[..., Any]], Callable[[Point], Any]]:
    """A decorator: of a function with named arguments, one that takes a point of ``dimensions`` with names."""

    def decorator(func: Callable[..., Any]) -> Callable[[Point], Any]:
        names = [str(getattr(dim, "name", None) or "") for dim in dimensions]
        if "" in names:
            raise InvalidInput(f"dimensions must be Real, Integer or Categorical, with names; got {shown(dimensions)}.")

        @wraps(func)
        def named(x: Point) -> Any:
            if len(x) != len(names):
                raise InvalidInput(f"a point must have {len(names)} values; got {shown(x)}.")
            return func(**dict(zip(names, x, strict=True)))

        return named

    return decorator


def cook_initial_point_generator(generator: str | None) -> Callable[[Space, int, int], list[Point]] | None:
    """The generator of that name: n points of a space, from (space, n, seed). None for "random"."""
    name = one_of(str(generator or "random").lower(), ("random", *_FILLS), "initial_point_generator")

    def generate(space: Space, n: int, seed: int) -> list[Point]:
        U = _FILLS[name](n, space.engine.dim, np.random.default_rng(seed))
        return space.inverse_transform(space.engine.region().spread(U))

    return None if name == "random" else generate
