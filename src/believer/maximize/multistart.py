"""The default maximizer. Evaluate candidates, then climb from the best ones with gradients, all at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from believer.arrays import Array, IntArray, packed, shares, shown, whole
from believer.errors import InvalidInput, MissingCapability
from believer.maximize.climb import ascend, stepped
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
from believer.numerics import backend, lbfgs
from believer.space.region import Region

MAX_STARTS = 1000
MAX_SWEEPS = 1000
MAX_WIDTHS = 100

_AMONG, _APART = 8, 0.05
"""Starts are picked among the best candidates, ``_AMONG`` times as many as there are starts. Each differs from every
earlier one by more than ``_APART`` in at least one coordinate."""

_STEPPED = 4
"""The number of best ends of climbs from which discrete parameters then move from value to value."""


@dataclass(frozen=True, slots=True)
class Multistart:
    """Evaluate Sobol candidates and neighbors of the incumbents, then climb from the best ones, all at once.

    If the search has candidates with known values, these are used, and none are drawn.

    First all columns climb along the gradient, those of ordered discrete parameters as if they were continuous, and are
    then rounded. Then, from the best rounded ends, two steps alternate: discrete parameters move to another value if
    that is better, and continuous columns climb. The final point is therefore an optimum on the grid and not a rounded
    one. (A grid of more than 100,000 values is climbed as if it were continuous, and rounded before points are
    compared.)

    Parameters
    ----------
    starts : the number of candidates from which climbs start.
    candidates : the number of Sobol points.
    neighbors : the number drawn around each incumbent.
    widths : standard deviations of a neighbor's step, as shares of the box; each neighbor has one of them.
    sweeps : the largest number of times that discrete parameters move and columns climb again.
    climb : the rules by which a climb stops.
    """

    starts: int = 10
    candidates: int = 512
    neighbors: int = 40
    widths: tuple[float, ...] = (0.2, 0.05, 0.01)
    sweeps: int = 4
    climb: lbfgs.Settings = field(
        default_factory=lambda: lbfgs.Settings(max_rounds=50, gradient_tol=1e-3, value_tol=1e-6, heat=8, finalists=2)
    )

    def __post_init__(self) -> None:
        whole(self.starts, "starts", 1, MAX_STARTS)
        whole(self.candidates, "candidates", 1, MAX_CANDIDATES)
        whole(self.neighbors, "neighbors", 0, MAX_NEIGHBORS)
        whole(self.sweeps, "sweeps", 0, MAX_SWEEPS)
        object.__setattr__(self, "widths", shares(self.widths, "widths", MAX_WIDTHS))
        if not self.widths:
            raise InvalidInput("widths must be one or more numbers in [0, 1]; got ().")
        if not isinstance(self.climb, lbfgs.Settings):
            raise InvalidInput(f"climb must be believer.numerics.LBFGSSettings(...); got {shown(self.climb)}.")

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """Return the best new point of ``objective`` found in ``search``; ``rng`` draws candidates.

        Needs an objective with gradients.
        """
        if not objective.has_gradient:
            raise MissingCapability(
                "Multistart climbs with gradients, and this model has none (predict_with_gradient). Use Candidates()."
            )
        exact = search_exhaustively(objective, search)
        if exact is not None:
            return exact
        region, known = search.region, search.known
        pool = self.drawn(search, rng) if known is None else known.X
        if not len(pool):
            raise none_allowed(region)
        values = ranked(objective.value(pool) if known is None else known.values)
        # EI and UCB are in the units of y: a climb's tolerances are absolute, so small units must be scaled up.
        scale = min(1.0, float(np.ptp(values[np.isfinite(values)]))) or 1.0
        X = self._starts(pool, values, search)
        X, f = ascend(objective, region, X, self.climb, scale, relaxed=True)
        if region.decisions.count(None) < len(region.decisions):  # None stands for a continuous column
            X, f = self._stepped(objective, region, X, f, scale)
        found = first_distinct(np.vstack([X, pool]), np.concatenate([f, values]), search)
        return found if found is not None else any_distinct(objective, search, rng)

    def drawn(self, search: Search, rng: np.random.Generator) -> Array:
        """Candidates (m, d) of a ``search``, drawn with ``rng``."""
        return search.candidates(self.candidates, self.neighbors, self.widths, rng)

    def _starts(self, pool: Array, values: Array, search: Search) -> Array:
        """The starts (s, d) of climbs: the best of ``pool`` (m, d) by their ``values`` (m,).

        Of known candidates, only those that keep the spacing are starts, if there are any: the best candidates of a
        large batch crowd around its points, and climbs from there would end where no point may be chosen.
        """
        if search.known is not None and search.spacing is not None:
            far = ~search.spacing.near(pool)
            if far.any():
                pool, values = pool[far], values[far]
        return pool[_pick_starts(pool, values, self.starts)]

    def _stepped(self, objective: Objective, region: Region, X: Array, f: Array, scale: float) -> tuple[Array, Array]:
        """Improve the best rows by alternating discrete steps and continuous climbs.

        Returns the improved rows followed by ``X`` (s, d), and their values followed by ``f`` (s,). The neighbors of
        the best row climb too, because two columns may have to change at once; if no column is continuous, they are
        looked at only when no single step helps.
        """
        rows, climbs = _pick_starts(X, ranked(f), _STEPPED), None in region.decisions
        ends, high = X[rows], f[rows]
        for _ in range(self.sweeps):
            best = high.max()
            ends, high = stepped(objective, region, ends, high)
            if not climbs and high.max() > best:
                continue
            close = region.neighbors(ends[int(high.argmax())])
            if len(close):
                close = close[np.argsort(-ranked(objective.value(close), all_bad=True), kind="stable")[:_STEPPED]]
            ends, high = ascend(objective, region, np.vstack([ends, close]), self.climb, scale)
            rows = np.argsort(-ranked(high, all_bad=True), kind="stable")[:_STEPPED]
            ends, high = ends[rows], high[rows]
            if not high[0] > best + self.climb.value_tol * scale:
                break
        return np.vstack([ends, X]), np.concatenate([high, f])


def _pick_starts(pool: Array, values: Array, starts: int) -> IntArray:
    """Indices of good candidates, best first.

    Each differs from every earlier one by more than ``_APART`` in at least one coordinate.
    """
    native = backend.native
    if native is not None:
        picked: IntArray = native.pick_starts(packed(pool), packed(values), starts, _AMONG * starts, _APART)
        return picked
    order = np.argsort(-values, kind="stable")[: _AMONG * starts]
    taken = [int(order[0])]
    X = pool[order]
    gap = np.abs(X - X[0]).max(axis=1)
    for i in range(1, len(order)):
        if len(taken) == starts:
            break
        if gap[i] > _APART:
            taken.append(int(order[i]))
            gap = np.minimum(gap, np.abs(X - X[i]).max(axis=1))
    return np.array(taken)
