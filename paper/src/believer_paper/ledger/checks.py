"""The checks behind verdicts: questions about the data whose answers are yes, in part, no, or open.

======  ========================================================================================
symbol  meaning
======  ========================================================================================
m       paired seeds
d       differences of a pair, ours - theirs, (m,)
s       pooled standard deviation of the two, √((s₁² + s₂²) / 2): the unit of a margin
Δ       shift, the Hodges-Lehmann estimate: the median of (dᵢ + dⱼ) / 2 over i ≤ j
======  ========================================================================================

The rules are the same for every claim. "A is lower than B" is decided by the signed-rank test, with Holm's correction
for all such tests of the claim. A test that finds nothing refutes nothing, so the answer is "no" only if the test finds
the reverse, or if the interval of Δ excludes every advantage beyond a margin. Nor does such a test show that "A is not
worse than B": the interval must end below the margin, as in a test of equivalence at the same level. Δ is the quantity
that the signed-rank test is about, so the test, the number that is reported and its interval are about the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from believer.arrays import Array, frozen
from believer.experiments import hodges_lehmann, holm, vargha_delaney, wilcoxon
from believer_paper.compatibility import COMPATIBLE_FROM, LIMITED_FROM
from believer_paper.ledger.claim import UNTESTED, Finding, not_run
from believer_paper.numbers.printed import SEEDS
from believer_paper.results import Results

YES, PARTLY, OPEN, NO = "yes", "in part", "open", "no"
"""The answers. In part: a share or a factor lies between yes and no. Open: a test on so few data finds neither."""

RULE = (
    "Holds if every check says yes; fails if more than half say no, or if some say no and none says yes or in part (a "
    "share between yes and no says in part); cannot be tested if all are open, because so few data decide nothing; "
    "holds in part otherwise."
)

ALPHA = 0.05
MARGIN = 0.5
"""The number of pooled standard deviations that counts as no difference: conventionally, a medium effect."""

_RESAMPLES = 2_000

TESTED = f"Wilcoxon signed-rank on paired seeds, Holm p < {ALPHA:g}"
SHOWN = (
    f"{TESTED}; no: the test finds the reverse, or the 90 % bootstrap interval of the shift excludes every advantage "
    f"beyond {MARGIN:g} pooled standard deviations; open: otherwise"
)
"""The rule for "lower" and "higher", for the text of a test. The shift is Δ."""

NOT_WORSE = (
    f"the 90 % bootstrap interval of the shift ends at {MARGIN:g} pooled standard deviations or below, whether or not "
    "it is significantly worse within them (no: the interval lies beyond, or reaches beyond and is worse by "
    f"{TESTED}; open: otherwise)"
)

MIN_SETS = SEEDS["exp8"]
"""The least number of data sets on which a share is judged: the number in the paper's own table of data sets."""


def together(answers: Iterable[str]) -> str:
    """One answer for many, by :data:`RULE`; open if there are none."""
    found = list(answers)
    if found and all(answer == YES for answer in found):
        return YES
    spoken_for = YES in found or PARTLY in found
    if found.count(NO) > len(found) / 2 or (NO in found and not spoken_for):
        return NO
    return PARTLY if spoken_for else OPEN


def verdict(answers: Iterable[str]) -> str:
    """The verdict that :data:`RULE` gives."""
    return {YES: "holds", PARTLY: "holds in part", NO: "fails", OPEN: UNTESTED}[together(answers)]


def judged(answers: Iterable[str], evidence: str, *links: str) -> Finding:
    """The finding of a claim's checks."""
    found = verdict(answers)
    undecided = "So few data decide nothing: " if found == UNTESTED else ""
    return Finding(found, undecided + evidence, links)


def by_preset(judge: Callable[[Results, str], Finding]) -> Callable[[Results, str | None], Finding]:
    """The judge of a claim that is judged under each preset separately."""

    def asked(results: Results, preset: str | None) -> Finding:
        return not_run("a preset") if preset is None else judge(results, preset)

    return asked


