"""What verdicts are made of: questions to the data that are answered yes, no, or not decided by so few data.

======  ========================================================================================
symbol  meaning
======  ========================================================================================
m       paired seeds
d       differences of a pair, ours - theirs, (m,)
s       pooled standard deviation of the two, √((s₁² + s₂²) / 2): the unit of a margin
======  ========================================================================================

The rules are the same for every claim, and none was chosen after a look at data. "A is lower than B" asks the signed-
rank test, corrected by Holm for all such tests of the claim. "A is not worse than B" is not shown by a test that finds
nothing: the interval of the median difference must end below a margin, as in a test of equivalence at the same level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from believer.arrays import Array, frozen
from believer.diagnostics.compatibility import COMPATIBLE_FROM, LIMITED_FROM
from believer.experiments import bootstrap_interval, hodges_lehmann, holm, vargha_delaney, wilcoxon
from believer.paper.ledger.claim import Finding, not_run
from believer.paper.results import Results

YES, OPEN, NO = "yes", "open", "no"

RULE = "Holds if every check says yes, fails if more than half say no, holds in part otherwise."

ALPHA = 0.05
MARGIN = 0.5
"""Pooled standard deviations that count as no difference: what is conventionally called a medium effect."""

LEAST_SETS = 5
"""Data sets below which no share is judged: as many as the paper's own table of them has."""


def verdict(answers: Iterable[str]) -> str:
    """The verdict that :data:`RULE` gives."""
    found = list(answers)
    if all(answer == YES for answer in found):
        return "holds"
    return "fails" if found.count(NO) > len(found) / 2 else "holds in part"


def judged(answers: Iterable[str], evidence: str, *links: str) -> Finding:
    """The finding of a claim's checks."""
    return Finding(verdict(answers), evidence, links)


def by_preset(judge: Callable[[Results, str], Finding]) -> Callable[[Results, str | None], Finding]:
    """``judge`` of a claim that is judged under each preset apart."""

    def asked(results: Results, preset: str | None) -> Finding:
        return not_run("a preset") if preset is None else judge(results, preset)

    return asked


def mostly(successes: int, trials: int) -> str:
    """Yes from 90 %, no up to 10 %: as Table 1's "yes", "limited" and "no" are told apart."""
    share = successes / trials
    return YES if share >= COMPATIBLE_FROM else OPEN if share > LIMITED_FROM else NO


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Two configurations on the same seeds.

    d (m,): ours - theirs. spread: s. effect: how often a value of ours exceeds one of theirs, None where that makes no
    sense. p: of the signed-rank test, corrected once the contrast is in a :func:`family`.
    """

    name: str
    d: Array
    spread: float
    effect: float | None
    p: float

    @property
    def shift(self) -> float:
        """The Hodges-Lehmann estimate of the difference."""
        return hodges_lehmann(self.d)

    @property
    def interval(self) -> tuple[float, float]:
        """Of the median difference, at the level at which two one-sided tests at α decide on equivalence."""
        return bootstrap_interval(self.d, level=1.0 - 2.0 * ALPHA, resamples=2_000)

    def lower(self) -> str:
        """Is ours lower? Yes if the test finds it, no otherwise."""
        return YES if self.p < ALPHA and self.shift < 0.0 else NO

    def higher(self) -> str:
        """Is ours higher? Yes if the test finds it, no otherwise."""
        return YES if self.p < ALPHA and self.shift > 0.0 else NO

    def not_worse(self) -> str:
        """Is ours higher by the margin at most? No if it is beyond the margin, or the test finds it higher."""
        low, high = self.interval
        margin = MARGIN * self.spread
        if high <= margin:
            return YES
        return NO if low > margin or self.higher() == YES else OPEN

    def equal(self, margin: float | None = None) -> str:
        """Is the difference within the margin on both sides? No if it is beyond it, or the test finds one.

        margin: in the units of the values, :data:`MARGIN` standard deviations unless given.
        """
        low, high = self.interval
        most = MARGIN * self.spread if margin is None else margin
        if -most <= low and high <= most:
            return YES
        return NO if low > most or high < -most or self.p < ALPHA else OPEN

    def text(self, brief: bool = False) -> str:
        """The numbers: shift, effect size, p, and unless ``brief`` the interval in units of s."""
        low, high = (end / self.spread if self.spread else end for end in self.interval)
        effect = "" if self.effect is None else f"A12 {self.effect:.2f}, "
        interval = "" if brief else f"{low:+.2f} to {high:+.2f} std, "
        return f"{self.name} {self.shift:+.3g} ({effect}{interval}p {self.p:.2g})"


def contrast(name: str, ours: Iterable[float], theirs: Iterable[float]) -> Contrast:
    """Two samples, paired by position (m,)."""
    a, b = np.array(list(ours)), np.array(list(theirs))
    spread = float(np.sqrt((_variance(a) + _variance(b)) / 2.0))
    return Contrast(name, frozen(a - b), spread, vargha_delaney(a, b), wilcoxon(a - b))


def pooled(name: str, contrasts: Sequence[Contrast]) -> Contrast:
    """All differences of several contrasts together, each in units of its own spread."""
    d = np.concatenate([one.d / (one.spread or 1.0) for one in contrasts])
    return Contrast(name, frozen(d), 1.0, None, wilcoxon(d))


def averaged(name: str, contrasts: Sequence[Contrast]) -> Contrast:
    """The mean over several contrasts on the same seeds, seed by seed, each in units of its own spread."""
    d = np.mean([one.d / (one.spread or 1.0) for one in contrasts], axis=0)
    return Contrast(name, frozen(d), 1.0, None, wilcoxon(d))


def family(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The same with p values corrected for their number."""
    corrected = holm([one.p for one in contrasts])
    return [replace(one, p=p) for one, p in zip(contrasts, corrected, strict=True)]


def enough(seeds: int, tests: int) -> bool:
    """Whether the signed-rank test on so many pairs could find anything, corrected for so many tests."""
    return tests * 2.0 ** (1 - seeds) < ALPHA


def _variance(sample: Array) -> float:
    return float(sample.var(ddof=1)) if len(sample) > 1 else 0.0
