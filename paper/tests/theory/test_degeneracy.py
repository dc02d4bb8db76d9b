"""A model that no lie moves repeats its point exactly, unless the incumbent or the starts change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint
from believer.batch import Believe, ConstantLie, Lie
from believer.errors import InvalidInput
from believer.maximize import Candidates, FixedStarts, Maximizer, Multistart
from believer_paper.theory import Family, unmoved_batch

MAXIMIZERS: list[Maximizer] = [
    FixedStarts(),
    Multistart(neighbors=0),
    Candidates(candidates=256, neighbors=0, rounds=0),
]


@pytest.mark.parametrize("maximizer", MAXIMIZERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("acquisition", [EI(), LogEI(), UCB(), PI(0.1)], ids=repr)
@pytest.mark.parametrize("lie", [Believe(), ConstantLie("min"), ConstantLie("max")], ids=repr)
def test_all_points_are_the_same_to_the_last_bit_for_a_deterministic_maximizer(
    maximizer: Maximizer, acquisition: PerPoint, lie: Lie
) -> None:
    situation = Family(acquisition, lie, "data", noise=1e-4, dim=2).draw(np.random.default_rng(5))
    X = unmoved_batch(situation, 4, maximizer).X
    assert X.shape == (4, 2)
    np.testing.assert_array_equal(X, np.repeat(X[:1], 4, axis=0))
    assert unmoved_batch(situation, 4, maximizer).spread == 0.0


def test_a_believed_incumbent_moves_improvement_though_the_model_stays() -> None:
    spreads = []
    for seed in range(12):
        situation = Family(EI(), Believe(), "believed", 1e-6).draw(np.random.default_rng(seed))
        batch = unmoved_batch(situation, 3, Multistart(neighbors=0))
        if situation.model.predict(batch.X[:1]).mean[0] < situation.data.y.min():
            spreads.append(batch.spread)
            assert batch.incumbents[1] < batch.incumbents[0] == situation.data.y.min()
        else:
            assert batch.spread == 0.0, "the value that was believed is no better, so f⁺ stays"
        # Nor does a lie that is no better, or an acquisition without an incumbent.
        for same in (replace(situation, lie=ConstantLie("max")), replace(situation, acquisition=UCB())):
            assert unmoved_batch(same, 3, Multistart(neighbors=0)).spread == 0.0
    assert max(spreads) == 1.0, "from one end of the box to the other"
    assert np.mean(np.array(spreads) > 0.0) > 0.3


def test_starts_that_are_drawn_anew_can_give_points_that_differ_for_no_reason_of_the_model() -> None:
    weak = Candidates(candidates=4, neighbors=0, rounds=0)
    situation = Family(EI(), Believe(), "data", 1e-6, dim=2).draw(np.random.default_rng(0))
    assert unmoved_batch(situation, 3, weak, seeds=(1, 2, 3)).spread > 0.05
    assert unmoved_batch(situation, 3, weak, seeds=(2, 2, 2)).spread == 0.0


def test_starts_at_the_lies_make_points_differ_a_little() -> None:
    situation = Family(PI(0.1), Believe(), "data", 1e-4, dim=2).draw(np.random.default_rng(5))
    assert 0.0 < unmoved_batch(situation, 4, Multistart()).spread < 1e-3


def test_a_batch_has_a_point_at_least() -> None:
    situation = Family().draw(np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="q must be"):
        unmoved_batch(situation, 0)
    with pytest.raises(InvalidInput, match="one for each of the 3"):
        unmoved_batch(situation, 3, seeds=(1, 2))
