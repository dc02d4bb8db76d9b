from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.arrays import Array
from believer.numerics.intervals import log_integral, log_probability, uses_integral

CENTERS = np.array([-1e6, -1e3, -40.0, -7.0, -1.1, -0.3, 0.0, 0.5, 3.0, 12.0, 50.0])
WIDTHS = np.array([1e-9, 1e-4, 0.05, 0.099, 0.5, 0.999, 1.001, 4.0, 20.0])


def grid() -> tuple[Array, Array]:
    """Every center with every width."""
    c, w = np.meshgrid(CENTERS, WIDTHS)
    return c.ravel(), w.ravel()


def ends(center: float, width: float) -> tuple[Any, Any, Any]:
    mp = pytest.importorskip("mpmath")
    return mp, mp.mpf(center) - mp.mpf(width) / 2, mp.mpf(center) + mp.mpf(width) / 2


def below(mp: Any, z: Any) -> Any:
    return mp.erfc(-z / mp.sqrt(2)) / 2


def test_probabilities_are_those_of_many_digits() -> None:
    c, w = grid()
    value, by_center, by_width = log_probability(c, w)
    for i in range(len(c)):
        mp = pytest.importorskip("mpmath")
        with mp.workdps(80):
            # By symmetry, so that no digits are lost above.
            _, a, b = ends(-abs(c[i]), w[i])
            share = below(mp, b) - below(mp, a)
            left, right = mp.npdf(a) / share, mp.npdf(b) / share
            expected = [mp.log(share), (1 if c[i] <= 0.0 else -1) * (right - left), mp.mpf(w[i]) * (left + right) / 2]
        assert value[i] == pytest.approx(float(expected[0]), rel=1e-12)
        assert by_center[i] == pytest.approx(float(expected[1]), rel=1e-9, abs=1e-15)
        assert by_width[i] == pytest.approx(float(expected[2]), rel=1e-9)


def test_means_of_the_distribution_over_narrow_intervals_are_those_of_many_digits() -> None:
    c, w = grid()
    here = uses_integral(c, w)
    assert 20 < here.sum() < len(c)
    c, w = c[here], w[here]
    value, by_center, by_width = log_integral(c, w)
    for i in range(len(c)):
        mp = pytest.importorskip("mpmath")
        with mp.workdps(80):
            _, a, b = ends(c[i], w[i])
            total = mp.npdf(b) + b * below(mp, b) - mp.npdf(a) - a * below(mp, a)
            rise = below(mp, b) - below(mp, a)
            level = mp.mpf(w[i]) * (below(mp, a) + below(mp, b)) / 2
            expected = [mp.log(total / mp.mpf(w[i])), rise / total, level / total - 1]
        assert value[i] == pytest.approx(float(expected[0]), rel=1e-13, abs=1e-10)
        assert by_center[i] == pytest.approx(float(expected[1]), rel=1e-8, abs=1e-10)
        assert by_width[i] == pytest.approx(float(expected[2]), rel=1e-5, abs=1e-9)


def test_probabilities_are_symmetric() -> None:
    c, w = grid()
    left, right = log_probability(-c, w), log_probability(c, w)
    np.testing.assert_array_equal(left[0], right[0])
    np.testing.assert_array_equal(left[1], -right[1])
