from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from each import each
from scipy.optimize import minimize as scipy_minimize

from believer.arrays import Array, BoolArray
from believer.numerics.lbfgs import BatchFunction, Settings, minimize
from believer.problems.synthetic import hartmann6

pytestmark = pytest.mark.both_backends

STRICT = Settings(max_rounds=2000, gradient_tol=1e-7, value_tol=0.0)


@dataclass(frozen=True)
class Case:
    """An objective, its box, and the exact minimum over the box where there is only one."""

    name: str
    objective: BatchFunction
    lower: Array
    upper: Array
    minimum: float | None = None

    def starts(self, s: int = 16, seed: int = 0) -> Array:
        U = np.random.default_rng(seed).random((s, len(self.lower)))
        starts: Array = self.lower + U * (self.upper - self.lower)
        return starts

    def scipy(self, x0: Array) -> float:
        def one(x: Array) -> tuple[float, Array]:
            f, G = self.objective(x[None, :])
            return float(f[0]), G[0]

        bounds = list(zip(self.lower, self.upper, strict=True))
        tight = {"maxiter": 2000, "maxfun": 20000, "ftol": 0.0, "gtol": 1e-7}
        return float(scipy_minimize(one, x0, jac=True, method="L-BFGS-B", bounds=bounds, options=tight).fun)


def rosenbrock(X: Array) -> tuple[Array, Array]:
    a, b = X[:, :-1], X[:, 1:]
    bend, lag = b - a * a, 1.0 - a
    G = np.zeros_like(X)
    G[:, :-1] -= 400.0 * a * bend + 2.0 * lag
    G[:, 1:] += 200.0 * bend
    return (100.0 * bend**2 + lag**2).sum(axis=1), G


def quadratic(scales: Array, center: Array) -> BatchFunction:
    def value(X: Array) -> tuple[Array, Array]:
        gap = X - center
        return 0.5 * (scales * gap * gap).sum(axis=1), scales * gap

    return value


def coupled(H: Array, center: Array) -> BatchFunction:
    def value(X: Array) -> tuple[Array, Array]:
        gap = X - center
        slope = (gap[:, None, :] * H).sum(axis=2)
        return 0.5 * (gap * slope).sum(axis=1), slope

    return value


def hartmann(X: Array) -> tuple[Array, Array]:
    """Values, and gradients by central differences of fourth order: their error, h⁴ f⁽⁵⁾/30 and rounding, is 1e-10."""
    step = 1e-4
    f = hartmann6(X)
    G = np.empty_like(X)
    for j in range(X.shape[1]):
        e = np.zeros(X.shape[1])
        e[j] = step
        near, far = hartmann6(X + e) - hartmann6(X - e), hartmann6(X + 2 * e) - hartmann6(X - 2 * e)
        G[:, j] = (8.0 * near - far) / (12.0 * step)
    return f, G


def _cases() -> list[Case]:
    rng = np.random.default_rng(7)
    A = rng.standard_normal((8, 8))
    H = A @ A.T / 8 + 0.05 * np.eye(8)
    center = np.array([0.3, 1.5, -0.7, 0.5, 2.0, 0.1, 0.9, -3.0])
    # No larger than this: a search that goes by values cannot tell gradients below √(2 λ ε |f|) from zero.
    stretched = np.array([1e-2, 1.0, 0.1, 1e2, 0.5, 10.0, 0.1, 0.05])
    outside = np.clip(center, 0.0, 1.0) - center
    zero, one = np.zeros(8), np.ones(8)
    return [
        Case("rosenbrock 2-D", rosenbrock, np.full(2, -2.0), np.full(2, 2.0), 0.0),
        Case("rosenbrock 10-D", rosenbrock, np.full(10, -2.0), np.full(10, 2.0)),
        Case("rosenbrock cut off", rosenbrock, np.full(4, -1.0), np.full(4, 0.7)),
        Case(
            "stretched quadratic",
            quadratic(stretched, center),
            zero,
            one,
            0.5 * float((stretched * outside**2).sum()),
        ),
        Case("coupled quadratic", coupled(H, center), zero, one),
        Case("coupled quadratic inside", coupled(H, np.full(8, 0.4)), zero, one, 0.0),
        Case("hartmann 6-D", hartmann, np.zeros(6), np.ones(6)),
    ]


