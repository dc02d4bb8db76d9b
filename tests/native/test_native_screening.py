"""Which candidates are climbed from: the compiled module against the Python twin."""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import compiled, native, python

from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import Array, frozen
from believer.maximize import Maximum, Multistart, Search
from believer.maximize.multistart import _pick_starts
from believer.space.box import Block, Box
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters


def late(n: int, tail: int, seed: int) -> tuple[GPModel, Array, float]:
    """A model of ``n`` results and ``tail`` lies, and candidates: some near the best results, then some anywhere."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    y = np.sin(5.0 * X[:, 0]) + ((X - 0.4) ** 2).sum(axis=1)
    hyper = Hyperparameters("matern52", frozen([0.4, 0.6, 0.9]), 1.5, 1e-6)
    model = posterior(hyper, X, y, float(y.mean()), float(y.std()))
    model = model.condition(Data(rng.random((tail, 3)), rng.random(tail)))
    near = np.repeat(X[np.argsort(y)[:3]], 30, axis=0) + 0.05 * rng.standard_normal((90, 3))
    return model, np.vstack([np.clip(near, 0.0, 1.0), rng.random((200, 3))]), float(y.min())


@each("tail", [0, 4])
@each("n", [149, 150, 151, 220])
@each("seed", range(4))
def test_screening_is_exact_for_the_best_and_an_upper_bound_for_the_others(n: int, tail: int, seed: int) -> None:
    model, X, best = late(n, tail, seed)
    target = native.Improvement(model.compiled(), native.ACQUISITIONS["LogEI"], 0.0, best)
    exact, screened = target.value(X), native.screen(target, X, 40)
    order = np.argsort(-exact, kind="stable")[:40]
    np.testing.assert_array_equal(np.argsort(-screened, kind="stable")[:40], order)
    np.testing.assert_allclose(screened[order], exact[order], rtol=1e-12)
    assert (screened >= exact - 1e-9 * np.maximum(np.abs(exact), 1.0)).all()
    if n >= 150:
        assert (np.abs(screened - exact) > 1e-6).any()


@pytest.mark.parametrize("kind", ["EI", "PI", "UCB"])
def test_other_acquisitions_are_screened_exactly(kind: str) -> None:
    model, X, best = late(160, 0, 0)
    target = native.Improvement(model.compiled(), native.ACQUISITIONS[kind], 0.3, best)
    np.testing.assert_array_equal(native.screen(target, X, 40), target.value(X))


def test_candidates_of_nearly_the_same_value_are_screened_exactly() -> None:
    model, X, best = late(160, 0, 0)
    X = X[0] + 1e-4 * (X - 0.5)
    target = native.Improvement(model.compiled(), native.ACQUISITIONS["LogEI"], 0.0, best)
    assert np.ptp(target.value(X)) < 1.0
    np.testing.assert_array_equal(native.screen(target, X, 40), target.value(X))


@settings(max_examples=150)
@given(
    st.integers(0, 10_000),
    st.integers(1, 200),
    st.integers(1, 4),
    st.integers(1, 12),
    st.sampled_from([2, 40, 10_000]),
    st.booleans(),
)
def test_the_twins_start_from_the_same_candidates(
    seed: int, m: int, d: int, starts: int, levels: int, lattice: bool
) -> None:
    rng = np.random.default_rng(seed)
    # On the lattice, neighbors of zero are exactly as far apart as starts must be more than.
    pool = rng.random((m, d))
    if lattice:
        pool = 0.05 * np.floor(4.0 * pool)
    pool[rng.integers(m, size=m // 4)] = pool[0]
    # Few levels make ties, which go to the earlier row.
    values = rng.integers(levels, size=m) / 7.0
    values[rng.integers(m, size=m // 5)] = -np.inf
    one, other = (
        python(lambda: _pick_starts(pool, values, starts)),
        compiled(lambda: _pick_starts(pool, values, starts)),
    )
    np.testing.assert_array_equal(one, other)
    assert other.dtype == np.int64


@pytest.mark.parametrize("starts", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_a_bound_never_decides_which_point_is_chosen_when_the_best_are_taken(
    starts: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    d, rng = 13, np.random.default_rng(seed)
    corners = ((np.arange(2**d)[:, None] >> np.arange(d)) & 1).astype(float)
    X = corners[rng.choice(2**d, 300, replace=False)]
    y = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(300)
    hyper = Hyperparameters("matern52", frozen(np.full(d, 2.0)), 1.5, 0.1)
    objective = PointwiseObjective(LogEI(), posterior(hyper, X, y, float(y.mean()), float(y.std())), float(y.min()))
    taken = np.vstack([X, corners[np.argsort(-objective.value(corners))[:400]]])
    region = Box(np.zeros(d), np.ones(d), tuple(Block(c, c + 1, np.eye(2)[:, 1:], True) for c in range(d)))
    search = Search(region, X[np.argsort(y)[:5]], taken)

    def chosen() -> Maximum:
        return Multistart(starts=starts).maximize(objective, search, np.random.default_rng(seed))

    found = chosen()
    monkeypatch.setattr(PointwiseObjective, "screen", lambda objective, pool, keep: objective.value(pool))
    exact = chosen()
    np.testing.assert_array_equal(found.x, exact.x)
    assert found.value == exact.value
