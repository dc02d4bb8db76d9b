"""Laws of surrogates and of strategies at work in a study: pending and failed trials, and a journal."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from believer.acquisitions import LogEI
from believer.arrays import near_any
from believer.batch import STRATEGIES, Believe, PseudoObservations, Strategy
from believer.batch.request import needs_model
from believer.errors import BelieverError, MissingCapability
from believer.optimizer import Optimizer
from believer.replay import replay
from believer.space import Space
from believer.space.parameters import Float, Int
from believer.study.trials import Batch, same_params
from believer.surrogates.protocols import Conditionable, Surrogate
from believer.testing.contract import Breach, Law, law, require
from believer.testing.requests import Checked, quick
from believer.testing.scenes import fitted, scene

_SPACE = Space({"x": Float(-1.0, 2.0), "k": Int(1, 9)})

_WHY = "Look at the traceback: it is the call of fit, predict or condition that a study makes."


def _objective(params: dict[str, Any]) -> float:
    value: float = (params["x"] - 0.5) ** 2 + 0.1 * (params["k"] - 4) ** 2
    return value


def _study(case: Checked, journal: Path | None = None) -> Optimizer:
    maximizer = quick(fitted(case.surrogate, scene()))
    return Optimizer(
        _SPACE,
        surrogate=case.surrogate,
        acquisition=case.acquisition,
        strategy=case.strategy,
        n_init=5,
        seed=7,
        maximizer=maximizer,
        journal=journal,
    )


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


def _suggestions(case: Checked) -> list[dict[str, Any]]:
    """Params of all trials, the last two suggested while one was pending."""
    study = _study(case)
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


def _suggests(case: Checked) -> None:
    """Distinct points inside the space, with a trial pending and one that failed; the same seed, the same points."""
    first, again = (_suggestions(case) for _ in range(2))
    require(
        first == again, f"the same seed gave {first[-1]} and then {again[-1]}; what draws, if not from the rng given?"
    )


def _goes_on(case: Checked) -> None:
    """Loaded from its journal, a study suggests what the study that was never closed suggests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        stays = _study(case)
        _begin(stays)
        with _study(case, path) as closed:
            _begin(closed)
        with Optimizer.load(path, **_passed(case, closed)) as loaded:
            for _ in range(2):
                one, two = stays.ask(2), loaded.ask(2)
                wanted, got = ([trial.params for trial in batch] for batch in (one, two))
                require(all(map(same_params, wanted, got)), f"the open study suggests {wanted}, the loaded one {got}.")
                _answer(stays, one)
                _answer(loaded, two)


def _passed(case: Checked, study: Optimizer) -> dict[str, Any]:
    """The parts that are passed again with a journal: custom members must be, others may be."""
    return {
        "surrogate": case.surrogate,
        "acquisition": case.acquisition,
        "strategy": case.strategy,
        "maximizer": study.settings.maximizer,
    }


def _with(surrogate: Surrogate, strategy: Strategy) -> Checked:
    return Checked(strategy, surrogate, LogEI())


def _suggests_if_able(surrogate: Surrogate, strategy: Strategy) -> None:
    """As above, or the strategy says which capability of a model it needs."""
    try:
        _suggests(_with(surrogate, strategy))
    except MissingCapability:
        return


def _law_of(name: str) -> Law:
    return Law(
        f"with strategy {name} a study gets distinct points of its space, the same for the same seed",
        None,
        partial(_suggests_if_able, strategy=STRATEGIES[name]),
        _WHY,
    )


@law(_WHY, Conditionable)
def a_lie_may_reach_the_model_by_a_new_fit_or_not_at_all(surrogate: Surrogate) -> None:
    """The other two ways, for a model that would be conditioned by default."""
    for update in ("refit", "none"):
        _suggests(_with(surrogate, PseudoObservations(Believe(), update=update)))


@law("Draw in fit from rng alone, and keep nothing outside the model: a journal holds the data and the seed.")
def a_study_goes_on_from_its_journal(surrogate: Surrogate) -> None:
    """Loaded, with the surrogate passed again, it suggests what the study that was never closed suggests."""
    _goes_on(_with(surrogate, STRATEGIES["kb"]))


LAWS = (
    # Many fantasies take many times as long as one, with a refit each if a model cannot be conditioned.
    *(_law_of(name) for name in STRATEGIES if name != "fantasies" and needs_model(STRATEGIES[name])),
    a_lie_may_reach_the_model_by_a_new_fit_or_not_at_all,
    a_study_goes_on_from_its_journal,
)
"""Of surrogates."""


@law("Look at the traceback: it is the call of choose that a study makes.")
def a_study_gets_distinct_points_of_its_space_the_same_for_the_same_seed(case: Checked) -> None:
    """Through ask and tell, with a trial pending across asks and one that failed."""
    _suggests(case)


@law("Keep nothing but settings in the strategy: a journal holds those, the data and the seed, and no memory.")
def with_the_strategy_a_study_goes_on_from_its_journal(case: Checked) -> None:
    """Loaded, with the strategy passed again, it suggests what the study that was never closed suggests."""
    _goes_on(case)


@law("Let choices depend on the request alone: a replay makes every request of a journal again, and compares.")
def every_ask_of_a_journal_can_be_replayed(case: Checked) -> None:
    """Five asks, of one point and of several, answered in another order, one while others are pending."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        with _study(case, path) as study:
            _begin(study)
            batches = [study.ask(2), study.ask(1), study.ask(2)]
            for batch in batches[::-1]:
                _answer(study, batch)
            study.ask(1)
        found = replay(path, **_passed(case, study))
        require(found.identical, f"a replay differs; {found}.")


OF_STRATEGIES = (
    a_study_gets_distinct_points_of_its_space_the_same_for_the_same_seed,
    with_the_strategy_a_study_goes_on_from_its_journal,
    every_ask_of_a_journal_can_be_replayed,
)
