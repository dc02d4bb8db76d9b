"""The "use this" line: which member to use at a batch size, with the evidence for it, all computed from the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from believer.report import Table
from believer.study.settings import STRATEGY
from believer_bench.peers import PEERS
from believer_bench.ranking import PairedTest, Ranking, all_pairs, pairs_needed, rank
from believer_bench.runs import Case, Run, called, cases_of, members_of, size_name
from believer_bench.summary import duration, milliseconds

_NAMED = 5
"""Members that a sentence names; the table has them all."""


def default_strategy() -> str:
    """The strategy that an ``Optimizer`` takes unless told otherwise."""
    return STRATEGY


def is_ours(member: str) -> bool:
    """Whether a member is of this library, not a peer."""
    return member not in PEERS


@dataclass(frozen=True, slots=True)
class Placing:
    """A member's place, and how it compares with the best.

    p: of the difference, corrected. better: who of the two is shown to be. same: whether all their runs ended alike, as
    those of all lies do at q=1.
    """

    member: str
    rank: float
    ms: float | None
    p: float | None = None
    better: str | None = None
    same: bool = False


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommended member at one batch size; ``placings`` are sorted by mean rank, the best first.

    evidence: over what, in words. pairs: paired runs of two members. comparisons: all pairs of members. single: all
    pairs of members on single problems, a family of tests that is corrected by itself; 0 with one problem. exceptions:
    what single problems say otherwise. above_reference, above_alone: who is shown to be better than the reference, over
    all problems and on single ones. left_out: members, problems and runs that do not count, in sentences.
    """

    q: int
    placings: tuple[Placing, ...]
    evidence: str
    pairs: int
    comparisons: int
    single: int
    reference: str
    above_reference: tuple[str, ...]
    above_singly: tuple[str, ...]
    exceptions: tuple[str, ...]
    unranked: tuple[str, ...]
    left_out: tuple[str, ...]
    clock: str

    @property
    def best(self) -> Placing | None:
        """Least mean rank; among equals the fastest."""
        return self.placings[0] if self.placings else None

    @property
    def enough(self) -> bool:
        """Whether any difference could be shown with so many runs."""
        return self.pairs >= pairs_needed(self.comparisons)

    @property
    def not_worse(self) -> tuple[Placing, ...]:
        """The best, and all that are not shown to be worse."""
        return tuple(s for s in self.placings if self.best is not None and s.better in (None, s.member))

    @property
    def fastest(self) -> Placing | None:
        """The fastest of those not shown to be worse."""
        timed = [s for s in self.not_worse if s.ms is not None]
        return min(timed, key=lambda s: s.ms or 0.0) if timed else None

    @property
    def verdict(self) -> str | None:
        """The member to use; None while the runs do not say."""
        return self.best.member if self.best is not None and len(self.placings) > 1 and self.enough else None

    @property
    def sentence(self) -> str:
        """A sentence that says which member to use and why."""
        size = size_name(self.q)
        best = self.best
        if best is None:
            return f"{size}: nothing to say: no run is shared by all members."
        if len(self.placings) == 1:
            ran = "was run in full" if self.unranked else "was run"
            return f"{size}: only {best.member} {ran}{self._time(best, ' (', ')')}: nothing to compare it with."
        if all(s.same for s in self.placings if s is not best):
            return f"{size}: all members ended alike in every run over {self.evidence}: nothing to choose by but time."
        place = f"mean rank {best.rank:.1f} of {len(self.placings)} over {self.evidence}"
        if not self.enough:
            return (
                f"{size}: too few seeds to say: {_count(self.comparisons, 'comparison')} "
                f"take{'s' if self.comparisons == 1 else ''} {pairs_needed(self.comparisons)} "
                f"paired runs, and there are {self.pairs}. Ahead so far: {best.member} ({place}{self._time(best)})."
            )
        above = [s for s in self.placings if s.better == s.member]
        worse = f"but {_list([f'{s.member} is shown better' for s in above])}" if above else "not shown worse than any"
        parts = [f"{size}: use {best.member} ({place}; {worse}{self._time(best)})."]
        return " ".join([*parts, *self._others(best), *self.exceptions, *self._about_reference(best)])

    def _others(self, best: Placing) -> list[str]:
        parts = []
        same = [s for s in self.not_worse if s.member != best.member]
        if same:
            parts.append(f"No difference shown: {_list([self._against(s, best) for s in same])}.")
        if self.fastest is not None and self.fastest.member != best.member and len(same) > 1:
            parts.append(f"The fastest of these is {self.fastest.member}{self._time(self.fastest, ': ')}.")
        worse = [s.member for s in self.placings if s.better == best.member]
        if worse:
            everyone = not same and len(worse) > 1
            parts.append(f"Shown worse: {f'all others ({_list(worse)})' if everyone else _list(worse)}.")
        if "random" in [best.member, *(s.member for s in same)]:
            parts.append("Random points are not shown worse: the budget or the seeds are too few for this problem.")
        return parts

    def _about_reference(self, best: Placing) -> list[str]:
        parts = []
        if not is_ours(best.member):
            own = next((s for s in self.placings if is_ours(s.member)), None)
            if own is not None:
                judged = "shown worse" if own.better == best.member else "no difference shown"
                parts.append(f"The best of this library is {own.member} ({judged}, p={own.p:.2g}).")
        if self.reference in [s.member for s in self.placings] and self.reference != best.member:
            parts.append(f"The default, {self.reference}, is {self._reference_verdict()}.")
        return parts

    def _reference_verdict(self) -> str:
        """The verdict on the reference, with the family of tests that each part rests on."""
        above = _list(self.above_reference)
        told = f"shown worse than {above}" if above else "not shown worse than any"
        told += f" in {_count(self.comparisons, 'comparison')}"
        if self.single == 0:
            return told
        alone = f"and on single problems than {_list(self.above_singly)}" if self.above_singly else "nor on single ones"
        if self.above_singly and not above:
            alone = f"but shown worse on single problems than {_list(self.above_singly)}"
        if above and not self.above_singly:
            alone = "and than none on single ones"
        return f"{told} over all problems, {alone} in {self.single} of their own"

    def _against(self, placing: Placing, best: Placing) -> str:
        told = []
        if placing.same:
            told.append("the same in every run")
        elif placing.p is not None and placing.p < 0.995:  # beyond, p says no more than the words
            told.append(f"p={placing.p:.2g}")
        if placing.ms and best.ms:
            ratio = f"{placing.ms / best.ms:.1f}"
            told.append("the same time" if ratio == "1.0" else f"{ratio}x the time")
        return f"{placing.member} ({', '.join(told)})" if told else placing.member

    def _time(self, placing: Placing, before: str = "; ", after: str = "") -> str:
        return "" if placing.ms is None else f"{before}{duration(placing.ms)}{self.clock} a batch{after}"

    def table(self) -> Table:
        """All members by mean rank, with their time and the test against the best."""
        rows = [
            (
                s.member,
                round(s.rank, 2),
                None if s.ms is None else round(s.ms, 1),
                s.p,
                self.verdict_on(s),
            )
            for s in self.placings
        ]
        columns = ("member", "mean rank", f"ms{self.clock} a batch", "p (Holm)", "beside the best")
        tones = [["", "", "", "", _TONES.get(self.verdict_on(s), "open")] for s in self.placings]
        return Table(f"q={self.q}: all members over {self.evidence}", columns, rows, tones)

    def verdict_on(self, placing: Placing) -> str:
        """A comparison of a member with the best one, in words."""
        if self.best is None or placing.member == self.best.member:
            return "best mean rank"
        if placing.better is not None:
            return "shown worse" if placing.better == self.best.member else "shown better"
        if placing.same:
            return "the same in every run"
        return "no difference shown" if self.enough else "too few seeds to say"