CASES = _cases()
every_case = each("case", CASES, ids=[case.name for case in CASES])


def kkt_residual(case: Case, X: Array) -> Array:
    """max |x - clip(x - g)| of each row: zero exactly at points that satisfy the first-order conditions."""
    G = case.objective(X)[1]
    residual: Array = np.abs(X - np.clip(X - G, case.lower, case.upper)).max(axis=1)
    return residual


@every_case
def test_every_start_ends_at_a_kkt_point_no_worse_than_it_began(case: Case) -> None:
    X0 = case.starts()
    found = minimize(case.objective, X0, case.lower, case.upper, STRICT)
    assert kkt_residual(case, found.X).max() < 1e-6
    assert (found.f <= case.objective(X0)[0]).all()
    np.testing.assert_array_equal(found.X, np.clip(found.X, case.lower, case.upper))
    np.testing.assert_array_equal(found.f, case.objective(found.X)[0])
    if case.minimum is not None:
        np.testing.assert_allclose(found.f, case.minimum, rtol=1e-9, atol=1e-11)


@every_case
def test_it_is_as_good_as_scipy_from_the_same_starts(case: Case) -> None:
    X0 = case.starts()
    ours = minimize(case.objective, X0, case.lower, case.upper, STRICT).f
    theirs = np.array([case.scipy(x) for x in X0])
    assert np.median(ours) <= np.median(theirs) + 1e-8
    assert ours.min() <= theirs.min() + 1e-8


