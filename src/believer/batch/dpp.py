"""Batches that are likely under a determinantal point process: a good first point, then points that differ from it.

======  ======================================================================  ==========
symbol  meaning                                                                 shape
======  ======================================================================  ==========
x_1     the first point, by the study's acquisition                             (d,)
K       latent posterior covariance of the batch, given real and hallucinated   (q, q)
        results at pending points; σ_n² is the variance of the noise
R⁺      the relevant region, see ``relevance``
σ_j|·   latent std at x_j, given the other points of the batch as well
L       the same over m candidates of R⁺, given x_1                             (m, m)
λ, V    eigenvalues and eigenvectors of L                                       (m,), (m, m)
e_k     elementary symmetric polynomial of degree k, of the first n λ
======  ======================================================================  ==========

log det (K + σ_n² I) = log det of the others + log(σ_j|·² + σ_n²), for any j. So the point with the largest σ_j|· also
gives the largest determinant, whatever the noise, and no exchange of a point for it lowers the determinant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from believer.arrays import Array, IntArray, frozen, shown, whole
from believer.batch.best_so_far import best_places
from believer.batch.capability import require
from believer.batch.hallucination import NARROW, Hallucination, by_exploration, explore, hallucinated
from believer.batch.lies import Believe
from believer.batch.picking import taken
from believer.batch.pseudo import PseudoObservations
from believer.batch.relevance import Relevance, relevance
from believer.batch.request import Choice, Chosen, Request
from believer.batch.schedules import Schedule, beta_at, checked_beta
from believer.errors import InvalidInput
from believer.maximize import Search
from believer.maximize.multistart import MAX_SWEEPS
from believer.surrogates.protocols import Joint

MODES = ("max", "sample")

_FIRST = PseudoObservations(Believe(), update="condition")
_GAIN = 1e-2
"""The relative gain of a standard deviation below which an exchange does not justify another round of searches."""

_CANDIDATES = 256
_NEIGHBORS = 20
_WIDTHS = (0.2, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class DPP:
    """Choose a first point by the acquisition function, then points of R⁺ with a large determinant ([Kathuria2016]).

    Differs: R⁺ is that of ucb_pe, and as narrow. The paper maximizes greedily; the exchanges here can only raise the
    determinant. Pending points get lies and are not part of the batch: every ask begins with a point of the acquisition
    function, so asking q times for one point gives the batch of kb, and not that of ask(q). The same ask on the same
    results gives the same batch.

    Parameters
    ----------
    mode : "max" (the largest determinant that is found) or "sample" (a set of candidates of R⁺ is drawn, with a
        probability proportional to its determinant).
    beta : a number or a schedule; it is only used for R⁺.
    sweeps : with "max", the largest number of rounds after the greedy choice in which each further point is chosen
        again given all others, as long as a standard deviation gains a percent. 0 is the greedy choice alone, which
        [Kathuria2016] show to be the rule of UCB-PE.
    """

    mode: str = "max"
    beta: float | Schedule = NARROW
    sweeps: int = 4

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidInput(f"mode must be one of {', '.join(MODES)}; got {shown(self.mode)}.")
        checked_beta(self.beta)
        whole(self.sweeps, "sweeps", 0, MAX_SWEEPS)

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose the first point for ``request``, then the others together; ``memory`` is ignored."""
        require(request.model, Joint, "dpp")
        given = hallucinated(request, "dpp")
        choices = list(_FIRST.choose(replace(request, ids=request.ids[:1])).choices)
        if len(request.ids) == 1:
            return Chosen(tuple(choices))
        beta = beta_at(self.beta, len(request.data.y) + 1, request.region)
        where = relevance(request, beta)
        if self.mode == "sample":
            choices += _drawn(request, given.conditioned(_points(choices)), where)
        for trial in request.ids[len(choices) :]:
            X = _points(choices)
            choices.append(
                by_exploration(request, trial, given.conditioned(X), where, beta, taken(request.avoid, X, request))
            )
        for _ in range(self.sweeps if self.mode == "max" else 0):
            moved = [_exchange(request, given, where, choices, j) for j in range(1, len(choices))]
            if not any(moved):
                break
        return Chosen(tuple(choices))


