from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array
from believer.errors import NumericalError
from believer.surrogates.gp_fit import LogNormal
from believer.surrogates.linear import RATIOS, Weights, by_evidence, weights

SHAPES = [(1, 1), (1, 4), (3, 6), (6, 6), (30, 5)]
every_shape = each(("n", "m"), SHAPES)


def problem(n: int, m: int, seed: int = 0, noise: float = 1e-2) -> tuple[Array, Array, Array]:
    """Features (n, m), values (n,) and unequal noise variances (n,)."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)), rng.standard_normal(n), noise * rng.uniform(0.5, 2.0, n)


def same(a: Weights, b: Weights, tol: float = 1e-9) -> None:
    """Means and covariances agree to ``tol`` of the largest entry."""
    np.testing.assert_allclose(a.mean, b.mean, rtol=0.0, atol=tol * (1.0 + np.abs(b.mean).max()))
    covariance = b.root @ b.root.T
    np.testing.assert_allclose(a.root @ a.root.T, covariance, rtol=0.0, atol=tol * np.abs(covariance).max())


def solve(A: list[list[Fraction]], B: list[list[Fraction]]) -> list[list[Fraction]]:
    """A⁻¹ B without rounding."""
    rows = [a + b for a, b in zip(A, B, strict=True)]
    for i in range(len(rows)):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[len(rows) :] for row in rows]


def exact(F: Array, y: Array, prior: float, noise: Array, at: Array) -> tuple[Array, Array]:
    """Means and variances of φᵀ w at the rows of ``at``, by rational arithmetic."""
    n, m = F.shape
    phi = [[Fraction(float(value)) for value in row] for row in F]
    over = [1 / Fraction(float(value)) for value in noise]
    precision = [
        [sum((over[k] * phi[k][i] * phi[k][j] for k in range(n)), Fraction(0)) for j in range(m)] for i in range(m)
    ]
    for i in range(m):
        precision[i][i] += 1 / Fraction(prior)
    pull = [[sum((over[k] * phi[k][i] * Fraction(float(y[k])) for k in range(n)), Fraction(0))] for i in range(m)]
    mean = solve([list(row) for row in precision], pull)
    means, variances = [], []
    for row in at:
        a = [Fraction(float(value)) for value in row]
        solved = solve([list(line) for line in precision], [[value] for value in a])
        means.append(float(sum(x * w[0] for x, w in zip(a, mean, strict=True))))
        variances.append(float(sum(x * s[0] for x, s in zip(a, solved, strict=True))))
    return np.array(means), np.array(variances)


# The posterior


@every_shape
@each("prior", [1e-2, 1.0, 1e3])
def test_the_posterior_is_the_textbook_one(n: int, m: int, prior: float) -> None:
    F, y, noise = problem(n, m)
    S = np.linalg.inv(np.eye(m) / prior + F.T @ (F / noise[:, None]))
    found = weights(F, y, prior, noise)
    np.testing.assert_allclose(found.root @ found.root.T, S, rtol=0.0, atol=1e-10 * np.abs(S).max())
    mean = S @ F.T @ (y / noise)
    np.testing.assert_allclose(found.mean, mean, rtol=0.0, atol=1e-10 * (1.0 + np.abs(mean).max()))


@each(("n", "m"), [(2, 5), (5, 5), (9, 4)])
@each("noise", [1e-2, 1e-6, 1e-12])
def test_little_noise_costs_no_digits(n: int, m: int, noise: float) -> None:
    F, y, D = problem(n, m, seed=1, noise=noise)
    at = np.vstack([F[:2], np.random.default_rng(2).standard_normal((2, m))])
    mean, variance = exact(F, y, 1.0, D, at)
    for found in (weights(F, y, 1.0, D), Weights(np.zeros(m), np.eye(m)).condition(F, y, D)):
        found_mean, found_variance = found.predict(at)
        # Fᵀ D⁻¹ F would leave 1e-3 of the mean for n < m and the least noise.
        np.testing.assert_allclose(found_mean, mean, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(found_variance, variance, rtol=1e-6)


@settings(max_examples=40)
@given(
    st.integers(1, 12), st.integers(1, 8), st.integers(1, 4), st.sampled_from([1e-6, 1e-2, 10.0]), st.integers(0, 2**32)
)
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_the_posterior_of_the_union(
    n: int, m: int, k: int, noise: float, seed: int
) -> None:
    F, y, D = problem(n + k + 1, m, seed, noise)
    base = weights(F[:n], y[:n], 2.0, D[:n])
    stepwise = base.condition(F[n : n + k], y[n : n + k], D[n : n + k]).condition(F[n + k :], y[n + k :], D[n + k :])
    at_once = base.condition(F[n:], y[n:], D[n:])
    same(stepwise, at_once)
    # Close features and little noise make the data contradict each other: the mean is then large, and its error.
    same(at_once, weights(F, y, 2.0, D), tol=1e-7)


@settings(max_examples=20)
@given(st.integers(1, 8), st.integers(0, 2**32))
def test_the_order_of_data_does_not_matter(m: int, seed: int) -> None:
    F, y, D = problem(9, m, seed)
    order = np.random.default_rng(seed).permutation(9)
    same(weights(F, y, 1.0, D), weights(F[order], y[order], 1.0, D[order]))
    base = weights(F[:3], y[:3], 1.0, D[:3])
    later = 3 + np.random.default_rng(seed).permutation(6)
    same(base.condition(F[3:], y[3:], D[3:]), base.condition(F[later], y[later], D[later]))


@settings(max_examples=40)
@given(
    st.integers(1, 10),
    st.integers(1, 8),
    st.sampled_from([1e-12, 1e-6, 1.0, 1e6]),
    st.floats(-1e6, 1e6),
    st.integers(0, 2**32),
)
def test_variance_never_rises_and_does_not_depend_on_the_value(
    n: int, m: int, noise: float, value: float, seed: int
) -> None:
    F, y, D = problem(n, m, seed, noise)
    at = np.vstack([np.random.default_rng(seed).standard_normal((20, m)), F])
    model = weights(F, y, 1.0, D)
    phi = at[:1]
    told = model.condition(phi, np.array([value]), np.array([noise]))
    before, after = model.predict(at)[1], told.predict(at)[1]
    assert (after <= before * (1.0 + 1e-9) + 1e-14).all()
    assert after[0] == pytest.approx(before[0] * noise / (before[0] + noise), rel=1e-6)
    np.testing.assert_array_equal(told.root, model.condition(phi, np.array([-value]), np.array([noise])).root)


@pytest.mark.parametrize("noise", [1e-16, 1e-12, 1e-6])
def test_the_root_keeps_every_variance_positive_and_right_where_the_covariance_is_all_rounding(noise: float) -> None:
    rng = np.random.default_rng(0)
    m, times = 12, 25
    phi = 1.0 + 1e-3 * rng.standard_normal((3, m))
    F = np.tile(phi, (times, 1))
    y, D = np.zeros(len(F)), np.full(len(F), noise)
    found = Weights(np.zeros(m), np.eye(m)).condition(F, y, D)
    # Each of the three was seen 25 times: the same as once, with 1/25 of the noise.
    _, variance = exact(phi, np.zeros(3), 1.0, np.full(3, noise / times), phi)
    np.testing.assert_allclose(found.predict(phi)[1], variance, rtol=1e-3)
    assert np.linalg.svd(found.root, compute_uv=False).min() > 0.0
    assert np.linalg.eigvalsh(found.covariance(np.eye(m))).min() > -1e-15
    S = np.eye(m)
    for row in F:
        gain = S @ row
        S = S - np.outer(gain, gain) / (row @ gain + noise)
    if noise == 1e-16:
        assert np.abs(np.einsum("ij,jk,ik->i", phi, S, phi) / variance - 1.0).max() > 0.5


@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_copies_of_a_feature_share_its_weight(copies: int, noise: float) -> None:
    F, y, _ = problem(10, 3)
    D = np.full(10, noise)
    one, many = weights(F, y, 1.0, D), weights(np.hstack([F] * copies), y, 1.0 / copies, D)
    at = np.random.default_rng(1).standard_normal((5, 3))
    for a, b in zip(one.predict(at), many.predict(np.hstack([at] * copies)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(many.mean, np.tile(one.mean / copies, copies), atol=1e-7)


def test_without_data_the_prior_is_the_posterior() -> None:
    prior = weights(np.zeros((0, 3)), np.zeros(0), 4.0, np.zeros(0))
    same(prior, Weights(np.zeros(3), 2.0 * np.eye(3)))
    zero = weights(np.zeros((5, 3)), np.ones(5), 4.0, np.ones(5))
    same(zero, prior)


@every_shape
def test_predictions_and_covariances_agree(n: int, m: int) -> None:
    model = weights(*problem(n, m)[:2], 1.0, np.full(n, 0.1))
    at = np.random.default_rng(1).standard_normal((4, m))
    mean, variance = model.predict(at)
    covariance = model.covariance(at)
    np.testing.assert_allclose(np.diagonal(covariance), variance, rtol=1e-12)
    np.testing.assert_array_equal(covariance, covariance.T)
    np.testing.assert_allclose(mean, at @ model.mean)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([1e-6, 1.0]))
def test_believing_the_mean_moves_the_mean_nowhere(seed: int, noise: float) -> None:
    F, y, D = problem(6, 5, seed, noise)
    model = weights(F, y, 1.0, D)
    at = np.random.default_rng(seed).standard_normal((3, 5))
    believed = model
    for phi in at:
        believed = believed.condition(phi[None, :], believed.predict(phi[None, :])[0], np.array([noise]))
    np.testing.assert_allclose(believed.mean, model.mean, rtol=0.0, atol=1e-12 * np.abs(model.mean).max())


def test_conditioning_changes_nothing_but_its_result() -> None:
    F, y, D = problem(6, 4)
    model = weights(F, y, 1.0, D)
    mean, root = model.mean.copy(), model.root.copy()
    told = model.condition(F[:2], y[:2], D[:2])
    np.testing.assert_array_equal(model.mean, mean)
    np.testing.assert_array_equal(model.root, root)
    for part in (model.mean, model.root, told.mean, told.root):
        assert not part.flags.writeable
    same(model.condition(F[:0], y[:0], D[:0]), model, tol=0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_and_values_that_are_not_finite_are_refused(bad: float) -> None:
    F, y, D = problem(4, 3)
    for which in (F, y):
        which[1] = bad
        with pytest.raises(NumericalError, match=r"the posterior of 3 weights must be finite"):
            weights(F, y, 1.0, D)
        which[1] = 0.0


# The evidence


def objective(F: Array, y: Array, v: float, noise: float, ratio: LogNormal | None = None) -> float:
    """What by_evidence says that it maximizes, from the explicit density, to a constant."""
    n = len(y)
    g = float((F**2).sum()) / n
    L = np.linalg.cholesky(v * F @ F.T + noise * np.eye(n))
    white = np.linalg.solve(L, y)
    total = -0.5 * float(white @ white) - float(np.log(np.diagonal(L)).sum())
    total -= 0.5 * (float(np.log(v)) + 1.0 / (v * g))
    if ratio is not None:
        total -= 0.5 * ((float(np.log(noise / (v * g))) - ratio.mean) / ratio.std) ** 2
    return total


def evidence_case(name: str) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    F = rng.standard_normal({"n=1": (1, 4), "n<m": (6, 15), "n=m": (8, 8)}.get(name, (25, 6)))
    if name == "rank-deficient":
        F[:, 3:] = F[:, :3]
    y = F @ rng.standard_normal(F.shape[1]) + 0.3 * rng.standard_normal(len(F))
    if name == "all noise":
        y = rng.standard_normal(len(F))
    if name in ("n=1", "constant"):
        y = np.zeros(len(F))
    return 7.0 * F, (y - y.mean()) / (y.std() or 1.0)


CASES = ["plain", "n=1", "n<m", "n=m", "rank-deficient", "all noise", "constant"]
every_case = each("case", CASES)
every_ratio = each("ratio", [None, LogNormal(-5.0, 1.0)], ids=["flat", "prior"])


@every_case
@every_ratio
def test_no_other_pair_of_variances_makes_the_data_more_likely(case: str, ratio: LogNormal | None) -> None:
    F, y = evidence_case(case)
    v, noise = by_evidence(F, y, ratio)
    assert np.isfinite([v, noise]).all()
    assert v > 0.0
    assert noise > 0.0
    g = float((F**2).sum()) / len(y)
    # A ρ below 1e-7 is left out: with it, a dense covariance is singular to rounding.
    pairs = [(a / g, rho * a) for a in np.logspace(-4, 4, 65) for rho in np.logspace(-7, 4, 89)]
    best = max(objective(F, y, *pair, ratio) for pair in pairs)
    # A ρ between two of the grid is missed by up to 1/16 of a decade, where the evidence is flat.
    assert objective(F, y, v, noise, ratio) > best - 0.05


@every_case
@every_ratio
def test_for_its_ratio_the_prior_variance_is_the_best_one(case: str, ratio: LogNormal | None) -> None:
    F, y = evidence_case(case)
    v, noise = by_evidence(F, y, ratio)
    here = objective(F, y, v, noise, ratio)
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert objective(F, y, factor * v, factor * noise, ratio) < here


@every_case
@each("noise", [1e-4, 1e-2, 1.0])
def test_a_given_noise_is_kept_and_the_prior_variance_is_the_best_for_it(case: str, noise: float) -> None:
    F, y = evidence_case(case)
    v, kept = by_evidence(F, y, noise=noise)
    assert kept == pytest.approx(noise, rel=1e-12)
    g = float((F**2).sum()) / len(y)
    best = max(objective(F, y, a / g, noise) for a in np.logspace(-4, 3, 141))
    assert objective(F, y, v, noise) > best - 0.05


@pytest.mark.parametrize("noise", [1e-4, 0.04, 1.0])
def test_many_data_give_back_the_variances_that_made_them(noise: float) -> None:
    rng = np.random.default_rng(1)
    F = rng.standard_normal((2000, 40))
    y = F @ (0.5 * rng.standard_normal(40)) + np.sqrt(noise) * rng.standard_normal(2000)
    v, found = by_evidence(F, y)
    # 40 weights tell v to √(2/40) = 22 %, 2000 data the noise to 3 %, the grid of ρ to 33 %; three times each.
    assert v == pytest.approx(0.25, rel=0.67)
    assert found == pytest.approx(noise, rel=0.5)


@every_ratio
@pytest.mark.parametrize("unit", [1e-3, 1e4])
def test_the_units_of_features_do_not_matter(ratio: LogNormal | None, unit: float) -> None:
    F, y = evidence_case("plain")
    v, noise = by_evidence(F, y, ratio)
    scaled_v, scaled_noise = by_evidence(unit * F, y, ratio)
    assert scaled_v * unit**2 == pytest.approx(v, rel=1e-9)
    assert scaled_noise == pytest.approx(noise, rel=1e-9)


def test_a_prior_of_the_ratio_keeps_a_few_rough_results_from_being_called_noise() -> None:
    F, y = evidence_case("all noise")
    shares = []
    for ratio in (None, LogNormal(-5.0, 1.0)):
        v, noise = by_evidence(F, y, ratio)
        shares.append(noise / (v * (F**2).sum() / len(y)))
    assert shares[0] > 1.0
    assert shares[1] < shares[0]


def test_features_that_are_all_zero_are_survived() -> None:
    v, noise = by_evidence(np.zeros((5, 3)), np.array([-1.0, 1.0, 0.0, 1.0, -1.0]))
    assert np.isfinite([v, noise]).all()
    assert min(v, noise) > 0.0


def test_ratios_are_read_only_and_rising() -> None:
    assert not RATIOS.flags.writeable
    assert (np.diff(RATIOS) > 0.0).all()