_TONES = {"best mean rank": "good", "shown better": "good", "shown worse": "bad"}


def advise(runs: Sequence[Run], reference: str, clock: str = "") -> tuple[Advice, ...]:
    """Advice for every batch size that was run, the smallest first; ``clock`` is a word after "ms"."""
    sizes = sorted({run.case.q for run in runs})
    return tuple(_advice([run for run in runs if run.case.q == q], q, reference, clock) for q in sizes)


def _advice(runs: Sequence[Run], q: int, reference: str, clock: str) -> Advice:
    ranking = rank(runs)
    pooled = all_pairs(runs, ranking)
    blocks = set(ranking.blocks)
    inside = [run for run in runs if (run.case, run.seed) in blocks]
    ms = {member: milliseconds(run.cpu for run in inside if run.member == member) for member in ranking.ranks}
    order = sorted(ranking.ranks, key=lambda m: (ranking.ranks[m], m != reference, ms[m] or 0.0, m))
    best = order[0] if order else ""
    against_best = {_other(c, best): c for c in pooled if best in (c.ours, c.theirs)}
    placings = [Placing(best, ranking.ranks[best], ms[best])] if order else []
    for m in order[1:]:
        c = against_best[m]
        placings.append(Placing(m, ranking.ranks[m], ms[m], c.holm, c.better, c.tied == c.pairs))
    cases = cases_of(runs)
    several = len({case for case, _ in ranking.blocks}) > 1
    single = all_pairs(runs, ranking, by_case=True) if several else ()
    return Advice(
        q=q,
        placings=tuple(placings),
        evidence=_evidence(ranking),
        pairs=len(ranking.blocks),
        comparisons=len(pooled),
        single=len(single),
        reference=reference,
        above_reference=_shown_above(pooled, reference),
        above_singly=_shown_above(single, reference, cases),
        exceptions=tuple(
            f"On {called(c.case, cases)} alone, {_other(c, best)} is shown better (p={c.holm:.2g})."
            for c in single
            if c.case is not None and best in (c.ours, c.theirs) and c.better == _other(c, best)
        ),
        unranked=tuple(ranking.unranked),
        left_out=_left_out(ranking, cases, q),
        clock=clock,
    )


