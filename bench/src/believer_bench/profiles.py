"""Data profiles and performance profiles: how often and how soon runs come near the optimum.

=======  ==================================================================================
symbol   meaning
=======  ==================================================================================
n_b      evaluations that a member needs on block b (a problem and a seed) to reach a
         target, infinity if it never does, (m,)
data     d(n) = share of blocks with n_b <= n [MoreWild2009], at equal evaluations
perf.    ρ(τ) = share of blocks with n_b <= τ times the least n_b of all members
         [DolanMore2002]; ρ(1) is how often a member is the first, with ties
=======  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from believer.arrays import Array
from believer_bench.runs import Run, members_of
from believer_bench.scores import evaluations_to

MOST = 8.0
"""Ratio of evaluations up to which performance profiles are drawn."""


def shared_blocks(runs: Sequence[Run]) -> list[tuple[str, int]]:
    """The problems and seeds of a group that every member has run, in order of appearance."""
    own: dict[str, dict[tuple[str, int], None]] = {member: {} for member in members_of(runs)}
    for run in runs:
        own[run.member][run.case.problem, run.seed] = None
    first, *others = own.values()
    return [block for block in first if all(block in blocks for blocks in others)]


def counts(runs: Sequence[Run], target: float) -> dict[str, Array]:
    """n_b of every member on the blocks that all have run, in the same order."""
    found = {(run.member, run.case.problem, run.seed): evaluations_to(run, target) for run in runs}
    blocks = shared_blocks(runs)
    return {member: np.array([found[member, *block] for block in blocks]) for member in members_of(runs)}


def data_profile(needed: Array, n: Array) -> Array:
    """d at the numbers of evaluations ``n`` (k,), from n_b ``needed`` (m,)."""
    return _shares(needed, n)


def performance_profile(needed: Mapping[str, Array], tau: Array) -> dict[str, Array]:
    """ρ of every member at the ratios ``tau`` (k,); a block that nobody solves counts as unsolved for all."""
    least = np.min(list(needed.values()), axis=0)
    solved = np.isfinite(least)
    ratios = {m: np.where(solved, own / np.where(solved, least, 1.0), np.inf) for m, own in needed.items()}
    return {member: _shares(own, tau) for member, own in ratios.items()}


def _shares(values: Array, at: Array) -> Array:
    shares: Array = np.searchsorted(np.sort(values), at, side="right") / max(len(values), 1)
    return shares
