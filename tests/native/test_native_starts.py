"""Which candidates are climbed from: the compiled module against the Python twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import compiled, python

from believer.maximize.multistart import _pick_starts
from believer.maximize.objective import Spacing


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


@settings(max_examples=100)
@given(
    st.integers(0, 10_000), st.integers(0, 80), st.integers(0, 20), st.integers(1, 9), st.sampled_from([0.0, 0.1, 5.0])
)
def test_the_twins_find_the_same_candidates_near_to_points(seed: int, m: int, k: int, d: int, reach: float) -> None:
    rng = np.random.default_rng(seed)
    X, points, scale = rng.random((m, d)), rng.random((k, d)), np.exp(rng.standard_normal(d))
    if m and k:
        X[: m // 2] = points[rng.integers(k, size=m // 2)] + 0.05 * rng.standard_normal((m // 2, d))
    rule = Spacing(points, scale, 0.1, reach)
    np.testing.assert_array_equal(python(lambda: rule.near(X)), compiled(lambda: rule.near(X)))
