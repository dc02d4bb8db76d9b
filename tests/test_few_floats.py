"""A range that holds few floats is a grid of these, and a value that is held is found again among those handed out."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import believer as bv
from believer.arrays import SAME_POINT
from believer.errors import SpaceExhausted
from believer.space.parameters import MAX_GRID


def after(low: float, k: int) -> float:
    """The float k - 1 steps above ``low``."""
    for _ in range(k - 1):
        low = math.nextafter(low, math.inf)
    return low


FINITE = st.floats(-1e300, 1e300)


@given(low=FINITE, k=st.integers(2, 40), log=st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_range_of_few_floats_holds_these_and_no_others(low: float, k: int, log: bool) -> None:
    high = after(low, k)
    assume(not log or (low > 0.0 and math.log(low) < math.log(high)))
    space = bv.Space({"x": bv.Float(low, high, log=log)})
    points = space.region().points()
    assert space.size == space.region().size == len(points) == k
    values = [params["x"] for params in space.decode(points)]
    assert values[0] == low
    assert values[-1] == high
    assert all(math.nextafter(a, math.inf) == b for a, b in itertools.pairwise(values))
    np.testing.assert_array_equal(space.encode([{"x": value} for value in values]), points)
    assert np.all(np.diff(points[:, 0]) > SAME_POINT)


@each("log", [False, True])
@each(("low", "k"), [(1.0, 3), (1e-300, 5), (5e-324, 6), (0.0, 4), (-5e-324, 4), (math.pi, 7)])
def test_every_float_of_a_narrow_range_is_handed_out_once(low: float, k: int, log: bool) -> None:
    high = after(low, k)
    if log and not (low > 0.0 and math.log(low) < math.log(high)):
        pytest.skip("no range over magnitudes")
    study = bv.Optimizer(bv.Space({"x": bv.Float(low, high, log=log)}), n_init=2, seed=1)
    values: list[float] = []
    for i in range(k):
        trial = study.ask()[0]
        values.append(trial.params["x"])
        study.tell(trial, float(i % 2))
    assert len(set(values)) == k
    with pytest.raises(SpaceExhausted):
        study.ask()


@pytest.mark.parametrize(
    "wide",
    [
        bv.Float(0.0, 1.0),
        bv.Float(1e6, 1e6 + 1.0),
        bv.Float(1e-3, 1.0, log=True),
        bv.Float(0.0, 1e-300),
        bv.Float(-1e100, 1e100),
        bv.Float(1.0, 1.0 + 1e-8, log=True),
    ],
)
def test_a_range_of_many_floats_is_continuous(wide: bv.Float) -> None:
    space = bv.Space({"x": wide})
    region = space.region()
    assert space.size is None
    assert region.size is None
    assert region.decisions == (None,)
    assert not region.rounded


def test_a_range_of_too_many_floats_to_list_is_rounded_to_them() -> None:
    space = bv.Space({"x": bv.Float(1e6, 1e6 + 1e-4)})
    size = space.size
    assert size is not None
    assert MAX_GRID < size < 1e6
    region = space.region()
    assert region.size is None
    assert region.rounded
    points = region.spread(np.random.default_rng(0).random((2000, 1)))
    values = [params["x"] for params in space.decode(points)]
    np.testing.assert_array_equal(space.encode([{"x": value} for value in values]), points)
    for value, point in zip(values[:50], points, strict=False):
        others = [i for i, other in enumerate(values) if other == value]
        assert region.among(points[others], point[None, :]).all()


def test_magnitudes_from_the_least_number_on_are_rounded_to_floats() -> None:
    least = bv.Float(5e-324, 1e-300, log=True)
    assert least.rounded
    study = bv.Optimizer(bv.Space({"x": least}), n_init=60, seed=0)
    values = [trial.params["x"] for trial in study.ask(60)]
    assert len(set(values)) == 60


@given(st.integers(0, 10_000), st.sampled_from([(1e6, 1e6 + 1.0), (0.1, 0.4), (-3e9, -3e9 + 7.0), (1e-9, 1.0)]))
@settings(max_examples=60, deadline=None)
def test_what_is_held_at_a_value_of_the_history_is_not_repeated(seed: int, bounds: tuple[float, float]) -> None:
    space = bv.Space({"x": bv.Float(*bounds, log=bounds == (1e-9, 1.0)), "k": bv.Int(0, 2)})
    study = bv.Optimizer(space, n_init=2, seed=seed)
    first = study.ask()[0]
    study.tell(first, 1.0)
    seen: list[dict[str, Any]] = [first.params]
    for i in range(2):
        trial = study.ask(fixed={"x": first.params["x"]})[0]
        study.tell(trial, float(i))
        assert trial.params not in seen
        seen.append(trial.params)
    with pytest.raises(SpaceExhausted):
        study.ask(fixed={"x": first.params["x"]})
