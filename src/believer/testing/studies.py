"""Laws of a surrogate at work: every strategy, pending and failed trials, and a journal."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from believer.arrays import near_any
from believer.batch import STRATEGIES, Believe, PseudoObservations, Strategy
from believer.errors import BelieverError
from believer.maximize import Candidates, Maximizer, Multistart
from believer.optimizer import Optimizer
from believer.parameters import Float, Int
from believer.space import Space
from believer.surrogates.protocols import Conditionable, Differentiable, Surrogate
from believer.testing.contract import Breach, Law, law, require
from believer.testing.scenes import fitted, scene
from believer.trials import Batch

_SPACE = Space({"x": Float(-1.0, 2.0), "k": Int(1, 9)})

_WHY = "Look at the traceback: it is the call of fit, predict or condition that a study makes."


def _objective(params: dict[str, Any]) -> float:
    value: float = (params["x"] - 0.5) ** 2 + 0.1 * (params["k"] - 4) ** 2
    return value


def _quick(surrogate: Surrogate) -> Maximizer:
    """A short search with the default method for such a model; how good a point it finds is no part of the contract."""
    if isinstance(fitted(surrogate, scene()), Differentiable):
        return Multistart(starts=2, candidates=16, neighbors=4, sweeps=1)
    return Candidates(candidates=32, neighbors=4, survivors=4, rounds=1)


def _answer(study: Optimizer, batch: Batch) -> None:
    for trial in batch:
        study.tell(trial, _objective(trial.params))


def _begin(study: Optimizer) -> None:
    """Four results, a failure, two suggestions of which one has returned."""
    design = study.ask(5)
    for trial in list(design)[:4]:
        study.tell(trial, _objective(trial.params))
    study.tell(design[4], error="no result")
    batch = study.ask(2)
    study.tell(batch[0], _objective(batch[0].params))


def _suggestions(surrogate: Surrogate, strategy: str | Strategy, maximizer: Maximizer) -> list[dict[str, Any]]:
    """Params of all trials, the last two suggested while one was pending."""
    study = Optimizer(_SPACE, surrogate, strategy=strategy, n_init=5, seed=7, maximizer=maximizer)
    _begin(study)
    study.ask(2)
    points = [trial.params for trial in study.trials]
    for params in points:
        try:
            _SPACE.check(params)
        except BelieverError as error:
            raise Breach(f"{params} is not in the space: {error}") from error
    units = _SPACE.encode(points)
    for i in range(1, len(units)):
        require(not near_any(units[i : i + 1], units[:i])[0], f"{points[i]} was suggested twice.")
    return points


def _suggests(surrogate: Surrogate, strategy: str | Strategy) -> None:
    """Distinct points inside the space, with a trial pending and one that failed; the same seed, the same points."""
    maximizer = _quick(surrogate)
    first, again = (_suggestions(surrogate, strategy, maximizer) for _ in range(2))
    require(
        first == again, f"the same seed gave {first[-1]} and then {again[-1]}; what does fit draw, if not from rng?"
    )


def _law_of(name: str) -> Law:
    return Law(
        f"with strategy {name} a study gets distinct points of its space, the same for the same seed",
        None,
        partial(_suggests, strategy=name),
        _WHY,
    )


@law(_WHY, Conditionable)
def a_lie_may_reach_the_model_by_a_new_fit_or_not_at_all(surrogate: Surrogate) -> None:
    """The other two ways, for a model that would be conditioned by default."""
    for update in ("refit", "none"):
        _suggests(surrogate, PseudoObservations(Believe(), update=update))


@law("Draw in fit from rng alone, and keep nothing outside the model: a journal holds the data and the seed.")
def a_study_goes_on_from_its_journal(surrogate: Surrogate) -> None:
    """Loaded, with the surrogate passed again, it suggests what the study that was never closed suggests."""
    maximizer = _quick(surrogate)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        stays = Optimizer(_SPACE, surrogate, n_init=5, seed=7, maximizer=maximizer)
        _begin(stays)
        with Optimizer(_SPACE, surrogate, n_init=5, seed=7, maximizer=maximizer, journal=path) as closed:
            _begin(closed)
        with Optimizer.load(path, surrogate=surrogate, maximizer=maximizer) as loaded:
            for _ in range(2):
                one, two = stays.ask(2), loaded.ask(2)
                wanted, got = ([trial.params for trial in batch] for batch in (one, two))
                require(wanted == got, f"the open study suggests {wanted}, the loaded one {got}.")
                _answer(stays, one)
                _answer(loaded, two)


LAWS = (
    *(_law_of(name) for name in STRATEGIES),
    a_lie_may_reach_the_model_by_a_new_fit_or_not_at_all,
    a_study_goes_on_from_its_journal,
)
