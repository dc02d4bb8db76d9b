"""What a journal writes down of the members of a study, and what it asks for again."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from journal_lines import edited
from optimizer_studies import SPACES, Plain, SpyAcquisition, SpyLie, SpySurrogate, started

import believer
from believer import (
    EI,
    GP,
    MQRBF,
    PI,
    QEI,
    SVR,
    UCB,
    Believe,
    Candidates,
    ConstantLie,
    Fantasy,
    FixedRBF,
    Float,
    LastLayer,
    LogEI,
    Multistart,
    NeuralEnsemble,
    Optimizer,
    PseudoObservations,
    RandomBatch,
    RandomForest,
    SklearnSurrogate,
    Space,
    SparseGP,
    replay,
)
from believer.arrays import Array
from believer.batch import STRATEGIES, Chosen, Request
from believer.errors import BelieverError, InvalidInput, JournalError
from believer.maximize import FixedStarts, Maximum, Objective, Search
from believer.numerics import lbfgs
from believer.study import serialization
from believer.study.settings import StudySettings
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel

ROLES = ("fit", "pointwise", "choose", "maximize", "verb")
"""The methods that make a class a surrogate, an acquisition, a strategy, a maximizer or a lie."""

PUBLIC = [
    cls
    for cls in (getattr(believer, name) for name in sorted({*believer.__all__, *believer._LATER}))
    if inspect.isclass(cls) and cls is not Optimizer and any(hasattr(cls, role) for role in ROLES)
]
VARIANTS: list[Any] = [
    *(GP("se", 0.0), GP("matern32", "infer"), GP(noise=1), GP(noise=1e-300), GP(prior="separate")),
    *(LogEI(0.1), EI(-1e-17), PI(xi=3), UCB(0.0), UCB(beta=5e-324)),
    *(ConstantLie("max"), ConstantLie(-1.5e99), ConstantLie(0), Believe(-2.5), Fantasy()),
    PseudoObservations(ConstantLie(0.1 + 0.2), "refit", "data"),
    PseudoObservations(Believe(1 / 3), "none"),
    Multistart(3, 17, 5, (0.5, 1e-9), 1, lbfgs.Settings(max_rounds=7, gradient_tol=1e-3, value_tol=1e-5)),
    Candidates(10, 2, 3, 4, 0.25),
    *(FixedStarts((0.0, 1.0)), FixedStarts((), draws=10, seed=3)),
    *(MQRBF(0.0, 0.5), FixedRBF(8), SparseGP(5), RandomForest(7, seed=1), SVR(members=3)),
    *(NeuralEnsemble(2, (8,), 5, seed=2), LastLayer((4, 4))),
    *STRATEGIES.values(),
]


DEFAULTS = [
    cls() for cls in PUBLIC if all(p.default is not p.empty for p in inspect.signature(cls).parameters.values())
]


def through_json(config: Any) -> Any:
    return json.loads(json.dumps(config, allow_nan=False))


@each("member", [*DEFAULTS, *VARIANTS], ids=repr)
def test_every_member_survives_its_config_and_json(member: Any) -> None:
    config = through_json(serialization.to_config(member))
    assert config == serialization.to_config(member)
    assert not serialization.is_custom(config)
    rebuilt = serialization.from_config(config, "member")
    assert type(rebuilt) is type(member)
    assert rebuilt == member
    assert repr(rebuilt) == repr(member)
    assert serialization.from_config(config, "member", member) is member


def test_no_public_member_is_left_out() -> None:
    assert {GP, LogEI, EI, PI, UCB, ConstantLie, Believe, Fantasy, PseudoObservations, RandomBatch} <= set(PUBLIC)
    assert {Multistart, Candidates} <= set(PUBLIC)
    # An estimator from elsewhere is custom, and is passed again.
    assert {*PUBLIC, FixedStarts} - {SklearnSurrogate} == {type(member) for member in (*DEFAULTS, *VARIANTS)}


def test_a_wrapped_estimator_is_written_by_name_and_passed_again() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    member = SklearnSurrogate(linear_model.BayesianRidge())
    config = through_json(serialization.to_config(member))
    assert serialization.is_custom(config)
    with pytest.raises(InvalidInput, match="custom surrogate"):
        serialization.from_config(config, "surrogate")
    assert serialization.from_config(config, "surrogate", member) is member
    with pytest.raises(InvalidInput, match="was written with surrogate"):
        serialization.from_config(config, "surrogate", SklearnSurrogate(linear_model.Ridge()))


@pytest.mark.parametrize(
    ("member", "text"),
    [
        (GP(), "GP()"),
        (GP("se"), "GP(kernel=se)"),
        (UCB(), "UCB(beta=2.0)"),
        (ConstantLie(), "ConstantLie(of=min)"),
        (RandomForest(7), "RandomForest(trees=7)"),
        (PseudoObservations(Believe(1.0)), "PseudoObservations(lie=Believe(sigmas=1.0))"),
        (FixedStarts(), "FixedStarts()"),
    ],
)
def test_a_member_is_told_briefly_by_what_is_not_the_default(member: Any, text: str) -> None:
    assert serialization.brief(through_json(serialization.to_config(member))) == text


def test_a_custom_member_is_told_by_its_class() -> None:
    assert serialization.brief(serialization.to_config(pytest)) == "module"


@pytest.mark.parametrize(
    "member",
    [
        GP(noise=np.float32(1e-3)),  # type: ignore[arg-type]
        UCB(np.int64(2)),  # type: ignore[arg-type]
        LogEI(np.float64(0.1)),
        ConstantLie(np.float32(0.5)),  # type: ignore[arg-type]
        Believe(np.int64(1)),  # type: ignore[arg-type]
        Candidates(np.int64(64)),  # type: ignore[arg-type]
        FixedStarts((np.float64(0.5),)),
    ],
    ids=lambda member: type(member).__name__,
)
def test_settings_given_as_numpy_numbers_are_numbers(member: Any) -> None:
    """And not custom members that must be passed again."""
    config = through_json(serialization.to_config(member))
    assert not serialization.is_custom(config)
    assert serialization.from_config(config, "member") == member


def test_strategies_are_named_or_are_themselves() -> None:
    for name, strategy in STRATEGIES.items():
        assert serialization.strategy_named(name) is strategy
        assert serialization.strategy_named(strategy) is strategy
    with pytest.raises(InvalidInput, match=r"cl_min, cl_max, .*random, or an object such as .*; got 'KB'"):
        serialization.strategy_named("KB")


# Whole studies


@pytest.mark.parametrize(
    "options",
    [
        {"surrogate": GP("matern32", "infer")},
        {"acquisition": UCB(3.0)},
        {"strategy": PseudoObservations(ConstantLie("mean"), "refit", "data")},
        {"maximizer": Multistart(starts=4, widths=(0.3, 0.03))},
        {"maximizer": Candidates(candidates=128)},
        {"n_init": 3, "seed": 123456789012345678901234567890, "maximize": True},
    ],
    ids=repr,
)
def test_a_study_of_the_librarys_members_is_loaded_without_passing_them(
    options: dict[str, Any], tmp_path: Path
) -> None:
    optimizer = started(SPACES["mixed"], **{"n_init": 4, **options})
    optimizer.ask(1)
    optimizer.save(tmp_path / "study.jsonl")
    with Optimizer.load(tmp_path / "study.jsonl") as loaded:
        assert loaded.settings.to_config() == optimizer.settings.to_config()
        assert loaded.space == optimizer.space
        assert loaded.ask(2).encoded.tobytes() == optimizer.ask(2).encoded.tobytes()
    members_again = {name: value for name, value in options.items() if name not in ("n_init", "seed", "maximize")}
    with Optimizer.load(tmp_path / "study.jsonl", **members_again) as loaded:
        assert loaded.counts == optimizer.counts


@dataclass(frozen=True)
class First:
    """A strategy: the first candidates of a list."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return RandomBatch().choose(request, memory)


