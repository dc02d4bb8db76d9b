"""The library's own problems: the optimum is where they say, and a value depends on the point alone."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import EntryPoint
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from believer import problems
from believer.errors import InvalidInput, MissingExtra
from believer.problems import (
    PROBLEMS,
    Problem,
    ackley8,
    branin,
    hartmann6,
    problems_by_name,
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


def test_a_problem_is_named_by_its_key_and_is_a_picklable_value() -> None:
    for name, make in PROBLEMS.items():
        problem = make()
        assert problem.name == name
        copied = pickle.loads(pickle.dumps(problem))
        assert copied == problem
        assert hash(copied) == hash(problem)


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


THEIRS = {"mixed": mixed, "branin": mixed}


def test_other_packages_bring_problems_and_replace_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", f"{__name__}:THEIRS", problems.GROUP)
    monkeypatch.setattr(problems, "entry_points", lambda group: (point,) if group == problems.GROUP else ())
    assert problems_by_name() == {**PROBLEMS, "mixed": mixed}
