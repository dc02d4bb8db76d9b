from __future__ import annotations

import math
import pickle
from collections.abc import Mapping

import numpy as np
import pytest

from believer.arrays import Array
from believer.errors import InvalidInput
from believer_bench.problems import SEVERAL, SeveralProblem, best_feasible, feasible_regret
from believer_bench.problems.several import Wanted, of_rows

LIMITS = [name for name, make in SEVERAL.items() if make().optimum is not None]
FRONTS = [name for name in SEVERAL if name not in LIMITS]


def identity(goals: Mapping[str, Wanted], **known: object) -> SeveralProblem:
    """As many outcomes as parameters, each its parameter."""
    box = dict.fromkeys(goals, (-10.0, 10.0))
    return of_rows("identity", np.array, box, goals, **known)  # type: ignore[arg-type]


def uniform(problem: SeveralProblem, m: int = 4096) -> Array:
    return problem.evaluate(np.random.default_rng(0).random((m, problem.space.dim)))


@pytest.mark.parametrize("name", SEVERAL)
def test_a_problem_is_named_by_its_key_and_names_its_outcomes(name: str) -> None:
    problem = SEVERAL[name]()
    params = problem.space.decode(np.full((1, problem.space.dim), 0.3))[0]
    assert problem.name == name
    assert list(problem(params)) == list(problem.goals)
    np.testing.assert_array_equal(problem.table([problem(params)]), problem.evaluate(problem.space.encode([params])))
    assert pickle.loads(pickle.dumps(problem)) == problem


@pytest.mark.parametrize("name", SEVERAL)
def test_it_has_either_an_optimum_or_a_front(name: str) -> None:
    problem = SEVERAL[name]()
    one = len(problem.objectives) == 1
    assert (problem.optimum is not None, problem.optimizer is not None) == (one, one)
    assert (problem.reference is None, problem.hypervolume is None) == (one, one)
    if problem.reference is not None:
        assert len(problem.reference) == len(problem.objectives)


@pytest.mark.parametrize("name", SEVERAL)
def test_outcomes_are_finite_on_the_whole_space_corners_included(name: str) -> None:
    problem = SEVERAL[name]()
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * problem.space.dim)).reshape(problem.space.dim, -1).T
    assert np.isfinite(problem.evaluate(corners)).all()
    assert np.isfinite(uniform(problem, 64)).all()


@pytest.mark.parametrize("name", LIMITS)
def test_the_optimum_is_reached_within_the_limits_and_by_nothing_below(name: str) -> None:
    problem = SEVERAL[name]()
    assert problem.optimum is not None
    assert problem.optimizer is not None
    sizes = np.abs(problem.violations(uniform(problem))).max(axis=0)
    for params in problem.optimizer:
        Y = problem.table([problem(params)])
        assert problem.to_minimize(Y)[0, 0] == pytest.approx(problem.optimum, rel=1e-8)
        assert (problem.violations(Y)[0] <= 1e-9 * sizes).all()
    Y = uniform(problem)
    assert problem.to_minimize(Y)[problem.feasible(Y)].min() > problem.optimum


@pytest.mark.parametrize("name", LIMITS)
def test_no_feasible_point_near_the_optimizer_is_better(name: str) -> None:
    problem = SEVERAL[name]()
    assert problem.optimizer is not None
    rng, center = np.random.default_rng(1), problem.space.encode(problem.optimizer)[0]
    for width in (1e-1, 1e-2, 1e-3, 1e-4):
        near = problem.evaluate(np.clip(center + width * rng.uniform(-1.0, 1.0, (2000, len(center))), 0.0, 1.0))
        assert feasible_regret(problem, near)[-1] > -1e-9 * max(1.0, abs(problem.optimum or 0.0))


@pytest.mark.parametrize(
    ("name", "share"),
    [("constrained_branin", 0.70), ("gardner1", 0.67), ("gardner2", 0.019), ("welded_beam", 0.0011)],
)
def test_how_much_of_the_space_is_feasible(name: str, share: float) -> None:
    problem = SEVERAL[name]()
    found = problem.feasible(uniform(problem, 20_000)).mean()
    assert found == pytest.approx(share, abs=4.0 * math.sqrt(share / 20_000))


