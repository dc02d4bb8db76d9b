from __future__ import annotations

import numpy as np
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from believer.numerics.special import log_h, normal_pdf

# z, log h(z), Φ(z)/h(z), φ(z)/h(z): mpmath 1.4.1 with 60 digits (80 at -1e8), h = φ + z Φ formed from exp and erfc.
# φ/h at 40 is 3.7e-350, below the least double.
GOLDEN = [
    (-1e8, -5000000000000037.7603, 100000000.00000002, 10000000000000003.0),
    (-1e4, -50000019.339619307157, 10000.000199999994, 100000002.99999994),
    (-1e3, -500014.73445209115845, 1000.001999994000042, 1000002.999994000042),
    (-300.0, -45012.326536814554207, 300.0066664444617265, 90002.999933338517951),
    (-100.0, -5010.1295788002497923, 100.01999400419586505, 10002.999400419586505),
    (-40.0, -808.29856835661996024, 40.049906657648518193, 1602.9962663059407277),
    (-31.0, -488.29002339783721185, 31.06431617810096092, 963.99380152112978853),
    (-30.000001, -457.72468382704468802, 30.066447151962136276, 902.99344462531127115),
    (-30.0, -457.72465376059800405, 30.066446154162418902, 902.99338462487256707),
    (-29.999999, -457.72462369415231788, 30.066445156362701674, 902.99332462443586294),
    (-25.0, -319.86146358149595433, 25.079620234266532815, 627.99050585666332038),
    (-10.0, -55.553122036122355927, 10.194383033412553306, 102.94383033412553306),
    (-5.0, -16.744301162660990143, 5.3618162412880885298, 27.809081206440442649),
    (-2.0, -4.7687835239171141569, 2.6794168839555859839, 6.3588337679111719678),
    (-1.000001, -2.4851229299842354987, 1.9042719553074502377, 2.9042738595794053885),
    (-1.0, -2.4851210257126413368, 1.9042712333296918229, 2.9042712333296918229),
    (-0.999999, -2.4851191214417689411, 1.9042705113520567618, 2.904268607081545355),
    (-0.5, -1.6205162643873199193, 1.5598731483480796712, 1.7799365741740398356),
    (0.0, -0.91893853320467274178, 1.2533141373155002512, 1.0),
    (0.5, -0.35982768374506381859, 0.99092271800410996015, 0.50453864099794501993),
    (1.0, 0.080026218849306940029, 0.77663872520173925975, 0.22336127479826074025),
    (5.0, 1.6094379231264313851, 0.19999994053122004649, 2.9734389976756012432e-7),
    (10.0, 2.302585092994045684, 0.1, 7.6945986267064193463e-24),
    (40.0, 3.6888794541139363029, 0.025, 0.0),
]


@each(("z", "value", "mass", "density"), GOLDEN)
def test_log_h_and_its_ratios_are_those_of_high_precision(z: float, value: float, mass: float, density: float) -> None:
    got = [float(part[0]) for part in log_h(np.array([z]))]
    assert got[0] == pytest.approx(value, rel=4e-15, abs=4e-15)
    # The docstring promises 1e-11; the worst of 4,200 points between -1e6 and 40 is 4e-13, just above -30.
    assert got[1] == pytest.approx(mass, rel=1e-12)
    assert got[2] == pytest.approx(density, rel=1e-12, abs=1e-300)


def test_many_z_give_what_each_gives_alone() -> None:
    z = np.array([row[0] for row in GOLDEN])
    together = np.array(log_h(z))
    alone = np.array([[part[0] for part in log_h(z[i : i + 1])] for i in range(len(z))]).T
    np.testing.assert_array_equal(together, alone)


@each("z", [-1e4, -100.0, -40.0, -30.5, -30.0, -29.5, -10.0, -1.5, -1.0, -0.5, 0.0, 2.0, 10.0, 40.0])
def test_the_mass_ratio_is_the_derivative(z: float) -> None:
    step = 1e-4 * max(1.0, abs(z))
    up, down = (float(log_h(np.array([z + sign * step]))[0][0]) for sign in (1.0, -1.0))
    assert (up - down) / (2.0 * step) == pytest.approx(float(log_h(np.array([z]))[1][0]), rel=3e-7)


@given(st.floats(-1e8, 1e8), st.floats(1e-9, 1.0))
def test_log_h_is_finite_and_rises(z: float, share: float) -> None:
    higher = z + share * max(1.0, abs(z))
    value, mass, density = log_h(np.array([z, higher]))
    assert np.isfinite([value, mass, density]).all()
    # Φ/h is the derivative and falls (log h is concave); rounding may hide a difference, never turn it around.
    assert value[1] >= value[0] - 1e-15 * abs(value[0])
    assert mass[0] > 0.0
    assert mass[1] <= mass[0] * (1.0 + 1e-12)
    assert density[1] <= density[0] * (1.0 + 1e-12)


@pytest.mark.parametrize("seam", [-30.0, -1.0])
def test_log_h_rises_strictly_across_its_seams(seam: float) -> None:
    value, mass, density = log_h(seam + np.linspace(-1e-6, 1e-6, 201))
    assert (np.diff(value) > 0.0).all()
    # A step of 1e-8 changes the ratios by some 1e-8 of themselves; a seam that shows would be larger than that.
    assert np.abs(np.diff(mass) / mass[1:]).max() < 2e-8
    assert np.abs(np.diff(density) / density[1:]).max() < 2e-8
    neighbors = np.array(log_h(np.array([np.nextafter(seam, -np.inf), seam, np.nextafter(seam, np.inf)])))
    np.testing.assert_allclose(neighbors, np.repeat(neighbors[:, 1:2], 3, axis=1), rtol=1e-12)


def test_normal_pdf_is_the_density() -> None:
    # mpmath 1.4.1, exp(-z²/2)/√(2π) at 0, 1, -5, 37.
    expected = [0.39894228040143267794, 0.2419707245191433498, 1.4867195147342977079e-6, 2.1200065515246056269e-298]
    # An exponent of -685 that is right to half a unit in its last place leaves 6e-14 of the value in doubt.
    np.testing.assert_allclose(normal_pdf(np.array([0.0, 1.0, -5.0, 37.0])), expected, rtol=2e-13)
