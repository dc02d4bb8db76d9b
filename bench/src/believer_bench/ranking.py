"""Rankings: mean ranks over paired runs, and signed-rank tests corrected by Holm's method.

=======  =========================================================================
symbol   meaning
=======  =========================================================================
block    a case and a seed: all members begin there from the same points
k        number of members that are compared
m        number of blocks, or of comparisons
d        differences of final values, ours - theirs, one for each block, (m,)
=======  =========================================================================

Values are to be minimized: the least has rank 1, and a difference below zero is a win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from believer.arrays import Array
from believer.experiments import hodges_lehmann, holm, vargha_delaney, wilcoxon
from believer_bench.runs import Case, Run, cases_of, members_of

LEVEL = 0.05
"""A difference is shown if its corrected p value is below this."""

CaseSeed = tuple[Case, int]
"""A case and a seed: what a comparison pairs members by."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Mean ranks over the blocks that all ranked members have run.

    runs: how many each ranked member has on the cases that are used. unranked: members that have run too little, with
    how many of the blocks they have. unused: cases that too few members have run.
    """

    ranks: dict[str, float]
    blocks: tuple[CaseSeed, ...]
    runs: dict[str, int]
    unranked: dict[str, int]
    unused: tuple[Case, ...] = ()


@dataclass(frozen=True, slots=True)
class PairedTest:
    """``ours`` against ``theirs`` over the seeds of both, on one case or (None) on several at once.

    shift: Hodges-Lehmann estimate of ours - theirs in values to be minimized, None over several cases. effect: how
    often a run of ours beats one of theirs, over all pairs (A₁₂). ours_ahead: None if the signed ranks
    sum to 0. holm: p corrected for all ``comparisons``.
    """

    case: Case | None
    ours: str
    theirs: str
    pairs: int
    won: int
    tied: int
    shift: float | None
    effect: float | None
    ours_ahead: bool | None
    p: float
    holm: float
    comparisons: int

    @property
    def shown(self) -> bool:
        """Whether one member is shown to be better."""
        return self.holm < LEVEL

    @property
    def better(self) -> str | None:
        """The member that is shown to be better, if any."""
        return self.ahead if self.shown else None

    @property
    def ahead(self) -> str | None:
        """The member with the better signed ranks, significant or not; None if they are equal."""
        if self.ours_ahead is None:
            return None
        return self.ours if self.ours_ahead else self.theirs

    @property
    def verdict(self) -> str:
        """The result in words; two members are never called equal."""
        if self.better is not None:
            return f"{self.better} better"
        if self.pairs < pairs_needed(self.comparisons):
            return "too few seeds to say"
        if self.ahead is None or self.won == self.pairs - self.won - self.tied:
            return "no difference shown"
        return f"no difference shown ({self.ahead} ahead)"


def pairs_needed(comparisons: int) -> int:
    """The least number of pairs with which a signed-rank test can pass after Holm: m 2^(1 - pairs) < 0.05."""
    return math.floor(1.0 + math.log2(max(comparisons, 1) / LEVEL)) + 1


def finals(runs: Sequence[Run]) -> dict[str, dict[CaseSeed, float]]:
    """Final values by member and block."""
    found: dict[str, dict[CaseSeed, float]] = {}
    for run in runs:
        found.setdefault(run.member, {})[run.case, run.seed] = run.final
    return found


def rank(runs: Sequence[Run]) -> Ranking:
    """Mean ranks of the members of ``runs``; ties share the average.

    A member has run a case if it has at least half of the fullest one's seeds there. Ranked are those members on those
    cases that make the largest full table: a stray run leaves no one out, and a member that ran little no problem. Then
    members with few blocks are left out where that makes the table of members and shared blocks larger.
    """
    values = finals(runs)
    present, used = _full_table(values, cases_of(runs))
    own = {m: {block for block in blocks if block[0] in used} for m, blocks in values.items()}
    kept, shared = _most_shared({m: own[m] for m in present})
    if not shared:
        return Ranking({}, (), {}, dict.fromkeys(values, 0))
    blocks = tuple(dict.fromkeys(block for run in runs if (block := (run.case, run.seed)) in shared))
    table = np.array([[values[m][block] for m in kept] for block in blocks])
    ranks = dict(zip(kept, average_ranks(table).mean(axis=0).tolist(), strict=True))
    unranked = {m: len(own[m] & shared) for m in values if m not in kept}
    unused = tuple(case for case in cases_of(runs) if case not in used)
    return Ranking(ranks, blocks, {m: len(own[m]) for m in kept}, unranked, unused)


def _most_shared(own: dict[str, set[CaseSeed]]) -> tuple[list[str], set[CaseSeed]]:
    """Members and the blocks that all of them have; of equally large tables, the one with the more blocks.

    Tried are all members, and then one fewer each time, the one with the fewest blocks, down to two.
    """
    kept = list(own)
    tables = [(kept, _shared(own, kept))]
    while len(kept) > 2:
        least = min(len(own[m]) for m in kept)
        few = [[other for other in kept if other != m] for m in kept if len(own[m]) == least]
        kept = max(few, key=lambda rest: len(_shared(own, rest)))
        tables.append((kept, _shared(own, kept)))
    return max(tables, key=lambda table: (len(table[0]) * len(table[1]), len(table[1])))


def _shared(own: dict[str, set[CaseSeed]], members: Sequence[str]) -> set[CaseSeed]:
    return set.intersection(*(own[m] for m in members)) if members else set()


def _full_table(values: dict[str, dict[CaseSeed, float]], cases: Sequence[Case]) -> tuple[list[str], list[Case]]:
    """Members and cases such that all have run all; of the cases that most members ran, as many as pay."""
    present: dict[Case, set[str]] = {}
    for case in cases:
        count = {m: sum(block[0] == case for block in blocks) for m, blocks in values.items()}
        present[case] = {m for m in values if 2 * count[m] >= max(count.values())}
    order = sorted(cases, key=lambda case: -len(present[case]))
    tables = [(set.intersection(*(present[case] for case in order[:k])), order[:k]) for k in range(1, len(order) + 1)]
    members, used = max(tables, key=lambda table: (len(table[0]) * len(table[1]), len(table[0])), default=(set(), []))
    return [m for m in values if m in members], used


def average_ranks(values: Array) -> Array:
    """Ranks from 1 along the last axis, equal values sharing their average."""
    below = (values[..., :, None] > values[..., None, :]).sum(axis=-1)
    equal = (values[..., :, None] == values[..., None, :]).sum(axis=-1)
    ranks: Array = below + 0.5 * (equal + 1.0)
    return ranks


def against(runs: Sequence[Run], reference: str) -> tuple[PairedTest, ...]:
    """``reference`` and every other member, case by case, over the seeds of both; Holm over all of them."""
    values = finals(runs)
    found = [
        comparison
        for case in cases_of(runs)
        for member in members_of(run for run in runs if run.case == case)
        if member != reference and (comparison := _compare(values, reference, member, [case])) is not None
    ]
    return _corrected(found)


def all_pairs(runs: Sequence[Run], ranking: Ranking, by_case: bool = False) -> tuple[PairedTest, ...]:
    """Every two ranked members over all cases at once, or case by case; Holm over all of them.

    All pairs are corrected for, not only those with the best member: which one that is, the same data say.
    """
    inside = set(ranking.blocks)
    values = finals([run for run in runs if (run.case, run.seed) in inside])
    cases = list(dict.fromkeys(case for case, _ in ranking.blocks))
    groups = [[case] for case in cases] if by_case else [cases]
    pairs = combinations(ranking.ranks, 2)
    found = [_compare(values, a, b, group) for a, b in pairs for group in groups]
    return _corrected([comparison for comparison in found if comparison is not None])


def _compare(
    values: dict[str, dict[CaseSeed, float]], ours: str, theirs: str, cases: Sequence[Case]
) -> PairedTest | None:
    """A comparison that is not corrected yet; None without a seed that both have.

    Several cases are tested at once on the signed ranks of the differences within each: problems count alike, whatever
    their units, and under the hypothesis the signs are still those of fair coins.
    """
    a, b, differences = [], [], []
    for case in cases:
        mine, other = values.get(ours, {}), values.get(theirs, {})
        blocks = [block for block in mine if block[0] == case and block in other]
        a.append(np.array([mine[block] for block in blocks]))
        b.append(np.array([other[block] for block in blocks]))
        differences.append(a[-1] - b[-1])
    d = np.concatenate(differences)
    if len(d) == 0:
        return None
    one = len(cases) == 1
    signed = d if one else np.concatenate([_signed_shares(each) for each in differences])
    lead = _signed_ranks(signed).sum()  # of what is tested; sums of halves are exact
    return PairedTest(
        case=cases[0] if one else None,
        ours=ours,
        theirs=theirs,
        pairs=len(d),
        won=int((d < 0.0).sum()),
        tied=int((d == 0.0).sum()),
        shift=hodges_lehmann(d) if one else None,
        effect=vargha_delaney(b[0], a[0]) if one else None,
        ours_ahead=None if lead == 0.0 else bool(lead < 0.0),
        p=wilcoxon(signed),
        holm=1.0,
        comparisons=1,
    )


def _signed_ranks(d: Array) -> Array:
    """Ranks of the sizes of the differences that are not 0, with their signs."""
    signed: Array = np.sign(d) * average_ranks(np.where(d == 0.0, np.inf, np.abs(d)))
    return signed


def _signed_shares(d: Array) -> Array:
    """The same as shares of their number: problems with fewer differences count alike."""
    shares: Array = _signed_ranks(d) / max(int((d != 0.0).sum()), 1)
    return shares


def _corrected(found: Sequence[PairedTest]) -> tuple[PairedTest, ...]:
    if not found:
        return ()
    corrected = holm([comparison.p for comparison in found])
    return tuple(
        replace(comparison, holm=p, comparisons=len(found)) for comparison, p in zip(found, corrected, strict=True)
    )
