"""Definitions of problems with several outcomes beside BoTorch's, where it has them and has them as published."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.arrays import Array
from believer.space import Float
from believer_bench.problems import SEVERAL, SeveralProblem

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

FRONTS = {"branin_currin": "BraninCurrin", "vehicle_safety": "VehicleSafety"}
FRONTS_IN_4D = {"zdt1": "ZDT1", "zdt2": "ZDT2", "dtlz2": "DTLZ2", "c2_dtlz2": "C2DTLZ2"}


def theirs(name: str) -> Any:
    from botorch.test_functions import multi_objective

    if name in FRONTS:
        return getattr(multi_objective, FRONTS[name])(dtype=torch.double)
    return getattr(multi_objective, FRONTS_IN_4D[name])(dim=4, dtype=torch.double)


def box(problem: SeveralProblem) -> Array:
    """Lower and upper bounds (2, d)."""
    limits = [(p.low, p.high) for p in problem.space.parameters.values() if isinstance(p, Float)]
    return np.array(limits, dtype=np.float64).T


def points(problem: SeveralProblem, bounds: Any = None) -> tuple[Array, Any]:
    """Outcomes (64, k) at uniform points within the box of both, and the points as a tensor."""
    low, high = box(problem)
    if bounds is not None:
        low, high = np.maximum(low, bounds[0].numpy()), np.minimum(high, bounds[1].numpy())
    X = low + (high - low) * np.random.default_rng(3).random((64, len(low)))
    rows = [problem(dict(zip(problem.space.names, x, strict=True))) for x in X.tolist()]
    return problem.table(rows), torch.as_tensor(X)


@pytest.mark.parametrize("name", [*FRONTS, *FRONTS_IN_4D])
def test_objectives_and_reference_points_are_botorchs(name: str) -> None:
    problem, reference = SEVERAL[name](), theirs(name)
    Y, X = points(problem)
    np.testing.assert_allclose(problem.to_minimize(Y), reference.evaluate_true(X).numpy(), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(problem.reference_to_minimize(), reference.ref_point.numpy(), rtol=1e-12)
    np.testing.assert_array_equal(reference.bounds.numpy(), box(problem))


@pytest.mark.parametrize("name", [*FRONTS, *FRONTS_IN_4D])
def test_ideal_hypervolumes_are_botorchs_or_a_little_above_what_its_search_found(name: str) -> None:
    problem, reference = SEVERAL[name](), theirs(name)
    found = reference.max_hv
    slack = 1e-12 if name in ("zdt1", "zdt2", "dtlz2") else 1.2e-2
    assert problem.hypervolume is not None
    assert found * (1.0 - 1e-12) <= problem.hypervolume <= found * (1.0 + slack)


def test_the_limit_of_c2_dtlz2_is_botorchs() -> None:
    problem = SEVERAL["c2_dtlz2"]()
    Y, X = points(problem)
    np.testing.assert_allclose(problem.violations(Y), -theirs("c2_dtlz2").evaluate_slack_true(X).numpy(), atol=1e-12)


def test_gramacys_problem_is_botorchs() -> None:
    from botorch.test_functions.synthetic import ConstrainedGramacy

    problem, reference = SEVERAL["gramacy"](), ConstrainedGramacy()
    Y, X = points(problem)
    np.testing.assert_allclose(Y[:, 0], reference.evaluate_true(X).numpy(), rtol=1e-12)
    np.testing.assert_allclose(problem.violations(Y), -reference.evaluate_slack_true(X).numpy(), atol=1e-12)
    assert problem.optimum == pytest.approx(reference.optimal_value, abs=1e-4)


def test_the_disk_of_branin_is_botorchs() -> None:
    from botorch.test_functions.multi_objective import ConstrainedBraninCurrin

    problem, reference = SEVERAL["constrained_branin"](), ConstrainedBraninCurrin()
    Y, X = points(problem)
    U = (X + torch.tensor([5.0, 0.0])) / 15.0
    np.testing.assert_allclose(problem.violations(Y), -reference.evaluate_slack_true(U).numpy(), atol=1e-10)
    np.testing.assert_allclose(Y[:, 0], reference.evaluate_true(U).numpy()[:, 0], atol=1e-10)


def test_the_welded_beam_is_botorchs_but_for_its_buckling_load() -> None:
    from botorch.test_functions.synthetic import WeldedBeamSO

    problem, reference = SEVERAL["welded_beam"](), WeldedBeamSO()
    Y, X = points(problem)
    np.testing.assert_allclose(Y[:, 0], reference.evaluate_true(X).numpy(), rtol=1e-12)
    found, expected = problem.violations(Y), -reference.evaluate_slack_true(X).numpy()
    np.testing.assert_allclose(found[:, :5], expected[:, :5], rtol=1e-9)
    # √(t² b⁶ / 36) is t b³ / 6; there it is multiplied by 6, which makes the load 36 times as large.
    np.testing.assert_allclose(36.0 * (6000.0 - found[:, 5]), 6000.0 - expected[:, 5], rtol=1e-9)
    assert problem.optimum is not None
    assert problem.optimum < reference.optimal_value  # the best that [Coello2002] found


def test_the_pressure_vessel_is_botorchs_where_plates_need_no_rounding() -> None:
    from botorch.test_functions.synthetic import PressureVessel

    problem, reference = SEVERAL["pressure_vessel"](), PressureVessel()
    _, X = points(problem, reference.bounds)
    X[:, :2] = (16.0 * X[:, :2]).round() / 16.0
    Y = problem.table(problem(dict(zip(problem.space.names, x, strict=True))) for x in X.tolist())
    np.testing.assert_allclose(Y[:, 0], reference.evaluate_true(X).numpy(), rtol=1e-12)
    expected = -reference.evaluate_slack_true(X).numpy()
    np.testing.assert_allclose(problem.violations(Y), expected[:, :3], rtol=1e-9, atol=1e-9)
    assert (expected[:, 3] < 0.0).all()
    assert problem.optimum is not None
    assert problem.optimum < reference.optimal_value