@dataclass(frozen=True)
class Second(First):
    """The same under another name."""


@dataclass(frozen=True)
class Anywhere:
    """A maximizer that takes the best of a few draws."""

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        return Candidates(64, 4, 2, 1).maximize(objective, search, rng)


@dataclass(frozen=True)
class OtherSurrogate:
    def fit(self, data: Data, rng: np.random.Generator, previous: Any = None) -> GPModel:
        X, y = data.X, data.y
        return GP().fit(Data(X, y), rng, previous)


@dataclass(frozen=True)
class OtherAcquisition:
    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Any:
        return EI().pointwise(mean, std, incumbent)


def first_half(params: dict[str, Any]) -> bool:
    return bool(params["x"] < 0.5)


def second_half(params: dict[str, Any]) -> bool:
    return bool(params["x"] >= 0.5)


CUSTOM: dict[str, tuple[str, Any, Any]] = {
    "surrogate": ("surrogate", Plain(), OtherSurrogate()),
    "surrogate instead of the library's": ("surrogate", SpySurrogate(), GP()),
    "acquisition": ("acquisition", SpyAcquisition(), OtherAcquisition()),
    "strategy": ("strategy", First(), Second()),
    "strategy by name": ("strategy", First(), "kb"),
    "lie": ("strategy", PseudoObservations(SpyLie()), PseudoObservations(Believe())),
    "maximizer": ("maximizer", Anywhere(), Multistart()),
}


