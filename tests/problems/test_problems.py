from __future__ import annotations

import math
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput, MissingExtra
from believer.problems import (
    PROBLEMS,
    Problem,
    ackley8,
    branin,
    hartmann6,
    noisy,
    shifted,
    svm,
    svm_breast_cancer,
    synthetic,
)
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int

SYNTHETIC = ["hartmann6", "ackley8", "levy10", "wave1", "branin"]


def mixed() -> Problem:
    space = Space({"x": Float(0, 2), "n": Int(1, 4), "c": Categorical(["a", "b"])})
    return Problem("mixed", space, _mixed, 1.0, ({"x": 2.0, "n": 1, "c": "a"}, {"x": 0.5, "n": 1, "c": "a"}))


def _mixed(params: dict[str, Any]) -> float:
    x = params["x"]
    return float(params["n"] + (params["c"] == "b") + abs(x - 0.5) * (x != 2.0))


def even(params: dict[str, Any]) -> bool:
    return bool(params["n"] % 2 == 0)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_named_by_its_key(name: str) -> None:
    assert PROBLEMS[name]().name == name


@pytest.mark.parametrize("name", SYNTHETIC)
def test_every_optimizer_reaches_the_optimum(name: str) -> None:
    problem = PROBLEMS[name]()
    assert problem.optimizer
    assert problem.optimum is not None
    for params in problem.optimizer:
        assert problem(params) == pytest.approx(problem.optimum, abs=1e-9)
    np.testing.assert_allclose(problem.evaluate(problem.space.encode(problem.optimizer)), problem.optimum, atol=1e-9)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_no_point_is_better_than_the_optimum(name: str) -> None:
    problem = PROBLEMS[name]()
    assert problem.optimizer is not None
    assert problem.optimum is not None
    rng = np.random.default_rng(0)
    best = problem.space.encode(problem.optimizer)
    steps = rng.normal(scale=np.geomspace(1e-6, 1.0, 400)[:, None], size=(400, problem.space.dim))
    X = np.vstack([rng.random((400, problem.space.dim)), np.clip(best[0] + steps, 0.0, 1.0)])
    values = problem.evaluate(X)
    assert values.min() >= problem.optimum - 1e-12
    assert values.min() < problem.optimum + 1e-3


@pytest.mark.parametrize(("name", "dim"), [("hartmann6", 6), ("ackley", 8), ("levy", 10), ("wave1", 1), ("branin", 2)])
def test_a_point_has_one_value_whatever_points_stand_beside_it(name: str, dim: int) -> None:
    # To the bit, on any processor: sums over coordinates, which no BLAS orders by the number of rows.
    rows = getattr(synthetic, name)
    X = np.random.default_rng(0).random((67, dim))
    together = rows(X)
    for count in (1, 2, 3, 5, 16):
        for first in range(0, len(X) - count, 7):
            some = slice(first, first + count)
            np.testing.assert_array_equal(rows(X[some]), together[some])


@pytest.mark.parametrize(
    ("name", "dim", "box"),
    [
        ("hartmann6", 6, (0.0, 1.0)),
        ("ackley8", 8, (-5.0, 5.0)),
        ("levy10", 10, (-10.0, 10.0)),
        ("wave1", 1, (0.0, 1.0)),
    ],
)
def test_boxes_are_those_of_the_paper(name: str, dim: int, box: tuple[float, float]) -> None:
    assert list(PROBLEMS[name]().space.parameters.values()) == [Float(*box)] * dim


def test_values_away_from_the_optimum() -> None:
    # Branin by hand: at (0, 0) the bowl is 36, the cosine 1. Ackley at (5, ..., 5): the cosines are all 1.
    assert branin()({"x0": 0.0, "x1": 0.0}) == pytest.approx(36.0 + 20.0 - 10.0 / (8.0 * math.pi), rel=1e-14)
    corner = ackley8()({f"x{j}": 5.0 for j in range(8)})
    assert corner == pytest.approx(20.0 - 20.0 * math.exp(-1.0), rel=1e-14)