@pytest.mark.parametrize("name", FRONTS)
def test_the_ideal_hypervolume_is_above_that_of_any_points_and_below_the_whole_box(name: str) -> None:
    problem = SEVERAL[name]()
    assert problem.hypervolume is not None
    Y = uniform(problem, 20_000)
    F, reference = problem.to_minimize(Y)[problem.feasible(Y)], problem.reference_to_minimize()
    corner = F.min(axis=0)
    rng = np.random.default_rng(0)
    samples = corner + (reference - corner) * rng.random((2000, len(corner)))
    dominated = np.array([(sample >= F).all(axis=1).any() for sample in samples]).mean()
    box = float(np.prod(reference - corner))
    assert dominated * box < problem.hypervolume * (1.0 + 4.0 * 0.5 / math.sqrt(2000))
    assert dominated * box / problem.hypervolume > 0.2


def test_the_fronts_in_closed_form_agree_with_their_own_points() -> None:
    angles = np.linspace(0.0, 1.0, 20_001)
    for name, tail in [("zdt1", 0.0), ("zdt2", 0.0), ("dtlz2", 0.5), ("c2_dtlz2", 0.5)]:
        problem = SEVERAL[name]()
        X = np.column_stack([angles, *[np.full(len(angles), tail)] * (problem.space.dim - 1)])
        Y = problem.evaluate(X)
        F = problem.to_minimize(Y)[problem.feasible(Y)]
        F = F[np.argsort(F[:, 0])]
        right, top = problem.reference_to_minimize()
        widths = np.diff(np.append(F[:, 0], right))
        assert float((widths * (top - np.minimum.accumulate(F[:, 1]))).sum()) == pytest.approx(
            problem.hypervolume, abs=2e-4 * top
        )


def test_each_kind_of_goal_has_its_sign() -> None:
    goals: dict[str, Wanted] = {
        "up": ("maximize", None),
        "most": ("at_most", 3.0),
        "down": ("minimize", None),
        "least": ("at_least", -1.0),
        "in": ("between", (0.0, 2.0)),
    }
    problem = identity(goals, reference=(1.0, 2.0))
    Y = np.array([[5.0, 4.0, 7.0, 0.0, 1.0], [5.0, 3.0, 7.0, -1.0, 2.0], [5.0, 0.0, 7.0, -3.0, -0.5]])
    assert problem.objectives == ("up", "down")
    np.testing.assert_array_equal(problem.to_minimize(Y), [[-5.0, 7.0]] * 3)
    np.testing.assert_array_equal(
        problem.violations(Y), [[1.0, -1.0, -1.0, -1.0], [0.0, 0.0, -2.0, 0.0], [-3.0, 2.0, 0.5, -2.5]]
    )
    np.testing.assert_array_equal(problem.feasible(Y), [False, True, False])
    np.testing.assert_array_equal(problem.reference_to_minimize(), [-1.0, 2.0])


def test_without_limits_everything_is_feasible() -> None:
    problem = SEVERAL["zdt1"]()
    assert problem.violations(uniform(problem, 5)).shape == (5, 0)
    assert problem.feasible(uniform(problem, 5)).all()


def test_the_best_feasible_value_is_inf_until_there_is_one_and_never_rises() -> None:
    goals: dict[str, Wanted] = {"value": ("maximize", None), "limit": ("at_most", 0.0)}
    problem = identity(goals, optimum=9.0)
    Y = np.array([[8.0, 1.0], [2.0, -1.0], [1.0, -1.0], [9.0, 0.5], [7.0, 0.0]])
    np.testing.assert_array_equal(best_feasible(problem, Y), [np.inf, -2.0, -2.0, -2.0, -7.0])
    np.testing.assert_array_equal(feasible_regret(problem, Y), [np.inf, 7.0, 7.0, 7.0, 2.0])


def test_what_is_not_known_is_refused() -> None:
    front, limits = SEVERAL["zdt1"](), SEVERAL["gramacy"]()
    with pytest.raises(InvalidInput, match="one objective; 'zdt1' has 2"):
        best_feasible(front, uniform(front, 3))
    with pytest.raises(InvalidInput, match="known optimum; 'zdt1' has none"):
        feasible_regret(front, uniform(front, 3))
    with pytest.raises(InvalidInput, match="reference point"):
        limits.reference_to_minimize()
    with pytest.raises(InvalidInput):
        limits({"x": 2.0, "y": 0.0})
