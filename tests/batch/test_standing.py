"""Which points are feasible, what is to be beaten and where the front is, of results and of what is believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from believer.acquisitions.feasibility import Within
from believer.acquisitions.hypervolume import nondominated
from believer.arrays import Array
from believer.batch.standing import Known, stand
from believer.surrogates.protocols import Prediction


@dataclass(frozen=True)
class Fixed:
    """A model that expects the sum of a point's coordinates, as surely as it is told."""

    std: float = 0.1
    is_noisy: bool = False

    def predict(self, X: Array) -> Prediction:
        return Prediction(X.sum(axis=1), np.full(len(X), self.std))


POINTS = {i: np.array([0.1 * i, 0.0]) for i in range(9)}


def rows(**values: float) -> dict[int, tuple[Array, float]]:
    return {int(name[1:]): (POINTS[int(name[1:])], value) for name, value in values.items()}


def aim(**values: float) -> Known:
    return Known(Fixed(), None, 0.5, rows(**values))


def test_points_count_where_every_objective_is_known_or_believed() -> None:
    first = Known(Fixed(), None, 0.5, rows(t0=1.0, t1=2.0), rows(t3=0.5))
    second = Known(Fixed(), None, 0.5, rows(t0=2.0, t2=1.0, t3=7.0), rows(t1=3.0))
    here = stand([first, second], 2)
    assert here.ids == (0, 1, 3)
    np.testing.assert_array_equal(here.Y, [[1.0, 2.0], [2.0, 3.0], [0.5, 7.0]])
    np.testing.assert_array_equal(here.X, [POINTS[0], POINTS[1], POINTS[3]])
    assert here.real.tolist() == [True, False, False]
    assert here.feasible.all()
    assert here.front().tolist() == [0, 2]
    assert here.incumbent == 0.5


@pytest.mark.parametrize("probability", [0.01, 0.5, 0.999])
def test_what_was_seen_to_reach_a_limit_is_feasible_and_what_lies_beyond_is_not(probability: float) -> None:
    limits = Known(Fixed(), Within(-1.0, 0.3), probability, rows(t0=0.3, t1=-1.0, t2=0.30001, t3=0.0, t4=-1.00001))
    here = stand([aim(t0=4.0, t1=3.0, t2=0.0, t3=5.0, t4=1.0), limits], 2)
    assert here.feasible.tolist() == [True, True, False, True, False]
    assert here.incumbent == 3.0
    np.testing.assert_array_equal(here.log_feasible[here.feasible], 0.0)


def test_a_limit_that_is_not_known_yet_is_what_its_model_expects() -> None:
    here = stand([aim(t0=1.0, t1=1.0, t6=1.0), Known(Fixed(), Within(high=0.3), 0.9, rows(t0=0.0))], 2)
    assert here.feasible.tolist() == [True, True, False]
    surer = stand([aim(t0=1.0, t2=1.0, t6=1.0), Known(Fixed(), Within(high=0.3), 0.9, rows(t0=0.0))], 2)
    assert surer.feasible.tolist() == [True, False, False], "0.3 - 0.2 is one standard deviation: 84 %"
    np.testing.assert_allclose(np.exp(surer.log_feasible[1]), 0.8413447, rtol=1e-6)


def test_under_noise_what_counts_is_what_models_expect() -> None:
    noisy = Known(Fixed(is_noisy=True), None, 0.5, rows(t0=9.0, t3=-9.0))
    limit = Known(Fixed(is_noisy=True), Within(high=0.2), 0.5, rows(t0=9.0, t3=-9.0))
    here = stand([noisy, limit], 2)
    np.testing.assert_allclose(here.Y[:, 0], [0.0, 0.3])
    assert here.feasible.tolist() == [True, False]


def test_nothing_feasible_has_no_incumbent_and_the_likeliest_places_come_first() -> None:
    limits = Known(Fixed(), Within(high=-1.0), 0.5, rows(t0=3.0, t1=0.0, t2=1.0))
    here = stand([aim(t0=1.0, t1=5.0, t2=3.0), limits], 2)
    assert here.incumbent is None
    np.testing.assert_array_equal(here.places(), [POINTS[1], POINTS[2], POINTS[0]])
    assert len(here.front()) == 0
    assert np.isfinite(here.reference()).all()


def test_places_are_the_best_feasible_points_or_spread_along_the_front() -> None:
    limits = Known(Fixed(), Within(high=0.0), 0.5, rows(t0=1.0, t1=0.0, t2=0.0))
    here = stand([aim(t0=1.0, t1=5.0, t2=3.0), limits], 2)
    np.testing.assert_array_equal(here.places(), [POINTS[2], POINTS[1]])
    many = {f"t{i}": float(i) for i in range(9)}
    both = stand([aim(**many), aim(**{name: -value for name, value in many.items()})], 2)
    assert len(both.places()) == 4
    np.testing.assert_array_equal(both.places()[[0, -1]], [POINTS[0], POINTS[8]])


def test_the_reference_comes_from_real_results_alone() -> None:
    def reference(lie: float) -> Array:
        first = Known(Fixed(), None, 0.5, rows(t0=1.0, t1=2.0), rows(t2=lie))
        second = Known(Fixed(), None, 0.5, rows(t0=2.0, t1=1.0), rows(t2=-lie))
        return stand([first, second], 2).reference()

    np.testing.assert_array_equal(reference(0.5), reference(-100.0))
    np.testing.assert_allclose(reference(0.5), [2.1, 2.1])


def test_no_results_are_no_points() -> None:
    here = stand([aim(t0=1.0), aim(t1=1.0), Known(Fixed(), Within(high=0.0), 0.5, rows(t0=1.0))], 2)
    assert (here.ids, here.X.shape, here.Y.shape) == ((), (0, 2), (0, 2))
    assert here.incumbent is None


def test_the_front_is_of_feasible_points_alone() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.random((3, 9))
    here = stand(
        [
            aim(**{f"t{i}": v for i, v in enumerate(a)}),
            aim(**{f"t{i}": v for i, v in enumerate(b)}),
            Known(Fixed(), Within(high=0.5), 0.5, rows(**{f"t{i}": v for i, v in enumerate(c)})),
        ],
        2,
    )
    keeps = np.flatnonzero(c <= 0.5)
    expected = keeps[nondominated(np.column_stack([a, b])[keeps])]
    np.testing.assert_array_equal(here.front(), expected)
