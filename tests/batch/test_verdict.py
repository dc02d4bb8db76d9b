from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from each import each

from believer.arrays import Array, frozen
from believer.batch.gain import Gain
from believer.batch.verdict import NEAR_IN_CUBE, NEAR_IN_LENGTHSCALES, Verdict, judge
from believer.space.box import Block, Box
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Prediction


@dataclass(frozen=True)
class Plain:
    """A model that only predicts."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


@dataclass(frozen=True)
class Stretched(Plain):
    """A model that knows lengthscales and nothing of covariances."""

    lengthscales: Array


def gp(lengthscale: float = 0.2) -> GPModel:
    hyper = Hyperparameters("matern52", frozen(np.full(2, lengthscale)), signal=1.0, noise=1e-6)
    return posterior(hyper, np.array([[0.5, 0.5]]), np.zeros(1), 0.0, 1.0)


def test_two_points_by_hand() -> None:
    X = np.array([[0.1, 0.2], [0.4, 0.6]])
    verdict = judge(X, Box.cube(2), Stretched(np.array([0.1, 0.4])))
    assert verdict.size == 2
    assert verdict.min_distance == verdict.mean_distance == pytest.approx(0.5)
    assert verdict.min_lengthscales == verdict.mean_lengthscales == pytest.approx(np.sqrt(3.0**2 + 1.0**2))
    assert verdict.gain is None
    assert verdict.near_duplicates == ()


def test_three_points_by_hand() -> None:
    X = np.array([[0.0, 0.0], [0.3, 0.4], [0.3, 0.0]])
    verdict = judge(X, Box.cube(2), Plain())
    assert verdict.min_distance == pytest.approx(0.3)
    assert verdict.mean_distance == pytest.approx((0.5 + 0.3 + 0.4) / 3.0)
    assert verdict.min_lengthscales is None
    assert verdict.mean_lengthscales is None
    assert verdict.gain is None
    assert verdict.near_duplicates == ()
    assert verdict.sentence.startswith("3 points, on average 0.40 apart (")
    assert verdict.sentence.endswith(" of random points); no near-duplicates.")
    assert str(verdict) == verdict.sentence


def test_near_pairs_in_the_cube_are_flagged_by_position() -> None:
    near = 0.9 * NEAR_IN_CUBE
    X = np.array([[0.2, 0.2], [0.8, 0.8], [0.2 + near, 0.2], [0.8, 0.8 + 1.1 * NEAR_IN_CUBE], [0.8, 0.8]])
    for model in (None, Plain(), Stretched(np.full(2, 1e-3))):
        assert judge(X, Box.cube(2), model).near_duplicates == ((0, 2), (1, 4))


def test_near_pairs_in_lengthscales_are_flagged_as_well() -> None:
    lengthscales = np.array([0.5, 0.05])
    inside, outside = 0.9 * NEAR_IN_LENGTHSCALES * lengthscales, 1.1 * NEAR_IN_LENGTHSCALES * lengthscales
    X = np.array([[0.2, 0.2], [0.2 + inside[0], 0.2], [0.8, 0.8], [0.8, 0.8 + outside[1]]])
    assert judge(X, Box.cube(2), Stretched(lengthscales)).near_duplicates == ((0, 1),)
    assert judge(X, Box.cube(2), None).near_duplicates == ()


@pytest.mark.parametrize("copies", [2, 3])
def test_the_sentence_warns_of_near_duplicates(copies: int) -> None:
    X = np.vstack([np.tile([[0.3, 0.3]], (copies, 1)), [[0.9, 0.9]]])
    pairs = copies * (copies - 1) // 2
    sentence = judge(X, Box.cube(2), None).sentence
    assert sentence.startswith(f"{copies + 1} points, on average ")
    plural = "s" if pairs > 1 else ""
    assert sentence.endswith(f"; {pairs} pair{plural} nearly the same: look before you pay for both.")


@pytest.mark.parametrize("model", [None, Plain(), gp()], ids=["none", "plain", "gp"])
def test_one_point_has_no_distances(model: Plain | GPModel | None) -> None:
    verdict = judge(np.array([[0.3, 0.4]]), Box.cube(2), model)
    assert verdict.min_distance is verdict.mean_distance is None
    assert verdict.min_lengthscales is verdict.mean_lengthscales is None
    assert verdict.near_duplicates == ()
    assert verdict.sentence == "1 point: nothing to compare."


def test_without_a_model_only_distances_are_known() -> None:
    verdict = judge(np.array([[0.0, 0.0], [1.0, 1.0]]), Box.cube(2), None)
    assert verdict.min_lengthscales is verdict.mean_lengthscales is None
    assert verdict.gain is None
    assert verdict.mean_distance == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize(("d", "expected", "variance"), [(1, 1.0 / 3.0, 1.0 / 18.0), (2, 0.521405, 0.0615)])
def test_random_pairs_have_the_mean_distance_of_the_region(d: int, expected: float, variance: float) -> None:
    # Mean distance of two uniform points of a segment, 1/3, and of a square, (2 + √2 + 5 asinh 1)/15; 512 draws.
    X = np.zeros((2, d))
    distance = judge(X, Box.cube(d), None).random_pair_distance
    assert distance == pytest.approx(expected, abs=5.0 * np.sqrt(variance / 512))
    wide = Box(frozen(np.full(d, -1.0)), frozen(np.full(d, 9.0)))
    assert judge(X, wide, None).random_pair_distance == pytest.approx(10.0 * distance)


def test_random_pairs_are_of_the_region_and_the_same_every_time() -> None:
    two = Box(frozen(np.zeros(2)), frozen(np.ones(2)), (Block(0, 2, frozen(np.eye(2)), False),))
    verdicts = [judge(np.eye(2), two, None) for _ in range(2)]
    assert verdicts[0] == verdicts[1]
    # A pair of one-hot rows is apart by √2 half of the time; five standard errors.
    assert verdicts[0].random_pair_distance == pytest.approx(np.sqrt(0.5), abs=5.0 * np.sqrt(0.5 / 512))


def test_a_region_of_one_point_is_judged_without_a_warning() -> None:
    region = Box(frozen([0.5]), frozen([0.5]))
    verdict = judge(np.full((2, 1), 0.5), region, None)
    assert isinstance(verdict, Verdict)
    assert verdict.random_pair_distance == 0.0
    assert verdict.near_duplicates == ((0, 1),)


def judged(q: int, gain: Gain) -> str:
    """What is said of ``q`` points along a diagonal."""
    verdict = judge(np.linspace(0.1, 0.9, q)[:, None] * np.ones(2), Box.cube(2), Plain(), gain.n_pending, gain)
    assert verdict.gain == gain
    return verdict.sentence


CURVE = (0.12, 0.17, 0.2, 0.205, 0.21)


def a_gain(
    curve: tuple[float, ...], chance: float = 0.9, beside: int = 0, resolution: float = 0.0, of: str = ""
) -> Gain:
    return Gain(curve, tuple(range(len(curve))), (0.0, 1.0), chance, beside, resolution, of)


@each(
    ("gain", "expected"),
    [
        (
            a_gain(CURVE, resolution=1e-4),
            "5 points, likely to improve on the best so far: about 0.2 expected; 95% of that takes 3 slots; "
            "no near-duplicates.",
        ),
        (
            a_gain(CURVE[:2], 0.3, beside=2),
            "2 points in addition to 2 pending, may improve further: about 0.2 more expected; "
            "95% of that takes both slots; no near-duplicates.",
        ),
        (
            a_gain((3.0e5, 3.1e5, 3.1e5), 0.05),
            "3 points, unlikely to improve on the best so far: about 300000 expected; 95% of that takes 1 slot; "
            "no near-duplicates.",
        ),
        (a_gain((0.12,)), "1 point, likely to improve on the best so far: about 0.1 expected."),
        (
            a_gain((0.12,), beside=1),
            "1 point in addition to 1 pending, likely to improve further: about 0.1 more expected.",
        ),
        (
            a_gain((0.12,), 0.2, of=" of hypervolume"),
            "1 point, may improve on the front: about 0.1 of hypervolume expected.",
        ),
        (
            a_gain(CURVE, resolution=0.25),
            "5 points, little expected: less than 0.25, the smallest improvement that matters; no near-duplicates.",
        ),
        (a_gain((0.0,), 0.0, beside=3), "1 point in addition to 3 pending, nothing more expected."),
        (
            a_gain((0.0,), 0.0, beside=1, resolution=0.5),
            "1 point in addition to 1 pending, little more expected: less than 0.5, the smallest improvement that "
            "matters.",
        ),
    ],
    ids=["five", "pending", "large", "one", "one pending", "front", "settled", "nothing", "settled beside one"],
)
def test_what_is_expected_is_said_in_words(gain: Gain, expected: str) -> None:
    assert judged(len(gain.curve), gain) == expected


def test_the_numbers_behind_the_words_are_in_the_repr() -> None:
    verdict = judge(np.array([[0.3, 0.4]]), Box.cube(2), Plain(), 0, a_gain((0.1234,), 0.625), "kJ")
    assert repr(verdict) == "Verdict(1 point, expected gain 0.12 kJ, chance of one 62%)"
