"""A study of a number is a study that declares one outcome: both choose the same points, to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, replace
from importlib.util import find_spec
from typing import Any

import pytest
from declared_studies import LIMITED, SEVERAL, numbers_at
from each import each
from optimizer_studies import SPACES, value_of

import believer as bv
from believer import GP, AtMost, Maximize, Minimize, Optimizer, Outcome, Trial
from believer.acquisitions import ACQUISITIONS
from believer.acquisitions.acquisition import Several
from believer.batch import STRATEGIES
from believer.batch.request import LIMITS, ONE, takes
from believer.batch.request import SEVERAL as ANY
from believer.capabilities import has
from believer.errors import InvalidInput, MissingCapability
from believer.study.goal import Goal
from believer.surrogates import SURROGATES
from believer.testing.requests import Checked, request

Tell = Callable[[Optimizer, Trial, str, float], None]

FAST: dict[str, Any] = {
    "neural": lambda: bv.NeuralEnsemble(members=2, hidden=(8,), max_iterations=30),
    "last_layer": lambda: bv.LastLayer(hidden=(8,), max_iterations=30),
    "forest": lambda: bv.RandomForest(trees=10),
    "svr": lambda: bv.SVR(members=3),
    "sparse_gp": lambda: bv.SparseGP(inducing=4),
}
"""Surrogates that are slow as they come."""

NEED_SKLEARN = ("forest", "svr")
SINGLE = [name for name, acquisition in ACQUISITIONS.items() if not has(acquisition, Several)]
"""Acquisitions for one objective."""


def number(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    opt.tell(trial, value)


def by_name(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    opt.tell(trial, {name: value})


def noisy(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    wrong = 0.1 * math.sin(12.9898 * (trial.id + 1) ** 2)
    if trial.id % 2:
        opt.tell(trial, value + wrong, noise=0.1)
    else:
        opt.tell(trial, Outcome({name: value + wrong}, noise={name: 0.1}))


def replicated(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    opt.tell(trial, {name: [value + 0.1 * math.sin(12.9898 * (3 * trial.id + k + 1) ** 2) for k in range(3)]})


def failing(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    if trial.id % 4 == 1:
        opt.tell(trial, error="broke down")
    elif trial.id % 4 == 3:
        opt.tell(trial, math.nan)
    else:
        opt.tell(trial, value)


def lost(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    opt.tell(trial, {name: math.nan if trial.id % 3 == 1 else value})


def partly(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    """Some stay pending, and nobody waits for others."""
    if trial.id % 4 == 1:
        opt.abandon(trial)
    elif trial.id % 4 != 2:
        opt.tell(trial, value)


def corrected(opt: Optimizer, trial: Trial, name: str, value: float) -> None:
    opt.tell(trial, value + 1.0)
    opt.amend(trial, value)


HAPPENINGS: dict[str, Tell] = {
    tell.__name__: tell for tell in (number, by_name, noisy, replicated, failing, lost, partly, corrected)
}


def life(
    outcomes: dict[str, Goal] | None, tell: Tell = number, asking: dict[str, Any] | None = None, **options: Any
) -> list[Any]:
    """All that can be seen of a study, in order; ``outcomes`` declares one, or None."""
    space, name = SPACES[options.pop("space", "cube")], next(iter(outcomes or ["value"]))
    options = {"n_init": 4, "seed": 3, "outcomes": outcomes, **options}
    opt, seen = Optimizer(space, **options), list[Any]()
    opt.observe(space.decode([[0.9] * space.dim])[0], value_of(opt.ask(1)[0]))
    for q in (3, 3, 2):
        batch = opt.ask(q, **(asking or {}))
        seen += [[astuple(replace(trial, encoded=trial.encoded.tolist())) for trial in batch], batch.verdict, opt.best]
        for trial in batch:
            tell(opt, trial, name, value_of(trial))
        said = opt.recommend()
        seen += [said.trial, said.params, said.mean, said.std, said.interval, said.feasible, opt.counts]
    prediction = opt.predict([{**trial.params} for trial in opt.trials])
    hyperparameters = {"value" if key == name else key: value for key, value in (opt.hyperparameters or {}).items()}
    return [*seen, prediction.mean.tolist(), prediction.std.tolist(), hyperparameters]


def assert_one_path(**options: Any) -> None:
    """A number, "value" and "loss" are three names of one study."""
    goal: Goal = Maximize() if options.get("maximize") else Minimize()
    plain = life(None, **options)
    declared = {name: value for name, value in options.items() if name != "maximize"}
    assert life({"value": goal}, **declared) == plain
    assert life({"loss": goal}, **declared) == plain


@pytest.mark.parametrize("tell", HAPPENINGS.values(), ids=HAPPENINGS)
def test_whatever_happens_a_number_is_one_declared_outcome(tell: Tell) -> None:
    for strategy in ("kb", "qei"):
        assert_one_path(strategy=strategy, tell=tell)


@each("strategy", STRATEGIES)
def test_for_every_strategy_a_number_is_one_declared_outcome(strategy: str) -> None:
    assert_one_path(strategy=strategy, tell=failing, maximize=True)
    assert_one_path(strategy=strategy, tell=partly, space="mixed")


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_on_every_surrogate_a_number_is_one_declared_outcome(surrogate: str) -> None:
    if surrogate in NEED_SKLEARN and find_spec("sklearn") is None:
        pytest.skip("needs scikit-learn")
    recipe = FAST.get(surrogate, lambda: surrogate)()
    for tell in (number, noisy, failing):
        assert_one_path(surrogate=recipe, tell=tell)
    assert_one_path(surrogate=recipe, strategy="kb", maximize=True, space="mixed")


@pytest.mark.parametrize("acquisition", SINGLE)
def test_for_every_acquisition_a_number_is_one_declared_outcome(acquisition: str) -> None:
    for strategy in ("hedged", "kb", "top_q", "lp"):
        assert_one_path(acquisition=acquisition, strategy=strategy, tell=failing)
    assert_one_path(acquisition=acquisition, tell=noisy, maximize=True)


REPEATING = [name for name, strategy in STRATEGIES.items() if getattr(strategy, "repeats", False)]


@pytest.mark.parametrize("strategy", REPEATING)
def test_where_points_are_measured_again_a_number_is_one_declared_outcome(strategy: str) -> None:
    for tell in (noisy, replicated, failing):
        assert_one_path(
            strategy=strategy, tell=tell, asking={"repeat": True}, surrogate=GP(noise="infer"), space="line"
        )


OPTIONS: dict[str, dict[str, Any]] = {
    "failures are learned": {"failures": "learn", "tell": failing},
    "lost numbers are learned": {"failures": "learn", "tell": lost, "strategy": "kb", "maximize": True},
    "resolution and warp": {"resolution": 0.05, "warp": "none"},
    "no design": {"n_init": 1},
    "maximizer": {"maximizer": bv.Candidates()},
    "constraint": {"space": "constrained", "tell": partly},
    "equal points": {"space": "discrete", "tell": failing, "asking": {"distinct": False}},
    "fixed": {"asking": {"fixed": {"x0": 0.25}}, "tell": failing},
    "another strategy": {"asking": {"strategy": "fantasy"}},
}


@each("options", OPTIONS.values(), ids=OPTIONS)
def test_with_every_option_a_number_is_one_declared_outcome(options: dict[str, Any]) -> None:
    assert_one_path(**options)


@pytest.mark.both_backends
def test_points_measured_again_are_the_same_points() -> None:
    """The law above would hold as well if nothing was ever measured again."""

    def again(outcomes: dict[str, Goal] | None) -> list[Any]:
        opt = Optimizer(SPACES["line"], n_init=4, seed=0, surrogate=GP(noise="infer"), outcomes=outcomes)
        for _ in range(8):
            for trial in opt.ask(3, repeat=True):
                noisy(opt, trial, next(iter(outcomes or ["value"])), 3.0 * value_of(trial))
        return [trial.encoded.tolist() for trial in opt.trials]

    plain = again(None)
    assert len({tuple(unit) for unit in plain}) < len(plain)
    assert again({"value": Minimize()}) == again({"loss": Minimize()}) == plain


@pytest.mark.parametrize("goal", [Minimize(), Maximize()], ids=str)
@pytest.mark.parametrize("name", ["value", "loss", "yield of the reaction, in %"])
def test_a_number_is_told_to_any_study_with_one_goal(name: str, goal: Goal) -> None:
    opt = Optimizer(SPACES["cube"], outcomes={name: goal}, n_init=2, seed=0)
    first, second, third, fourth = opt.ask(4)
    opt.tell(first, 0.4)
    opt.tell_many([second, third], [0.5, 0.3], [None, 0.1])
    opt.tell(fourth, math.nan)
    observed = opt.observe({"x0": 0.5, "x1": 0.5}, 0.6)
    opt.amend(first, 0.45)
    assert opt.outcomes[first.id] == Outcome({name: 0.45})
    assert opt.outcomes[third.id] == Outcome({name: 0.3}, noise={name: 0.1})
    assert opt.best == ((third if isinstance(goal, Minimize) else observed).params, 0.3 if goal == Minimize() else 0.6)
    assert (opt.counts.done, opt.counts.failed) == (4, 1)


def test_a_number_is_not_told_to_a_study_with_several_outcomes() -> None:
    for outcomes in (LIMITED, SEVERAL):
        opt = Optimizer(SPACES["cube"], outcomes=outcomes, seed=0)
        trial = opt.ask(1)[0]
        with pytest.raises(InvalidInput, match="this study has the outcomes cost, "):
            opt.tell(trial, 0.4)
        assert opt.counts.pending == 1


def test_a_request_without_outputs_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one output"):
        replace(request(Checked(STRATEGIES["kb"], GP(), bv.LogEI())), outputs=())


GOALS: dict[str, dict[str, Goal]] = {
    "a number": {"cost": Minimize()},
    "a limit": {"cost": Minimize(), "heat": AtMost(1.1)},
    "several": {"cost": Minimize(), "yield": Maximize()},
    "several within limits": SEVERAL,
}
NEEDED = {"a number": (ONE, LIMITS, ANY), "a limit": (LIMITS, ANY), "several": (ANY,), "several within limits": (ANY,)}
"""Of each kind of goals, what a strategy must say that it takes."""


@each("kind", GOALS)
@each("strategy", STRATEGIES)
def test_a_strategy_works_with_what_it_says_and_refuses_the_rest_in_a_sentence(strategy: str, kind: str) -> None:
    outcomes = GOALS[kind]
    if takes(STRATEGIES[strategy]) not in NEEDED[kind]:
        with pytest.raises(
            MissingCapability, match=rf"^{strategy} chooses for one objective[^.]*this study has"
        ) as caught:
            Optimizer(SPACES["cube"], outcomes=outcomes, strategy=strategy, seed=0)
        named = str(caught.value).rpartition(": ")[2].rstrip(".").replace(";", ",").split(", ")
        assert {takes(STRATEGIES[name]) for name in named} <= {*NEEDED[kind]}
        opt = Optimizer(SPACES["cube"], outcomes=outcomes, seed=0)
        with pytest.raises(MissingCapability, match=f"^{strategy} "):
            opt.ask(1, strategy=strategy)
        return
    opt = Optimizer(SPACES["cube"], outcomes=outcomes, strategy=strategy, n_init=4, seed=0)
    for q in (4, 2, 2):
        for trial in opt.ask(q):
            if trial.id == 2:
                opt.tell(trial, error="broke down")
            else:
                opt.tell(trial, {name: numbers_at(trial.encoded)[name] for name in outcomes})
    assert [trial.origin for trial in opt.trials[-4:]] == ["model"] * 4
