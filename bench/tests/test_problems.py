from __future__ import annotations

import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.problems import Problem, branin, hartmann6, problems_by_name
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int
from believer_bench.problems import PROBLEMS, noisy, shifted

SYNTHETIC = ["hartmann6", "ackley8", "levy10", "wave1", "branin"]


def mixed() -> Problem:
    space = Space({"x": Float(0, 2), "n": Int(1, 4), "c": Categorical(["a", "b"])})
    return Problem("mixed", space, _mixed, 1.0, ({"x": 2.0, "n": 1, "c": "a"}, {"x": 0.5, "n": 1, "c": "a"}))


def _mixed(params: dict[str, Any]) -> float:
    x = params["x"]
    return float(params["n"] + (params["c"] == "b") + abs(x - 0.5) * (x != 2.0))


def even(params: dict[str, Any]) -> bool:
    return bool(params["n"] % 2 == 0)


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


def test_a_problem_is_named_by_its_key_and_is_with_its_wrappers_a_picklable_value() -> None:
    for name, make in PROBLEMS.items():
        plain = make()
        assert plain.name == name
        still = np.zeros(plain.space.dim)
        for problem in (plain, noisy(plain, 0.1, 3), shifted(noisy(plain, 0.1, 3), still)):
            copied = pickle.loads(pickle.dumps(problem))
            assert copied == problem, name
            assert hash(copied) == hash(problem), name


def test_making_every_problem_does_not_load_scikit_learn() -> None:
    code = "import sys; from believer_bench.problems import PROBLEMS; [make() for make in PROBLEMS.values()]"
    code += "; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_suite_is_known_by_name_to_whoever_has_this_distribution() -> None:
    assert problems_by_name() == PROBLEMS


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