@pytest.mark.parametrize("case", CUSTOM)
def test_a_custom_member_is_passed_again_and_checked_by_name(case: str, tmp_path: Path) -> None:
    what, own, other = CUSTOM[case]
    path = tmp_path / "study.jsonl"
    with started(SPACES["line"], journal=path, **{what: own}) as optimizer:
        optimizer.ask(2)
    before = path.read_bytes()
    part = own.lie if case == "lie" else own
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    with pytest.raises(InvalidInput, match=f"custom {what}.*{type(part).__qualname__}.*pass it as {what}=") as caught:
        Optimizer.load(path)
    assert name in str(caught.value)
    with pytest.raises(InvalidInput, match=f"was written with {what}.*{type(part).__qualname__}.*Pass the same"):
        Optimizer.load(path, **{what: other})
    with pytest.raises(InvalidInput):
        replay(path)
    assert path.read_bytes() == before
    with Optimizer.load(path, **{what: own}) as loaded:
        assert len(loaded.ask(2)) == 2
    assert replay(path, **{what: own}).identical


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("surrogate", GP("se")),
        ("surrogate", Plain()),
        ("acquisition", EI()),
        ("acquisition", LogEI(0.5)),
        ("strategy", "cl_min"),
        ("strategy", First()),
        ("maximizer", Candidates()),
    ],
    ids=repr,
)
def test_other_members_than_those_of_the_journal_are_refused(what: str, other: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["line"], journal=path).close()
    with pytest.raises(InvalidInput, match=f"the journal was written with {what}"):
        Optimizer.load(path, **{what: other})
    Optimizer.load(path).close()


def test_a_constraint_is_passed_again_and_checked_by_name(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(Space({"x": Float(0.0, 1.0)}, first_half), journal=path).close()
    wrong: list[Callable[[dict[str, Any]], bool] | None] = [None, second_half, lambda params: True]
    for constraint in wrong:
        with pytest.raises(InvalidInput, match=r"constraint first_half; got .*constraint="):
            Optimizer.load(path, constraint=constraint)
    with Optimizer.load(path, constraint=first_half) as loaded:
        assert all(trial.params["x"] < 0.5 for trial in loaded.ask(5))
    free = tmp_path / "free.jsonl"
    started(SPACES["line"], journal=free).close()
    with pytest.raises(InvalidInput, match=r"with the constraint none; got first_half"):
        Optimizer.load(free, constraint=first_half)
    Optimizer.load(free).close()


# Journals that this version cannot understand


@pytest.mark.parametrize("what", ["surrogate", "acquisition", "strategy", "maximizer"])
def test_a_journal_that_names_an_unknown_type_is_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["line"], journal=path).close()
    edited(path, lambda begun: begun["config"].update({what: {"type": "os.system", "command": "true"}}))
    with pytest.raises(InvalidInput, match=f"names a {what} that this version does not know: 'os.system'"):
        Optimizer.load(path)
    with pytest.raises(BelieverError):
        replay(path)


def test_an_unknown_type_inside_a_known_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["line"], journal=path).close()
    edited(path, lambda begun: begun["config"]["strategy"].update(lie={"type": "Truth"}))
    with pytest.raises(InvalidInput, match="does not know: 'Truth'"):
        Optimizer.load(path)


def test_settings_that_a_known_type_does_not_have_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["line"], journal=path).close()
    edited(path, lambda begun: begun["config"]["surrogate"].update(trees=100))
    with pytest.raises(InvalidInput, match=r"settings for surrogate GP do not fit this version.*trees"):
        Optimizer.load(path)


