"""A model that no lie changes: [paper] Cor. 1, and its unstated assumption.

If predictions stay as they are, *and* α depends on nothing else that a lie changes, *and* the maximizer is
deterministic, then every point of the batch maximizes the same function by the same steps: all are equal, to the last
bit. The corollary names the first and the last. The middle one matters: with the believed incumbent a lie can lower f⁺
though the model stays; then EI changes, and the points differ. With restarts drawn anew, or started from the lies as
``Multistart`` does unless ``neighbors=0``, they may differ for no reason of the model's at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, frozen, whole
from believer.errors import InvalidInput
from believer.maximize import FixedStarts, Maximizer
from believer_paper.theory.situation import Situation, request, strategy


@dataclass(frozen=True, slots=True, eq=False)
class UnmovedBatch:
    """The points (q, d) that Algorithm 1 picks if no lie reaches the model, and f⁺ (q,) at each choice."""

    X: Array
    incumbents: Array

    @property
    def spread(self) -> float:
        """The largest distance from the first point; zero if all points are the same."""
        return float(np.linalg.norm(self.X - self.X[0], axis=1).max())


def unmoved_batch(
    situation: Situation, q: int, maximizer: Maximizer | None = None, seeds: tuple[int, ...] | None = None
) -> UnmovedBatch:
    """[paper] Algorithm 1 for ``q`` points, with the model left as it is after every lie.

    maximizer: the diagnostic's three fixed starts unless given. seeds: one for each point, for a maximizer that draws;
    the same for all unless given, so that it is deterministic.
    """
    q = whole(q, "q", 1)
    drawn = (0,) * q if seeds is None else seeds
    if len(drawn) != q:
        raise InvalidInput(f"seeds must be one for each of the {q} points; got {len(drawn)}.")
    starts = FixedStarts() if maximizer is None else maximizer
    asked = request(situation, q, lambda trial, _: np.random.default_rng(drawn[trial]), starts)
    liar = strategy(situation, "none")
    X = [choice.x for choice in liar.choose(asked).choices]
    belief, incumbents = liar.begin(asked), []
    for trial, x in enumerate(X):
        incumbents.append(belief.view(asked).incumbent)
        belief = belief.with_lie(asked, trial, x)
    return UnmovedBatch(frozen(X), frozen(incumbents))