def test_evaluate_agrees_with_single_calls() -> None:
    problem = mixed()
    X = np.random.default_rng(1).random((20, problem.space.dim))
    np.testing.assert_array_equal(problem.evaluate(X), [problem(params) for params in problem.space.decode(X)])
    assert problem.evaluate(np.empty((0, 4))).shape == (0,)


def test_a_problem_checks_its_params() -> None:
    with pytest.raises(InvalidInput, match=r"must lie in \[0.0, 1.0\]; got 2.0 for 'x0'"):
        hartmann6()({f"x{j}": 2.0 for j in range(6)})


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_and_their_wrappers_are_picklable_values(name: str) -> None:
    plain = PROBLEMS[name]()
    still = np.zeros(plain.space.dim)
    for problem in (plain, noisy(plain, 0.1, 3), shifted(noisy(plain, 0.1, 3), still)):
        copied = pickle.loads(pickle.dumps(problem))
        assert copied == problem
        assert hash(copied) == hash(problem)


def test_svm_agrees_with_a_pipeline_and_crosses_processes() -> None:
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_breast_cancer
    from sklearn.decomposition import PCA
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    problem = svm_breast_cancer()
    good = {"C": 10.0, "gamma": 0.01, "weight": 0.7, "parts": 15}
    poor = {"C": 0.01, "gamma": 1e-5, "weight": 4.0, "parts": 5}
    X, y = load_breast_cancer(return_X_y=True)
    cv = StratifiedKFold(5, shuffle=True, random_state=svm.FOLDS_SEED)
    for params in (good, poor):
        classifier = SVC(C=params["C"], gamma=params["gamma"], class_weight={1: params["weight"]})
        model = make_pipeline(StandardScaler(), PCA(int(params["parts"]), svd_solver="full"), classifier)
        assert problem(params) == pytest.approx(1.0 - cross_val_score(model, X, y, cv=cv).mean(), abs=1e-12)
    assert problem(good) < 0.03
    assert problem(poor) > 0.3
    assert (len(problem.space), problem.space.dim, problem.optimum) == (4, 4, None)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(problem, good).result() == problem(good)


def test_svm_without_scikit_learn_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    svm._folds.cache_clear()
    with pytest.raises(MissingExtra, match=r"scikit-learn; install it with: pip install 'believer\[surrogates\]'"):
        svm_breast_cancer()({"C": 1.0, "gamma": 0.01, "weight": 1.0, "parts": 10})


def test_making_every_problem_does_not_load_scikit_learn() -> None:
    code = "import sys; from believer.problems import PROBLEMS; [make() for make in PROBLEMS.values()]"
    code += "; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_noise_depends_on_the_seed_and_the_point_only() -> None:
    plain = hartmann6()
    X = np.random.default_rng(2).random((500, 6))
    noise = noisy(plain, 0.5, 7).evaluate(X) - plain.evaluate(X)
    np.testing.assert_array_equal(noisy(plain, 0.5, 7).evaluate(X[::-1])[::-1] - plain.evaluate(X), noise)
    other = noisy(plain, 0.5, 8).evaluate(X) - plain.evaluate(X)
    # Five standard errors of a mean, a standard deviation and a correlation over 500 normal draws.
    assert abs(noise.mean()) < 5 * 0.5 / math.sqrt(500)
    assert abs(noise.std() - 0.5) < 5 * 0.5 / math.sqrt(2 * 500)
    assert abs(np.corrcoef(noise, other)[0, 1]) < 5 / math.sqrt(500)
    np.testing.assert_allclose(noisy(plain, 1.0, 7).evaluate(X) - plain.evaluate(X), 2.0 * noise, atol=1e-12)


def test_minus_zero_has_the_noise_of_zero() -> None:
    problem = noisy(Problem("p", Space({"x": Float(0, 1)}), lambda params: 0.0), 1.0, 0)
    assert problem({"x": -0.0}) == problem({"x": 0.0}) != problem({"x": 1e-300})


