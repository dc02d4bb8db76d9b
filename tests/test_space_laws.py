"""Laws of random spaces of all kinds: what is drawn, handed out, written and read again holds every rule."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from optimizer_studies import assert_distinct

import believer as bv
from believer.arrays import SAME_POINT
from believer.errors import InvalidInput, SpaceExhausted
from believer.testing import parameter_checks, region_checks

QUICK = bv.Multistart(starts=2, candidates=32, neighbors=4)
few = settings(max_examples=settings().max_examples * 3 // 10)
"""Fifteen examples, and thirty where new ones are looked for."""

numbers = st.floats(-100.0, 100.0, width=32)


@st.composite
def floats(draw: st.DrawFn) -> bv.Float:
    low, width = draw(numbers), draw(st.floats(0.01, 1e4))
    step = draw(st.none() | st.sampled_from([width / 4, width / 30, 0.25 * width]))
    if draw(st.booleans()):
        return bv.Float(abs(low) + 1e-6, abs(low) + 1e-6 + width, log=True)
    return bv.Float(low, low + width, step=step)


@st.composite
def ints(draw: st.DrawFn) -> bv.Int:
    low, log = draw(st.integers(-50, 50)), draw(st.booleans())
    low = abs(low) + 1 if log else low
    return bv.Int(low, low + draw(st.integers(1, 200)), log=log, step=1 if log else draw(st.integers(1, 7)))


def lists(elements: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(elements, min_size=2, max_size=5, unique=True)


choices = st.sampled_from(["a", "b", "c", "long name", 1, 1.5, True, None])
parameters = st.one_of(
    floats(),
    ints(),
    lists(st.integers(-20, 20)).map(bv.Discrete),
    lists(st.sampled_from([0.1, 1.0, 2.5, 10.0, 300.0])).map(lambda values: bv.Discrete(values, log=True)),
    st.lists(choices, min_size=2, max_size=4, unique_by=lambda c: (type(c), c)).map(bv.Ordinal),
    st.lists(choices, min_size=2, max_size=4, unique_by=lambda c: (type(c), c)).map(bv.Categorical),
    st.just(bv.Categorical({"DMF": [36.7, 3.82], "water": [78.4, 1.85], "EtOH": [24.0, 1.7]})),
)


@st.composite
def spaces(draw: st.DrawFn) -> bv.Space:
    """Parameters of all kinds, some conditional on a choice, beside a mixture or numbers under linear rules."""
    found: dict[str, Any] = {f"p{i}": one for i, one in enumerate(draw(st.lists(parameters, max_size=3)))}
    if draw(st.booleans()):
        found["branch"] = bv.Categorical(["x", "y"])
        found["depth"] = bv.Int(1, draw(st.integers(2, 9)), when={"branch": "x"})
        found["width"] = bv.Float(0.0, 1.0, when={"branch": "y"})
    rules: list[Any] = []
    kind = draw(st.sampled_from(["none", "mixture", "percent", "few", "half-spaces"]))
    names = [f"m{i}" for i in range(draw(st.integers(2, 5)))]
    if kind == "percent":
        found |= {name: bv.Float(0, 100, step=draw(st.sampled_from([5, 10, 25]))) for name in names}
        rules = [bv.sum_to(names, 100)]
    elif kind != "none":
        found |= {name: bv.Float(0.0, draw(st.sampled_from([0.6, 1.0, 2.0]))) for name in names}
        rules = [bv.sum_to(names, 1.0)] if kind != "half-spaces" else []
        if kind == "few":
            rules.append(bv.max_parts(names, 2))
        if kind == "half-spaces":
            rules = [bv.linear({names[0]: 2.0, names[1]: draw(st.sampled_from([-1.0, 1.0]))}, at_most=1.2)]
    assume(found)
    try:
        return bv.Space(found, rules=rules)
    except InvalidInput:  # a mixture of bounds and steps that cannot add up
        assume(False)
        raise


def loss(params: dict[str, Any]) -> float:
    return sum(float(v) % 7.0 if isinstance(v, int | float) else len(str(v)) for v in params.values() if v is not None)


def assert_suggestions(space: bv.Space, trials: Any) -> None:
    for trial in trials:
        assert space.check(trial.params) == trial.params
        assert all(rule.holds(trial.params) for rule in space.rules)
        assert space.misplaced([trial.params], trial.encoded[None, :]) is None
        encoded, near = space.located(space.measured(trial.params))
        assert near
        assert np.abs(encoded - trial.encoded).max() <= 1e-6


@few
@given(spaces())
def test_regions_and_parameters_of_random_spaces_keep_their_contracts(space: bv.Space) -> None:
    for check in region_checks(space.region()):
        check()
    for parameter in space.parameters.values():
        for check in parameter_checks(parameter):
            check()


@few
@given(spaces(), st.integers(0, 100))
def test_points_come_back_from_their_columns_and_a_space_from_its_config(space: bv.Space, seed: int) -> None:
    X = space.region().sample(20, np.random.default_rng(seed))
    points = space.decode(X)
    back = space.decode(space.encode(points))
    assert (np.abs(space.encode(back) - space.encode(points)) <= SAME_POINT).all()
    for params, again in zip(points, back, strict=True):
        exact = [name for name in params if space.parameters[name].count is not None]
        assert again.keys() == params.keys()
        assert [again[name] for name in exact] == [params[name] for name in exact]
    for params in points:
        assert space.check(params) == params
        assert all(rule.holds(params) for rule in space.rules)
    assert bv.Space.from_config(space.to_config()) == space


@few
@given(
    spaces(),
    st.sampled_from(["kb", "cl_min", "hedged", "random"]),
    st.integers(0, 100),
    st.sampled_from(["plain", "shared", "used"]),
)
def test_a_study_suggests_what_is_lawful_and_goes_on_alike_when_it_is_loaded(
    space: bv.Space, strategy: str, seed: int, kind: str
) -> None:
    name = space.names[0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.jsonl"
        study = bv.Optimizer(space, n_init=3, seed=seed, strategy=strategy, maximizer=QUICK, journal=path)
        with suppress(SpaceExhausted), study:
            for _ in range(3):
                batch = study.ask(2, shared={name: 1} if kind == "shared" and len(space) > 1 else None)
                assert_suggestions(space, batch)
                if kind == "shared" and len(space) > 1:
                    assert len({repr(t.params.get(name)) for t in batch}) == 1
                for trial in batch:
                    number = isinstance(space.parameters[name], bv.Float) and trial.params.get(name, 0.0) > 0.0
                    used = {name: 1.01 * trial.params[name]} if kind == "used" and number else None
                    study.tell(trial, loss(trial.params), params=used)
            assert_distinct(study.trials)
            loaded = bv.Optimizer.load(path, append=False)
            assert loaded.trials == study.trials
            assert loaded.ask(1).trials == study.ask(1).trials
        assert bv.replay(path).identical


@few
@given(spaces(), st.sampled_from(["kb", "cl_min", "cl_max", "hedged"]), st.integers(0, 100))
def test_points_asked_for_one_by_one_are_those_asked_for_at_once(space: bv.Space, strategy: str, seed: int) -> None:
    studies = [bv.Optimizer(space, n_init=3, seed=seed, strategy=strategy, maximizer=QUICK) for _ in range(2)]
    with suppress(SpaceExhausted):
        for study in studies:
            for trial in study.ask(3):
                study.tell(trial, loss(trial.params))
        together, apart = studies[0].ask(3), [studies[1].ask(1)[0] for _ in range(3)]
        assert [t.encoded.tobytes() for t in together] == [t.encoded.tobytes() for t in apart]
        assert together.params == [t.params for t in apart]
