"""EI, LogEI and UCB rise with σ; PI does where the mean is above the value to beat, and falls below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint, Pointwise
from believer.arrays import Array
from believer.errors import MissingCapability
from believer_paper.theory import exact_sign, monotonicity
from believer_paper.theory.monotonicity import slope

MEMBERS: list[PerPoint] = [EI(), EI(0.3), LogEI(), LogEI(0.3), UCB(), UCB(0.0), PI(), PI(0.3)]
every_member = pytest.mark.parametrize("acquisition", MEMBERS, ids=repr)


@every_member
@settings(max_examples=40)
@given(mean=st.floats(-5.0, 5.0), std=st.floats(0.2, 5.0), incumbent=st.floats(-2.0, 2.0))
def test_the_slope_in_std_is_that_of_central_differences_and_has_the_sign_in_closed_form(
    acquisition: PerPoint, mean: float, std: float, incumbent: float
) -> None:
    m, step = np.array([mean]), 1e-5 * std
    found = float(slope(acquisition, m, np.array([std]), incumbent)[0])
    high, low = (float(acquisition.pointwise(m, np.array([s]), incumbent).value[0]) for s in (std + step, std - step))
    assert found == pytest.approx((high - low) / (2.0 * step), rel=1e-5, abs=1e-8)
    # φ(z) is nothing but rounding in the far tails, where the sign is that of exact arithmetic only.
    if abs(found) > 1e-300:
        assert np.sign(found) == exact_sign(acquisition, m, incumbent)[0]


@pytest.mark.parametrize(
    ("acquisition", "kind"),
    [
        (EI(), "increasing"),
        (EI(0.5), "increasing"),
        (LogEI(), "increasing"),
        (UCB(), "increasing"),
        (UCB(0.0), "non-decreasing"),
        (PI(), "not monotone"),
        (PI(0.5), "not monotone"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("incumbent", "scale"), [(0.0, 1.0), (3.0, 1e3), (-2.0, 0.1)])
def test_values_tell_which_acquisitions_rise_with_std(
    acquisition: PerPoint, kind: str, incumbent: float, scale: float
) -> None:
    found = monotonicity(acquisition, incumbent, scale)
    assert found.kind == kind
    assert (found.fall is None) == (kind != "not monotone")


def test_the_fall_of_pi_is_a_counterexample_that_can_be_checked() -> None:
    fall = monotonicity(PI(), 1.0).fall
    assert fall is not None
    assert fall.mean < 1.0
    assert fall.std_low < fall.std_high
    low, high = (
        float(PI().pointwise(np.array([fall.mean]), np.array([std]), 1.0).value[0])
        for std in (fall.std_low, fall.std_high)
    )
    assert (low, high) == (fall.value_low, fall.value_high)
    assert high < low


@settings(max_examples=50)
@given(gap=st.floats(0.01, 3.0), xi=st.floats(0.0, 1.0), std=st.floats(0.1, 3.0))
def test_pi_falls_with_std_exactly_where_the_mean_is_below_the_value_to_beat(gap: float, xi: float, std: float) -> None:
    means = np.array([-xi - gap, -xi, -xi + gap])
    low, high = (PI(xi).pointwise(means, np.full(3, s), 0.0).value for s in (std, 1.5 * std))
    assert high[0] <= low[0]
    assert high[1] == pytest.approx(low[1], abs=1e-15)
    assert high[2] >= low[2]
    assert exact_sign(PI(xi), means, 0.0).tolist()[::2] == [-1, 1]


def test_a_strict_rise_of_ei_can_be_less_than_rounding() -> None:
    mean = np.array([-40.0])
    one, two = (EI().pointwise(mean, np.array([std]), 0.0).value[0] for std in (0.5, 1.0))
    assert one == pytest.approx(two, rel=1e-15)
    assert exact_sign(EI(), mean, 0.0)[0] == 1


@dataclass(frozen=True, slots=True)
class Cautious:
    """-μ - σ: falls with σ everywhere."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        return Pointwise(-mean - std, np.full_like(mean, -1.0), np.full_like(std, -1.0))


def test_acquisitions_from_elsewhere_are_judged_by_their_values() -> None:
    assert monotonicity(Cautious()).kind == "not monotone"
    with pytest.raises(MissingCapability, match="monotonicity"):
        exact_sign(Cautious(), np.zeros(1), 0.0)
