"""A maximizer without gradients, for objectives that are piecewise constant or have values only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import finite, whole
from believer.errors import InvalidInput
from believer.maximize.objective import (
    MAX_CANDIDATES,
    MAX_NEIGHBORS,
    Maximum,
    Objective,
    Search,
    any_distinct,
    first_distinct,
    none_allowed,
    ranked,
    search_exhaustively,
)

MAX_ROUNDS = 1000


@dataclass(frozen=True, slots=True)
class Candidates:
    """Evaluate Sobol candidates and neighbors of the incumbents, then search ever closer around the best ones.

    Deterministic for a given generator; the result is a point that was evaluated, never an extrapolation.

    Parameters
    ----------
    candidates : the number of Sobol points.
    neighbors : the number of neighbors of each incumbent, and of each survivor in each round.
    survivors : the number of best points around which the search goes on.
    rounds : the number of rounds of this search.
    shrink : the factor of the neighbors' distance from round to round.
    """

    candidates: int = 2048
    neighbors: int = 60
    survivors: int = 12
    rounds: int = 8
    shrink: float = 0.5

    def __post_init__(self) -> None:
        whole(self.candidates, "candidates", 1, MAX_CANDIDATES)
        whole(self.neighbors, "neighbors", 0, MAX_NEIGHBORS)
        # All neighbors of all survivors are candidates of a round.
        whole(self.survivors, "survivors", 1, MAX_CANDIDATES // max(self.neighbors, 1))
        whole(self.rounds, "rounds", 0, MAX_ROUNDS)
        if not 0.0 <= finite(self.shrink, "shrink") <= 1.0:
            raise InvalidInput(f"shrink must lie in [0, 1]; got {self.shrink!r}.")

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """Return the best new point of ``objective`` found in ``search``; ``rng`` draws candidates."""
        exact = search_exhaustively(objective, search)
        if exact is not None:
            return exact
        X = search.candidates(self.candidates, self.neighbors, (0.2, 0.05, 0.01), rng)
        if not len(X):
            raise none_allowed(search.region)
        f = ranked(objective.value(X))
        width = 0.2
        for _ in range(self.rounds):
            best = np.argsort(-f, kind="stable")[: self.survivors]
            close = search.region.near(X[best], self.neighbors, (width, 0.25 * width), rng)
            X, f = np.vstack([X[best], close]), np.concatenate([f[best], ranked(objective.value(close), all_bad=True)])
            width *= self.shrink
        found = first_distinct(X, f, search)
        return found if found is not None else any_distinct(objective, search, rng)