def _other(comparison: PairedTest, member: str) -> str:
    return comparison.theirs if comparison.ours == member else comparison.ours


def _shown_above(comparisons: Sequence[PairedTest], member: str, cases: Sequence[Case] = ()) -> tuple[str, ...]:
    """The members that are shown to be better than ``member``, with p, and with their ``cases`` if these are given."""
    found = [c for c in comparisons if member in (c.ours, c.theirs) and c.better not in (None, member)]
    where = [f" on {called(c.case, cases)}" if cases and c.case is not None else "" for c in found]
    return tuple(f"{c.better}{place} (p={c.holm:.2g})" for c, place in zip(found, where, strict=True))


def _left_out(ranking: Ranking, cases: Sequence[Case], q: int) -> tuple[str, ...]:
    """The members and runs that the ranks leave out, and why."""
    found = []
    pairs = len(ranking.blocks)
    if ranking.unranked:
        few = ", ".join(f"{m} ({count})" if pairs else m for m, count in ranking.unranked.items())
        why = f" (how many they have of the {pairs} that the others share)" if pairs else ""
        found.append(f"Not ranked at q={q}, for want of runs{why}: {few}.")
    most = max(ranking.runs.values(), default=0)
    if most > pairs:
        fewest = ", ".join(m for m, count in ranking.runs.items() if count == min(ranking.runs.values()))
        found.append(
            f"The ranks at q={q} are over the {pairs} runs that all ranked members share, of up to {most} that one "
            f"has. The fewest: {fewest}."
        )
    if ranking.unused:
        unused = ", ".join(called(case, cases) for case in ranking.unused)
        found.append(f"Not part of the ranks at q={q}, as few ran it: {unused}.")
    return tuple(found)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _evidence(ranking: Ranking) -> str:
    """How many problems and seeds a ranking is over."""
    cases = list(dict.fromkeys(case for case, _ in ranking.blocks))
    seeds = {sum(block[0] == case for block in ranking.blocks) for case in cases}
    noun = "problem" if len({case.problem for case in cases}) == len(cases) else "setting"
    problems = _count(len(cases), noun)
    if len(seeds) == 1:
        (count,) = seeds
        return f"{problems} x {_count(count, 'seed')}"
    return f"{len(ranking.blocks)} paired runs on {problems}"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"


def reference_of(runs: Sequence[Run], preferred: str) -> str | None:
    """``preferred`` if it was run, else the first member that was."""
    members = members_of(runs)
    return preferred if preferred in members else next(iter(members), None)
