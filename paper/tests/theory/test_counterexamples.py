"""Counterexamples are found where no proof applies, and none where one does."""

from __future__ import annotations

import numpy as np
import pytest

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint
from believer.batch import Believe, ConstantLie, Lie
from believer.errors import InvalidInput
from believer_paper.theory import COUNTEREXAMPLES, Family, counterexample, guarantee, tally

KB, MIN, MEAN, MAX = Believe(), ConstantLie("min"), ConstantLie("mean"), ConstantLie("max")


@pytest.mark.parametrize("name", [name for name in COUNTEREXAMPLES if name != "suppressed_but_close"])
def test_every_named_counterexample_repeats_its_point_whatever_the_search_draws(name: str) -> None:
    for seed in range(3):
        found = guarantee(COUNTEREXAMPLES[name](), np.random.default_rng(seed))
        assert not found.moves
        assert not found.applies


@pytest.mark.parametrize(
    ("acquisition", "lie", "incumbent", "noise"),
    [
        (EI(), KB, "data", 0.0),
        (LogEI(), KB, "data", 1e-6),
        (EI(), KB, "believed", 1.0),
        (EI(), MIN, "data", 1.0),
        (EI(), MIN, "believed", 1.0),
        (EI(), MEAN, "believed", 1.0),
        (UCB(), KB, "believed", 1.0),
        (UCB(), MIN, "believed", 1.0),
        (UCB(), MEAN, "believed", 1.0),
        (PI(0.1), KB, "data", 0.0),
        (PI(0.1), MIN, "data", 1.0),
    ],
)
def test_a_search_finds_a_repeated_point(acquisition: PerPoint, lie: Lie, incumbent: str, noise: float) -> None:
    found = counterexample(Family(acquisition, lie, incumbent, noise), 60, np.random.default_rng(1))
    assert found is not None
    assert not found.moves
    line = np.linspace(0.0, 1.0, 3001)[:, None]
    values = found.step.bound.value(line)
    assert values.max() <= found.value_after + 1e-7 * max(1.0, float(np.abs(values).max()))


@pytest.mark.parametrize(
    ("acquisition", "lie", "incumbent"),
    [(EI(), lie, "believed") for lie in (KB, MIN, MEAN, MAX)] + [(LogEI(), lie, "data") for lie in (MIN, MEAN, MAX)],
)
def test_a_search_finds_none_where_one_was_ruled_out(acquisition: PerPoint, lie: Lie, incumbent: str) -> None:
    assert counterexample(Family(acquisition, lie, incumbent, 0.0), 40, np.random.default_rng(2)) is None


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize("acquisition", [EI(), LogEI(), UCB()], ids=repr)
@pytest.mark.parametrize("incumbent", ["data", "believed"])
def test_believing_always_lowers_what_rises_with_std(acquisition: PerPoint, incumbent: str, noise: float) -> None:
    assert tally(Family(acquisition, KB, incumbent, noise), 12, np.random.default_rng(0)).rises == 0


@pytest.mark.parametrize("lie", [MIN, MEAN, MAX], ids=repr)
@pytest.mark.parametrize("acquisition", [EI(), LogEI(), UCB()], ids=repr)
def test_without_noise_constant_lies_lower_the_acquisition_at_its_maximizer(acquisition: PerPoint, lie: Lie) -> None:
    assert tally(Family(acquisition, lie, "data", 0.0), 12, np.random.default_rng(0)).rises == 0


@pytest.mark.parametrize("acquisition", [EI(), LogEI(), UCB(), PI(0.1)], ids=repr)
def test_the_least_value_as_a_lie_mostly_raises_the_acquisition_at_its_point_when_there_is_noise(
    acquisition: PerPoint,
) -> None:
    found = tally(Family(acquisition, MIN, "data", 1.0), 30, np.random.default_rng(0))
    assert found.rises > 15


def test_believing_raises_the_probability_of_improvement() -> None:
    assert tally(Family(PI(0.1), KB, "data", 0.0), 40, np.random.default_rng(0)).rises > 5


def test_points_are_near_each_other_more_often_than_equal_even_where_distinctness_is_proven() -> None:
    found = tally(Family(EI(), KB, "believed", 0.0), 60, np.random.default_rng(1))
    assert found.repeats == 0
    assert found.near > 0, "no separation of the order of a lengthscale"
    assert found.tries == 60


def test_the_highest_value_as_a_lie_keeps_points_apart() -> None:
    assert tally(Family(EI(), MAX, "believed", 0.0), 30, np.random.default_rng(1)).near == 0


def test_a_search_is_on_a_line_and_tries_at_least_once() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="dim=1"):
        tally(Family(dim=2), 1, rng)
    with pytest.raises(InvalidInput, match="tries"):
        counterexample(Family(), 0, rng)
    with pytest.raises(InvalidInput, match="kernel must be"):
        Family(kernel="cubic")
    with pytest.raises(InvalidInput, match="zero or more"):
        Family(noise=-1.0)


def test_situations_of_a_family_are_drawn_alike_from_equal_generators() -> None:
    one, two = (Family(dim=3, noise=0.1).draw(np.random.default_rng(9)).data for _ in range(2))
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert one.X.shape[1] == 3