def test_noise_keeps_the_true_optimum() -> None:
    plain = branin()
    problem = noisy(plain, 0.1, 0)
    assert (problem.optimum, problem.optimizer, problem.space) == (plain.optimum, plain.optimizer, plain.space)
    assert noisy(plain, 0.0, 0)(plain.optimizer[0]) == plain(plain.optimizer[0])  # type: ignore[index]


@pytest.mark.parametrize("name", SYNTHETIC)
def test_shifting_moves_the_optimizers_and_keeps_the_values(name: str) -> None:
    plain = PROBLEMS[name]()
    offset = np.linspace(0.3, 0.9, plain.space.dim)
    problem = shifted(plain, offset)
    assert plain.optimizer is not None
    assert problem.optimizer is not None
    assert len(problem.optimizer) == len(plain.optimizer)
    for moved, params in zip(problem.optimizer, plain.optimizer, strict=True):
        assert problem(moved) == pytest.approx(problem.optimum, abs=1e-9)
        assert moved != params
    X = np.random.default_rng(3).random((50, plain.space.dim))
    np.testing.assert_allclose(problem.evaluate((X + offset) % 1.0), plain.evaluate(X), atol=1e-9)


def test_shifts_compose_and_a_zero_shift_changes_nothing() -> None:
    plain = hartmann6()
    X = np.random.default_rng(4).random((50, 6))
    twice = shifted(shifted(plain, np.full(6, 0.25)), np.full(6, 0.5))
    np.testing.assert_allclose(twice.evaluate(X), shifted(plain, np.full(6, 0.75)).evaluate(X), atol=1e-9)
    corners = np.vstack([X, np.ones(6), np.zeros(6)])
    np.testing.assert_allclose(shifted(plain, np.zeros(6)).evaluate(corners), plain.evaluate(corners), atol=1e-12)


def test_a_lower_end_moves_without_wrapping_by_rounding() -> None:
    plain = Problem("edge", Space({"x": Float(0.1, 0.7)}), lambda params: float(params["x"]), 0.1, ({"x": 0.1},))
    for offset in np.random.default_rng(5).random(200):
        problem = shifted(plain, [offset])
        assert problem.optimizer is not None
        assert problem(problem.optimizer[0]) == pytest.approx(0.1, abs=1e-9)


def test_only_continuous_columns_move_and_the_seam_drops_an_optimizer() -> None:
    plain = mixed()
    problem = shifted(plain, [0.25, 0.0, 0.0, 0.0])
    assert problem.optimizer == ({"x": 1.0, "n": 1, "c": "a"},)
    assert problem(problem.optimizer[0]) == 1.0
    seam = Problem("seam", Space({"x": Float(0, 1)}), lambda params: -params["x"], -1.0, ({"x": 1.0},))
    assert shifted(seam, [0.5]).optimizer is None
    assert shifted(seam, [0.0]).optimizer == ({"x": 1.0},)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: noisy(mixed(), -1.0, 0), "std must be finite and not negative; got -1.0."),
        (lambda: noisy(mixed(), math.nan, 0), "std must be finite and not negative; got nan."),
        (lambda: noisy(mixed(), 1.0, -1), "seed must be a whole number, 0 or more; got -1."),
        (lambda: noisy(mixed(), 1.0, True), "seed must be a whole number, 0 or more; got True."),
        (lambda: shifted(mixed(), [0.5]), "offset must have one entry for each of 4 columns; got 1."),
        (lambda: shifted(mixed(), [1.0, 0, 0, 0]), "offset must lie in [0, 1); got [1.0, 0.0, 0.0, 0.0]."),
        (
            lambda: shifted(mixed(), [0, 0.5, 0, 0]),
            "offset must be 0 except for Floats without step; got 0.5 in column 1.",
        ),
        (
            lambda: shifted(mixed(), [0, 0, 0, 0.5]),
            "offset must be 0 except for Floats without step; got 0.5 in column 3.",
        ),
        (
            lambda: shifted(Problem("p", Space({"n": Int(1, 4)}, even), _mixed), [0]),
            "a problem to shift must have no constraint; 'p' has one.",
        ),
    ],
)
def test_a_broken_rule_says_the_rule_and_what_came(make: Any, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value) == text