def _points(choices: list[Choice]) -> Array:
    return np.array([choice.x for choice in choices])


def _exchange(request: Request, given: Hallucination, where: Relevance, choices: list[Choice], j: int) -> bool:
    """Put a point of R⁺ with a larger σ_j|· in place of ``choices[j]``, if one is found."""
    others = np.delete(_points(choices), j, axis=0)
    given = given.conditioned(others)
    picked = explore(request, request.ids[j], given, where, taken(request.avoid, others, request))
    if picked is None:
        return False
    old, new = given.model.predict(np.array([choices[j].x, picked.x])).std
    if new <= (1.0 + _GAIN) * old:
        return False
    choices[j] = picked.choice("posterior std", f" in {where.describe()} given all other points of the batch")
    return True


def _drawn(request: Request, given: Hallucination, where: Relevance) -> list[Choice]:
    """Draw the batch's further points among candidates of R⁺; there may be fewer than wanted.

    σ_n² is not added to the diagonal, because a model need not know it, and it would only make close points more
    likely.
    """
    region, rng = request.region, request.randomness(request.ids[1], "dpp")
    near_best = np.vstack([best_places(request), where.best, given.X[-1:]])
    neighbors = _NEIGHBORS + 2 * len(request.ids)
    pool = Search(region, near_best, request.avoid).candidates(_CANDIDATES, neighbors, _WIDTHS, rng)
    pool = np.unique(pool, axis=0)
    pool = pool[where.holds(pool) & ~region.among(pool, taken(request.avoid, given.X, request))]
    k = min(len(request.ids) - 1, len(pool))
    rows = k_dpp(cast(Joint, given.model).joint(pool).covariance, k, rng) if k else ()
    how = f"drawn from a DPP over {len(pool)} points of {where.describe()}{given.after()}"
    return [Choice(frozen(pool[row]), how) for row in rows]


def k_dpp(L: Array, k: int, rng: np.random.Generator) -> IntArray:
    """``k`` different rows, each set drawn with probability det L_S / e_k(λ).  O(m³).

    Eigenvectors are drawn by [Kulesza2012] Algorithm 8, then rows from the projection P = V Vᵀ onto them, each with
    probability P_ii less the part that the rows before it explain. This is Algorithm 1, with a pivoted Cholesky factor
    for the basis.
    """
    values, vectors = np.linalg.eigh(L)
    floor = np.finfo(np.float64).eps * max(float(values[-1]), np.finfo(np.float64).tiny)
    V = vectors[:, _eigenvectors(np.log(np.maximum(values, floor)), k, rng)]
    factor = np.zeros((len(L), k))
    left = (V**2).sum(axis=1)
    rows: list[int] = []
    for j in range(k):
        row = int(rng.choice(len(L), p=left / left.sum()))
        factor[:, j] = (V @ V[row] - factor[:, :j] @ factor[row, :j]) / np.sqrt(left[row])
        rows.append(row)
        left = np.maximum(left - factor[:, j] ** 2, 0.0)
        left[rows] = 0.0
    return np.array(rows, dtype=np.int64)


def _eigenvectors(log_values: Array, k: int, rng: np.random.Generator) -> list[int]:
    """Draw k of the m eigenvectors, each set with probability Π λ / e_k ([Kulesza2012] Algorithms 7 and 8, in
    logarithms)."""
    m = len(log_values)
    log_e = np.full((m + 1, k + 1), -np.inf)
    log_e[:, 0] = 0.0
    for n in range(1, m + 1):
        log_e[n, 1:] = np.logaddexp(log_e[n - 1, 1:], log_values[n - 1] + log_e[n - 1, :-1])
    taken_up: list[int] = []
    for n in range(m, 0, -1):
        left = k - len(taken_up)
        if left and np.log(rng.random()) < log_values[n - 1] + log_e[n - 1, left - 1] - log_e[n, left]:
            taken_up.append(n - 1)
    return taken_up
