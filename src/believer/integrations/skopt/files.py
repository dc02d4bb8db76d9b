"""A result in a file: a journal of ours, so that reading one runs no code.

scikit-optimize's own files are pickles, which nobody should read from a stranger; they are not read here.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.arrays import shown
from believer.errors import JournalError
from believer.integrations.skopt.estimators import Model, history_of
from believer.integrations.skopt.refusals import InvalidInput, NoFile, NotOffered
from believer.integrations.skopt.results import create_result
from believer.integrations.skopt.space import Categorical, Integer, Real, Space
from believer.plugins import ModelCache, make_settings
from believer.study import serialization
from believer.study.events import Begun, Event, Observed
from believer.study.files import PathLike
from believer.study.formats import FORMAT
from believer.study.journal import write_events
from believer.study.outcome import ONLY, Outcome
from believer.study.settings import versions
from believer.study.study import read_study

__all__ = ["dump", "load"]

_KINDS = {"Real": Real, "Integer": Integer, "Categorical": Categorical}
_PLAIN = str | int | float | bool | None


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
    space, specs = res.space, res.specs or {"args": {}, "function": None}
    settings = res.models[-1].settings if res.models else make_settings(space.engine(), strategy="random", n_init=1)
    told = {
        "dimensions": [_config(dimension) for dimension in space],
        "args": {name: value for name, value in specs["args"].items() if isinstance(value, _PLAIN)},
        "function": specs["function"],
    }
    events: list[Event] = [Begun(FORMAT, {**settings.to_config(), "skopt": told}, versions())]
    for i, (x, y) in enumerate(zip(res.x_iters, np.asarray(res.func_vals, dtype=float).tolist(), strict=True)):
        outcome, error = (Outcome({ONLY: y}), None) if np.isfinite(y) else (None, str(y))
        events.append(Observed(i, space.params(x), outcome, error))
    write_events(filename, events)


def load(filename: PathLike, **kwargs: Any) -> OptimizeResult:
    """The result in a file of :func:`dump`; its model is fitted when it is asked.

    Parameters
    ----------
    filename : of the journal; options such as ``mmap_mode`` play no part.
    """
    if not os.path.exists(filename):
        raise NoFile(f"there is no file {filename}.")
    try:
        study = read_study(filename)
    except JournalError as error:
        raise NotOffered(f"only files of this library's dump can be loaded, no pickles; {error}") from error
    begun = study.events[0]
    told = begun.config.get("skopt") if isinstance(begun, Begun) else None
    if not isinstance(begun, Begun) or not isinstance(told, dict):
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
    return create_result(Xi, yi, space, None, specs, _models(begun.config, space, Xi, yi))


def _models(config: dict[str, Any], space: Space, Xi: list[Any], yi: list[float]) -> list[Model]:
    """The last model; none of a random search, nor of a regressor that is not ours."""
    if serialization.is_custom(config["surrogate"]) or serialization.named(config["strategy"]) == "random":
        return []
    parts = {name: serialization.from_config(config[name], name) for name in ("surrogate", "acquisition", "strategy")}
    settings = make_settings(space.engine(), **parts, n_init=1, seed=config["seed"])
    history = history_of(settings, space, Xi, yi)
    return [Model(space, history, ModelCache(settings))] if history.ids else []


def _config(dimension: Any) -> list[Any]:
    """The kind of a dimension, and what it was made with."""
    given = {name: getattr(dimension, name) for name in inspect.signature(type(dimension)).parameters}
    given["transform"] = dimension.transform_
    return [type(dimension).__name__, {name: _plain(value) for name, value in given.items()}]


def _plain(value: Any) -> Any:
    """As JSON has it; types by their names."""
    if isinstance(value, tuple | list | np.ndarray):
        return [_plain(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, _PLAIN | type):
        raise NotOffered(f"a file holds categories that are str, int, float, bool or None; got {shown(value)}.")
    return value.__name__ if isinstance(value, type) else value