@pytest.mark.parametrize(
    ("surrogate", "name", "only", "other"),
    [(GP("se", prior="shared"), "fit", "default", "paper"), (MQRBF(0.1), "form", "power", "printed")],
    ids=["GP", "MQRBF"],
)
def test_a_setting_that_left_is_read_at_its_only_value_and_refused_at_another(
    surrogate: Any, name: str, only: str, other: str, tmp_path: Path
) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["line"], journal=path, surrogate=surrogate).close()
    assert name not in json.loads(path.read_text().splitlines()[0])["config"]["surrogate"]
    edited(path, lambda begun: begun["config"]["surrogate"].update({name: only}))
    for passed in ({}, {"surrogate": surrogate}):
        with Optimizer.load(path, **passed) as loaded:
            assert loaded.settings.surrogate == surrogate
    assert replay(path).identical
    old = {**serialization.to_config(surrogate), name: only}
    assert serialization.brief(old) == serialization.brief(serialization.to_config(surrogate))
    edited(path, lambda begun: begun["config"]["surrogate"].update({name: other}))
    for passed in ({}, {"surrogate": surrogate}):
        with pytest.raises(InvalidInput, match=rf"\({name}='{other}'\), which is no part .*believer-paper"):
            Optimizer.load(path, **passed)


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "no seed": lambda config: config.pop("seed"),
    "no space": lambda config: config.pop("space"),
    "no strategy": lambda config: config.pop("strategy"),
    "no constraint": lambda config: config.pop("constraint"),
    "text for a space": lambda config: config.update(space="cube"),
    "text for a surrogate": lambda config: config.update(surrogate="GP"),
    "nothing for a surrogate": lambda config: config.update(surrogate=None),
    "a list for a strategy": lambda config: config.update(strategy=[]),
    "a type that is no text": lambda config: config.update(acquisition={"type": ["LogEI"]}),
    "a surrogate for a strategy": lambda config: config.update(strategy=config["surrogate"]),
    "an unknown kernel": lambda config: config["surrogate"].update(kernel="rbf"),
    "text for n_init": lambda config: config.update(n_init="4"),
    "zero for n_init": lambda config: config.update(n_init=0),
    "a fraction for a seed": lambda config: config.update(seed=0.5),
    "a negative seed": lambda config: config.update(seed=-1),
    "text for failures": lambda config: config.update(failures="no"),
    "bounds the wrong way": lambda config: config["space"]["parameters"][0].update(low=8.0),
    "an unknown parameter": lambda config: config["space"]["parameters"][0].update(kind="Complex"),
    "no parameters": lambda config: config["space"].update(parameters=[]),
}


@pytest.mark.parametrize("damage", BROKEN.values(), ids=BROKEN)
def test_settings_that_make_no_sense_are_refused_by_load_and_replay(
    damage: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["line"], journal=path).close()
    edited(path, lambda begun: damage(begun["config"]))
    before = path.read_bytes()
    for read in (Optimizer.load, replay):
        with pytest.raises((JournalError, InvalidInput)) as caught:
            read(path)
        assert len(str(caught.value)) > 20
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("strategy", "advice"), [(QEI, r"Make one of it: QEI\("), (Believe(), r"PseudoObservations\(lie\)")]
)
def test_a_class_or_a_lie_in_place_of_a_strategy_is_refused_with_what_to_do(strategy: Any, advice: str) -> None:
    with pytest.raises(InvalidInput, match=advice):
        serialization.strategy_named(strategy)


def test_a_journal_without_a_setting_that_came_later_means_what_was_used_then() -> None:
    former = {name: value for name, value in serialization.to_config(GP("se")).items() if name != "prior"}
    assert serialization.from_config(former, "surrogate") == GP("se", prior="separate")
    assert serialization.from_config(former, "surrogate", GP("se", prior="separate")) == GP("se", prior="separate")
    with pytest.raises(InvalidInput, match=r"prior='separate'.*; got .*prior='auto'"):
        serialization.from_config(former, "surrogate", GP("se"))


@pytest.mark.parametrize("given", ["gp", GP(), GP("se"), GP(prior="shared"), GP(prior="separate")], ids=repr)
def test_the_prior_that_suits_the_space_is_taken_unless_one_is_stated(given: Any) -> None:
    stated = given.prior if isinstance(given, GP) else "auto"
    for parameter, usual in ((believer.Int(1, 3), "separate"), (Float(1.0, 3.0), "shared")):
        settings = StudySettings.of(Space({"x": parameter}), surrogate=given, seed=0)
        assert isinstance(settings.surrogate, GP)
        assert settings.surrogate.prior == (usual if stated == "auto" else stated)
        again = StudySettings.from_config(settings.to_config(), {"surrogate": given})
        assert again.surrogate == settings.surrogate