@every_case
def test_many_starts_together_end_where_each_ends_alone(case: Case) -> None:
    # Not asked bit for bit: how a library sums a product may depend on the number of rows.
    X0 = case.starts(6)
    together = minimize(case.objective, X0, case.lower, case.upper, STRICT)
    alone = [minimize(case.objective, x[None, :], case.lower, case.upper, STRICT) for x in X0]
    np.testing.assert_allclose(together.X, np.vstack([one.X for one in alone]), rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(together.f, np.concatenate([one.f for one in alone]), rtol=1e-8, atol=1e-10)
    assert together.rounds < sum(one.rounds for one in alone)


@every_case
def test_no_point_outside_the_box_is_ever_evaluated(case: Case) -> None:
    seen: list[Array] = []

    def watched(X: Array) -> tuple[Array, Array]:
        seen.append(X.copy())
        return case.objective(X)

    wild = 3.0 * case.starts() - case.upper
    found = minimize(watched, wild, case.lower, case.upper, STRICT)
    visited = np.vstack(seen)
    assert ((visited >= case.lower) & (visited <= case.upper)).all()
    np.testing.assert_array_equal(seen[0], np.clip(wild, case.lower, case.upper))
    assert found.rounds == len(seen)


def test_the_starts_are_left_alone() -> None:
    case = CASES[0]
    X0 = case.starts()
    X0.flags.writeable = False
    before = X0.copy()
    minimize(case.objective, X0, case.lower, case.upper)
    np.testing.assert_array_equal(X0, before)


@pytest.mark.parametrize("max_rounds", [1, 2, 7])
def test_the_number_of_calls_is_bounded(max_rounds: int) -> None:
    case = CASES[1]
    calls = 0

    def counted(X: Array) -> tuple[Array, Array]:
        nonlocal calls
        calls += 1
        return case.objective(X)

    found = minimize(counted, case.starts(), case.lower, case.upper, Settings(max_rounds=max_rounds))
    assert calls == found.rounds == max_rounds


def test_a_looser_tolerance_stops_sooner() -> None:
    case = CASES[1]
    rounds = [
        minimize(case.objective, case.starts(), case.lower, case.upper, settings).rounds
        for settings in (
            Settings(2000, gradient_tol=1.0, value_tol=0.0),
            Settings(2000, gradient_tol=1e-7, value_tol=1e-3),
            STRICT,
        )
    ]
    assert max(rounds[:2]) < rounds[2]


@pytest.mark.parametrize("finalists", [1, 2])
def test_after_the_heat_only_the_finalists_go_on(finalists: int) -> None:
    case = CASES[1]
    asked: list[int] = []

    def counted(X: Array) -> tuple[Array, Array]:
        asked.append(len(X))
        return case.objective(X)

    X0 = case.starts(6)
    found = minimize(counted, X0, case.lower, case.upper, replace(STRICT, heat=5, finalists=finalists))
    everyone = minimize(case.objective, X0, case.lower, case.upper, replace(STRICT, max_rounds=5))
    ahead = np.argsort(everyone.f)[:finalists]
    behind = np.setdiff1d(np.arange(6), ahead)
    assert asked[:5] == [6] * 5
    assert max(asked[5:]) == finalists
    # Those that dropped out keep what they had.
    np.testing.assert_array_equal(found.f[behind], everyone.f[behind])
    assert kkt_residual(case, found.X[ahead]).max() < 1e-6


def spoiled(where: str, value: float, spoil: BoolArray, X: Array) -> tuple[Array, Array]:
    f, G = quadratic(np.array([1.0, 2.0]), np.array([0.4, 0.6]))(X)
    if where == "value":
        return np.where(spoil, value, f), G
    return f, np.where(spoil[:, None], value, G)


@each("where", ["value", "gradient"])
@each("value", [np.nan, np.inf, -np.inf])
def test_a_start_that_is_not_finite_stays_with_infinity_and_disturbs_no_other(where: str, value: float) -> None:
    def objective(X: Array) -> tuple[Array, Array]:
        return spoiled(where, value, X[:, 0] > 0.9, X)

    X0 = np.array([[0.1, 0.1], [0.95, 0.2], [0.8, 0.9]])
    found = minimize(objective, X0, np.zeros(2), np.ones(2), STRICT)
    np.testing.assert_array_equal(found.X[1], X0[1])
    assert found.f[1] == np.inf
    np.testing.assert_allclose(found.X[[0, 2]], np.tile([0.4, 0.6], (2, 1)), atol=1e-6)
    assert np.argmin(found.f) != 1


@each("where", ["value", "gradient"])
@each("value", [np.nan, np.inf, -np.inf])
def test_a_spot_that_is_not_finite_on_the_way_is_survived(where: str, value: float) -> None:
    # The first step from x = 0.05 has length 0.1, the second is the exact Newton step to 0.4: it lands in the gap.
    def objective(X: Array) -> tuple[Array, Array]:
        return spoiled(where, value, (X[:, 0] > 0.25) & (X[:, 0] < 0.9), X)

    hits = 0

    def counted(X: Array) -> tuple[Array, Array]:
        nonlocal hits
        f, G = objective(X)
        hits += int((~np.isfinite(f) | ~np.isfinite(G).all(axis=1)).sum())
        return f, G

    X0 = np.array([[0.05, 0.6], [0.1, 0.1]])
    found = minimize(counted, X0, np.zeros(2), np.ones(2), STRICT)
    assert hits > 0
    assert np.isfinite(found.f).all()
    f, G = objective(found.X)
    np.testing.assert_array_equal(found.f, f)
    assert np.isfinite(G).all()
    assert (found.f < objective(X0)[0]).all()
    assert (found.X[:, 0] <= 0.25).all()
    np.testing.assert_allclose(found.X[:, 0], 0.25, atol=0.01)


@pytest.mark.parametrize("d", [1, 3])
def test_a_constant_function_stays_at_its_starts(d: int) -> None:
    X0 = np.random.default_rng(0).random((4, d))
    found = minimize(lambda X: (np.full(len(X), 7.0), np.zeros_like(X)), X0, np.zeros(d), np.ones(d))
    np.testing.assert_array_equal(found.X, X0)
    np.testing.assert_array_equal(found.f, 7.0)
    assert found.rounds == 1


def test_a_linear_function_ends_in_its_corner() -> None:
    slope = np.array([1.0, -2.0, 1e-3, 0.0])
    X0 = np.random.default_rng(0).random((5, 4))
    found = minimize(
        lambda X: ((X * slope).sum(axis=1), np.tile(slope, (len(X), 1))), X0, np.zeros(4), np.ones(4), STRICT
    )
    np.testing.assert_array_equal(found.X[:, :3], np.tile([0.0, 1.0, 0.0], (5, 1)))
    np.testing.assert_array_equal(found.X[:, 3], X0[:, 3])


def test_a_flat_slope_that_curves_downwards_is_crossed_in_a_few_rounds() -> None:
    # Outside one standard deviation a bump is concave: no curvature to scale a step by, and the gradient is tiny.
    def bump(X: Array) -> tuple[Array, Array]:
        gap = (X - 0.5) / 0.1
        f = -np.exp(-0.5 * (gap * gap).sum(axis=1))
        return f, -f[:, None] * gap / 0.1

    found = minimize(bump, np.array([[0.0], [0.95], [0.52]]), np.zeros(1), np.ones(1), Settings(60, 1e-7, 0.0))
    np.testing.assert_allclose(found.X, 0.5, atol=1e-6)


def test_a_column_without_width_stays_put() -> None:
    lower, upper = np.array([0.0, 0.3]), np.array([1.0, 0.3])
    X0 = np.array([[0.9, 0.3], [0.2, 0.3]])
    found = minimize(quadratic(np.array([1.0, 5.0]), np.array([0.4, 0.9])), X0, lower, upper, STRICT)
    np.testing.assert_allclose(found.X, [[0.4, 0.3], [0.4, 0.3]], atol=1e-7)


def test_a_kink_is_left_without_warning_and_without_loss() -> None:
    def absolute(X: Array) -> tuple[Array, Array]:
        return np.abs(X - 0.3).sum(axis=1), np.sign(X - 0.3)

    X0 = np.random.default_rng(1).random((6, 3))
    found = minimize(absolute, X0, np.zeros(3), np.ones(3), STRICT)
    assert (found.f < absolute(X0)[0]).all()
    assert found.rounds < STRICT.max_rounds


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_the_size_of_the_box_does_not_matter(scale: float) -> None:
    center = np.array([0.4, 0.6])
    found = minimize(
        quadratic(np.array([1.0, 3.0]) / scale**2, center * scale),
        np.array([[0.05, 0.95], [0.9, 0.1]]) * scale,
        np.zeros(2),
        np.full(2, scale),
        Settings(max_rounds=500, gradient_tol=1e-9 / scale, value_tol=0.0),
    )
    np.testing.assert_allclose(found.X / scale, np.tile(center, (2, 1)), atol=1e-6)


def test_a_direction_that_turns_uphill_at_a_border_raises_no_warning_in_large_units() -> None:
    # Found by search: with kinks and values of 1e12, a projected step rises, and its size once overflowed a quotient.
    rng = np.random.default_rng(150)
    d = int(rng.integers(1, 4))
    W, phase, scale = 10.0 * rng.standard_normal((d, 5)), 6.0 * rng.random(5), 10.0 ** rng.integers(9, 15)

    def waves(X: Array) -> tuple[Array, Array]:
        A = X @ W + phase
        kinks = 3.0 * np.cos(3.0 * A) * np.sign(np.sin(3.0 * A))
        return scale * (np.sin(A) + np.abs(np.sin(3.0 * A))).sum(axis=1), scale * ((np.cos(A) + kinks) @ W.T)

    starts = rng.random((8, d))
    found = minimize(waves, starts, np.zeros(d), np.ones(d), Settings(max_rounds=60))
    assert (found.f <= waves(starts)[0]).all()
