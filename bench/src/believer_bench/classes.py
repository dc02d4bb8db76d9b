"""Members by class of problems: the mean log regret, and the tests against the reference.

=======  ==================================================================================
symbol   meaning
=======  ==================================================================================
block    a problem and a seed: all members begin there from the same points
l        log10 of the regret over the problem's scale at the end (``scores``)
d        l of a member - l of the reference, one for each block of both, (m,)
=======  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from believer.experiments import bootstrap_interval, holm, wilcoxon
from believer_bench.ranking import LEVEL
from believer_bench.runs import Run, members_of
from believer_bench.scores import RaceGroup, final, grouped, measure_of

EVERY = "all"
"""In the place of a class: all of them."""

ProblemSeed = tuple[str, int]
"""A problem and a seed, likewise."""
Finals = dict[str, dict[ProblemSeed, float]]
"""l by member and block."""


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A member on the problems of a class, or on all.

    mean: of l over ``runs`` blocks of ``problems`` problems; low, high: its 95 % bootstrap interval. difference: the
    mean of d; won, tied, lost: blocks with d below, at and above 0. p: of the signed-rank test of d; holm: corrected.
    The last six are None of the reference itself, and without a common block.
    """

    group: RaceGroup
    kind: str
    member: str
    problems: int
    runs: int
    mean: float
    low: float
    high: float
    difference: float | None = None
    won: int | None = None
    tied: int | None = None
    lost: int | None = None
    p: float | None = None
    holm: float | None = None

    @property
    def verdict(self) -> str:
        """The verdict against the reference: "better" or "worse" if that is shown, otherwise ""."""
        if self.holm is None or self.holm >= LEVEL or not self.difference:
            return ""
        return "better" if self.difference < 0.0 else "worse"


def class_lines(runs: Sequence[Run], reference: str) -> tuple[ClassLine, ...]:
    """Every member on every class of every group, then on all.

    A line on all is over the blocks that every member of the group has run. Tests are corrected by Holm's method: those
    on classes over the classes and members of their group, those on all over members and groups.
    """
    parts: list[ClassLine] = []
    wholes: list[ClassLine] = []
    for group, own in grouped(runs).items():
        values = finals(own)
        kinds: dict[str, list[ProblemSeed]] = {}
        for block in dict.fromkeys((run.case.problem, run.seed) for run in own):
            kinds.setdefault(measure_of(block[0]).kind, []).append(block)
        found = [
            _line(group, kind, member, blocks, values, reference) for kind, blocks in kinds.items() for member in values
        ]
        parts += _corrected([line for line in found if line is not None])
        shared = [
            block for blocks in kinds.values() for block in blocks if all(block in own for own in values.values())
        ]
        everyone = [_line(group, EVERY, member, shared, values, reference) for member in values]
        wholes += [line for line in everyone if line is not None]
    return (*parts, *_corrected(wholes))


def finals(runs: Sequence[Run]) -> Finals:
    """The final values of the runs of one group."""
    found: Finals = {member: {} for member in members_of(runs)}
    for run in runs:
        found[run.member][run.case.problem, run.seed] = final(run)
    return found


def _line(
    group: RaceGroup, kind: str, member: str, blocks: Sequence[ProblemSeed], values: Finals, reference: str
) -> ClassLine | None:
    """Not corrected yet; None if the member has no run."""
    own = values[member]
    mine = [block for block in blocks if block in own]
    if not mine:
        return None
    sample = [own[block] for block in mine]
    low, high = bootstrap_interval(sample, of="mean")
    line = ClassLine(group, kind, member, len({p for p, _ in mine}), len(mine), float(np.mean(sample)), low, high)
    other = values.get(reference, {})
    d = np.array([own[block] - other[block] for block in mine if block in other])
    if member == reference or len(d) == 0:
        return line
    won, lost = int((d < 0.0).sum()), int((d > 0.0).sum())
    p = wilcoxon(d)
    return replace(line, difference=float(d.mean()), won=won, tied=len(d) - won - lost, lost=lost, p=p, holm=p)


def _corrected(lines: Sequence[ClassLine]) -> list[ClassLine]:
    tested = [line.p for line in lines if line.p is not None]
    corrected = iter(holm(tested) if tested else [])
    return [line if line.p is None else replace(line, holm=next(corrected)) for line in lines]
