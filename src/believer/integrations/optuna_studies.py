"""Optuna's studies as studies of this library, for its pages and journals, and back."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from believer.arrays import shown
from believer.errors import InvalidInput, MissingExtra
from believer.integrations.optuna_branches import MAX_VALUES, Branches
from believer.optimizer import Optimizer
from believer.page.content import source_of
from believer.page.watched import Watched
from believer.page.watching import Watch, watch
from believer.space import Categorical, Float, Int, Space
from believer.study.files import PathLike
from believer.study.goal import AtLeast, AtMost, Between, Maximize, Minimize
from believer.study.study import Study, read_study

try:
    import optuna
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.trial import TrialState, create_trial
except ImportError as error:
    raise MissingExtra("optuna", "optuna") from error

__all__ = ["export_study", "import_study", "watch_study"]


def import_study(study: Any, journal: PathLike | None = None) -> Optimizer:
    """Convert an Optuna study, by any sampler, to a study of this library.

    It has the parameters that all finished trials have in common with the same range, except constants, and those of
    branches with their conditions. It has every finished trial that lies in this space: a pruned trial with the last
    value that it reported, a failed one as failed. Running and waiting trials are left out. Several objectives have the
    names that ``study.set_metric_names`` gave, or "value 0" and so on; constraints are limits at 0. Choices that are
    not plain values are replaced by their texts.

    Parameters
    ----------
    study : an Optuna study, which is only read.
    journal : the path of a new journal; None keeps the study in memory.
    """
    finished = [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]
    searched = _searched(finished)
    parameters = {name: parameter for name, (parameter, _) in searched.items()}
    names = _names(study)
    limits = sorted({name for trial in finished for name in trial.constraints})
    wanted = {name: Maximize() if each.name == "MAXIMIZE" else Minimize() for name, each in names.items()}
    goals: dict[str, Any] = {"outcomes": {**wanted, **{limit_named(name): AtMost(0.0) for name in limits}}}
    if len(names) == 1 and not limits:
        goals = {"maximize": isinstance(wanted[next(iter(names))], Maximize)}
    optimizer = Optimizer(Space(parameters), journal=journal, seed=0, **goals)
    for trial in finished:
        given = [name for name in searched if name in trial.params]
        params = optimizer.space.trimmed({name: searched[name][1](trial.params[name]) for name in given})
        if len(params) == len(optimizer.space.present(params)):
            optimizer.observe(params, **_told(trial, list(names), goals))
    return optimizer


def export_study(
    study: Optimizer | Study | PathLike, storage: Any = None, study_name: str | None = None, sampler: Any = None
) -> Any:
    """Convert a study of this library to a new Optuna study, with its results and failures, without pending trials.

    Parameters
    ----------
    study : an ``Optimizer``, a study that was read, or the path of a journal.
    storage, study_name, sampler : as for ``optuna.create_study``.
    """
    source: Any = study if isinstance(study, Optimizer | Study) else read_study(study)
    goals = source.goals
    if goals.is_weighed:
        raise InvalidInput(
            "desirabilities cannot be exported, because Optuna has no counterpart; export the numbers by to_csv."
        )
    aims = {name: "maximize" if isinstance(goals.wanted[name], Maximize) else "minimize" for name in goals.objectives}
    distributions = {name: _distribution(name, parameter) for name, parameter in source.space.parameters.items()}
    made = optuna.create_study(
        storage=storage, study_name=study_name, sampler=sampler, directions=[*aims.values()] or None
    )
    if not goals.is_plain and aims:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            made.set_metric_names([*aims])
    outside = {trial.id for trial in source.outside}
    for row, trial in zip(source.records(), source.trials, strict=True):
        if trial.id in outside:
            continue
        known = {"params": dict(trial.params), "distributions": {name: distributions[name] for name in trial.params}}
        if row["status"] == "failed":
            made.add_trial(create_trial(state=TrialState.FAIL, user_attrs={"error": row["error"]}, **known))
        elif row["status"] == "done" and None not in (values := [row[name] for name in aims]):
            made.add_trial(create_trial(values=values, constraints=_beyond(goals.wanted, row) or None, **known))
    return made


def _beyond(wanted: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, float]:
    """The violation of each known limit: at most 0 if the limit is kept."""
    beyond = {}
    for name, goal in wanted.items():
        value = row.get(name)
        match goal:
            case AtMost() if value is not None:
                beyond[name] = value - goal.threshold
            case AtLeast() if value is not None:
                beyond[name] = goal.threshold - value
            case Between() if value is not None:
                beyond[name] = max(goal.low - value, value - goal.high)
    return beyond


def watch_study(study: Any, **options: Any) -> Watch:
    """Serve the page of an Optuna study, or of all studies of a storage, and update it while they run.

    Parameters
    ----------
    study : an Optuna study, or the address of a storage, "sqlite:///study.db". It is only read.
    options : host, port, token and next_q, as for :meth:`believer.Optimizer.watch`.
    """
    if isinstance(study, str):
        return watch(studies_in(study), **options)
    return watch(_watched(study), **options)


def studies_in(storage: str) -> Callable[[], dict[str, Watched]]:
    """The present studies of a storage, by key."""
    try:
        opened = optuna.storages.get_storage(storage)
        optuna.get_all_study_names(opened)
    except Exception as error:  # a driver's own
        raise InvalidInput(
            f"{storage} must be the address of a storage of Optuna; it cannot be opened: {error}"
        ) from error

    def now() -> dict[str, Watched]:
        names = optuna.get_all_study_names(opened)
        found = [_watched(optuna.load_study(study_name=name, storage=opened)) for name in names]
        return {one.key: one for one in found}

    return now


def _watched(study: Any) -> Watched:
    def version() -> tuple[object, ...]:
        return tuple(trial.datetime_complete for trial in study.get_trials(deepcopy=False))

    return Watched(study.study_name, version, lambda: source_of(import_study(study)))


def _searched(finished: list[Any]) -> dict[str, tuple[Any, Callable[[Any], Any]]]:
    """Parameters that trials with a result share or have in branches, each with a function that codes its values."""
    branches = Branches(is_listed)
    for trial in finished:
        if trial.state == TrialState.COMPLETE:
            branches.add(trial.number, trial.distributions, coded_values(trial))
    ranges, rules = branches.found()
    order = [name for name in dict.fromkeys(name for trial in finished for name in trial.params) if name in ranges]
    found = dict[str, tuple[Any, Callable[[Any], Any]]]()
    for name in order:
        if not ranges[name].single():
            when = {parent: _values(ranges[parent], codes) for parent, codes in rules.get(name, {}).items()}
            found[name] = _parameter(ranges[name], when or None)
    if not found:
        raise InvalidInput(
            "a study must have a finished trial, and a parameter that all of these share; this has none."
        )
    return found


def _parameter(distribution: Any, when: Any = None) -> tuple[Any, Callable[[Any], Any]]:
    if isinstance(distribution, CategoricalDistribution):
        try:
            return Categorical(distribution.choices, when=when), lambda value: value
        except InvalidInput:
            texts = [f"{i}: {shown(choice)}" for i, choice in enumerate(distribution.choices)]
            return Categorical(texts, when=when), lambda value: texts[int(distribution.to_internal_repr(value))]
    kind = Float if isinstance(distribution, FloatDistribution) else Int
    made = kind(distribution.low, distribution.high, log=distribution.log, step=distribution.step, when=when)
    return made, lambda value: value


def _values(distribution: Any, codes: list[Any]) -> list[Any]:
    """The values of a parameter of ours for codes of its distribution."""
    if not isinstance(distribution, CategoricalDistribution):
        return codes
    parameter, _ = _parameter(distribution)
    return [parameter.choices[code] for code in codes]


def is_listed(distribution: Any) -> bool:
    """Whether other parameters may depend on one with this distribution."""
    try:
        parameter, _ = _parameter(distribution)
    except InvalidInput:
        return False
    return parameter.count is not None and parameter.count <= MAX_VALUES and not distribution.single()


def coded_values(trial: Any) -> dict[str, Any]:
    """The values of a trial; choices are given by their index, because they may be any objects, even equal ones."""
    values: dict[str, Any] = dict(trial.params)
    for name, each in trial.distributions.items():
        if isinstance(each, CategoricalDistribution):
            values[name] = int(each.to_internal_repr(values[name]))
    return values


def _distribution(name: str, parameter: Any) -> BaseDistribution:
    match parameter:
        case Categorical():
            return CategoricalDistribution(parameter.choices)
        case Float() if not (parameter.log and parameter.step):
            return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
        case Int() if not (parameter.log and parameter.step not in (None, 1)):
            return IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step or 1)
        case _:
            raise InvalidInput(f"Optuna has no parameter like {name!r}, {parameter!r}.")


def _names(study: Any) -> Mapping[str, Any]:
    """The direction of each objective, by name."""
    said = study.metric_names or [objective_named(i) for i in range(len(study.directions))]
    return dict(zip(said, study.directions, strict=True))


def objective_named(place: int) -> str:
    """The name of the outcome for an objective without a name."""
    return f"value {place}"


def limit_named(constraint: str) -> str:
    """The name of the outcome for a constraint."""
    return f"constraint {constraint}"


def _told(trial: Any, names: list[str], goals: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a finished trial, or the reason why there is none."""
    values = trial.values if trial.state != TrialState.FAIL else None
    if values is None or not all(map(math.isfinite, values)):
        return {"error": str(trial.user_attrs.get("error") or trial.state.name)}
    if "outcomes" not in goals:
        return {"value": values[0]}
    limits = {limit_named(name): value for name, value in trial.constraints.items() if math.isfinite(value)}
    return {"value": {**dict(zip(names, values, strict=True)), **limits}}