def mostly(successes: int, trials: int) -> str:
    """Yes from 90 %, no up to 10 %, in part between: the thresholds of "yes", "limited" and "no" in our Table 1."""
    share = successes / trials
    return YES if share >= COMPATIBLE_FROM else PARTLY if share > LIMITED_FROM else NO


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """A comparison of two configurations on the same seeds.

    d (m,): ours - theirs. spread: s. effect: the share of pairs in which a value of ours exceeds one of theirs; None if
    that makes no sense. p: that of the signed-rank test, corrected by :func:`family`.
    """

    name: str
    d: Array
    spread: float
    effect: float | None
    p: float

    @property
    def shift(self) -> float:
        """The shift Δ."""
        return hodges_lehmann(self.d)

    @property
    def interval(self) -> tuple[float, float]:
        """The percentile bootstrap interval of Δ, at the level of two one-sided tests of equivalence at α."""
        return _interval(tuple(self.d.tolist()))

    def lower(self) -> str:
        """Whether ours is lower, by the rule of :data:`SHOWN`."""
        if self.p < ALPHA and self.shift != 0.0:
            return YES if self.shift < 0.0 else NO
        return NO if self.interval[0] >= -MARGIN * self.spread else OPEN

    def higher(self) -> str:
        """Whether ours is higher, by the rule of :data:`SHOWN`."""
        return replace(self, d=frozen(-self.d)).lower()

    def not_worse(self) -> str:
        """Whether ours is higher by at most the margin, by the rule of :data:`NOT_WORSE`."""
        low, high = self.interval
        margin = MARGIN * self.spread
        if high <= margin:
            return YES
        return NO if low > margin or self.higher() == YES else OPEN

    def equal(self, margin: float | None = None) -> str:
        """Whether the interval is within the margin on both sides, significant or not.

        The answer is no if the interval lies beyond, or reaches beyond and the test finds a difference. margin: in the
        units of the values; :data:`MARGIN` standard deviations unless given.
        """
        low, high = self.interval
        most = MARGIN * self.spread if margin is None else margin
        if -most <= low and high <= most:
            return YES
        return NO if low > most or high < -most or self.p < ALPHA else OPEN

    def text(self, brief: bool = False) -> str:
        """The shift, the effect size, p, and unless ``brief`` the interval in units of s, as text."""
        low, high = (end / self.spread if self.spread else end for end in self.interval)
        effect = "" if self.effect is None else f"A12 {self.effect:.2f}, "
        interval = "" if brief else f"{low:+.2f} to {high:+.2f} std, "
        return f"{self.name} {self.shift:+.3g} ({effect}{interval}p {self.p:.2g})"


@cache
def _interval(d: tuple[float, ...]) -> tuple[float, float]:
    """The interval of Δ, cached because an answer and its text both need it."""
    i, j = np.triu_indices(len(d))
    draws = np.random.default_rng(0).choice(d, size=(_RESAMPLES, len(d)))
    shifts = np.median((draws[:, i] + draws[:, j]) / 2.0, axis=1)
    low, high = np.quantile(shifts, [ALPHA, 1.0 - ALPHA])
    return float(low), float(high)


def contrast(name: str, ours: Iterable[float], theirs: Iterable[float]) -> Contrast:
    """The contrast of two samples (m,) that are paired by position."""
    a, b = np.array(list(ours)), np.array(list(theirs))
    spread = float(np.sqrt((_variance(a) + _variance(b)) / 2.0))
    return Contrast(name, frozen(a - b), spread, vargha_delaney(a, b), wilcoxon(a - b))


def pooled(name: str, contrasts: Sequence[Contrast]) -> Contrast:
    """A contrast of all differences of several contrasts, each in units of its own spread."""
    d = np.concatenate([one.d / (one.spread or 1.0) for one in contrasts])
    return Contrast(name, frozen(d), 1.0, None, wilcoxon(d))


def averaged(name: str, contrasts: Sequence[Contrast]) -> Contrast:
    """The contrast of the means over several contrasts on the same seeds, each in units of its own spread."""
    d = np.mean([one.d / (one.spread or 1.0) for one in contrasts], axis=0)
    return Contrast(name, frozen(d), 1.0, None, wilcoxon(d))


def family(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts with p values corrected for their number, by Holm's method."""
    corrected = holm([one.p for one in contrasts])
    return [replace(one, p=p) for one, p in zip(contrasts, corrected, strict=True)]


def enough(seeds: int, tests: int) -> bool:
    """Whether the signed-rank test on so many ``seeds`` can be significant at all, corrected for so many ``tests``."""
    return tests * 2.0 ** (1 - seeds) < ALPHA


def _variance(sample: Array) -> float:
    return float(sample.var(ddof=1)) if len(sample) > 1 else 0.0
