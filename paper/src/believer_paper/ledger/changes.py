"""The rules of the ledger that were changed after its first full run, why, and what that changed.

The rules were rewritten after a review of that run, and committed before any cell of the next one was looked at. A
second review, of these rules and on the first run's cells, had some amended before the next run's evidence was read.
What a claim had been found then is history, and stands here as it was published; what it is found now is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from believer.report import Table
from believer_paper.ledger import Entry

WHEN = "2026-11-16"
"""When the rules were changed."""

AMENDED = (5, 8, 26, 27, 38)
"""Claims whose new rule was amended by the second review."""

LAST = (
    "One thing was changed with the evidence known: a share of designs between yes and no had been called no in claim "
    "8 alone (its shape, as asked in half of the designs), and is in part now as everywhere; the claim would have "
    "failed."
)


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """A claim whose rule is another now. before: what the first run found: printed and ours, or once for both."""

    claim: int
    old: str
    new: str
    why: str
    before: str


CHANGES: tuple[LedgerChange, ...] = (
    LedgerChange(
        3,
        "Share of data sets whose batch collapses.",
        "True by algebra, if all distances are zero.",
        "Without a refit nothing changes that is maximized: the test could not have come out otherwise.",
        "holds, holds",
    ),
    LedgerChange(
        5,
        'A control, "not diverse without the lie", always counted.',
        "It is asked of data sets whose batch is diverse with the lie, if they are five or more.",
        "Where nothing is diverse the control says yes of anything.",
        "holds in part, holds in part",
    ),
    LedgerChange(
        6,
        "The printed GP's step was this library's posterior.",
        "It is scikit-learn's, which the paper used, in the batch too.",
        "A ratio to another's step is not the paper's ratio.",
        "holds in part, holds in part",
    ),
    LedgerChange(
        8,
        "Sign first; then σ̂ at a lie below 5 % with the ridge.",
        "Sign, ridge and shape are three checks; what is algebra is told beside.",
        "The ridge alone keeps σ̂ above 5 %, for the true power function as well.",
        "fails",
    ),
    LedgerChange(
        16,
        "In part: tight where |z| ≤ 0.1 and ρ ≥ 1/2.",
        "In part: tight where the second term of EI is a tenth of the first in size, whatever ρ.",
        "The old condition all but implies the result.",
        "holds in part",
    ),
    LedgerChange(
        18,
        "In part: half the log-determinant is log σ'/σ.",
        "In part: one of two: the printed form is right, the log-determinant ranks points as EI's log ψ does.",
        "The old condition is an identity.",
        "holds in part",
    ),
    LedgerChange(
        19,
        "Holds: σ' is the same after every lie.",
        "True by algebra, if so; what depends on the mean is told beside.",
        "No value occurs in σ'.",
        "holds",
    ),
    LedgerChange(
        26,
        "No two members within 0.001 of the box, whose side is 20.",
        'The sentence, "20-28, never collapses", with its numbers; near-duplicates in the unit cube.',
        "0.001 of the box is 0.00005 of the cube: the old check passed batches on one spot.",
        "holds in part, holds",
    ),
    LedgerChange(
        27,
        "In part where both comparisons are open.",
        "Cannot be tested where all are open (the rule of all claims that have checks).",
        "A claim of which nothing was shown does not hold in part.",
        "holds in part, fails",
    ),
    LedgerChange(37, "-", "Figure 1's caption, on 20 data sets.", "The caption had no claim.", "-"),
    LedgerChange(38, "-", "No run has a whole batch within 0.01.", "Whole batches on one spot were not reported.", "-"),
)

GENERAL = (
    "For every claim with checks: it holds in part only if some check says yes or in part, as a share between the two "
    "does. If none does, it fails where some say no, and cannot be tested where all are open, so few data deciding "
    "nothing; before, both were said to hold in part."
)


def changes_table(entries: Iterable[Entry]) -> Table:
    """A row a change: what was found before, and what is found now."""
    found = {entry.claim.number: entry for entry in entries}
    rows = [
        (one.claim, one.old, one.new, one.why, one.before, _now(found[one.claim]))
        for one in CHANGES
        if one.claim in found
    ]
    return Table("", ("claim", "old rule", "new rule", "why", "old verdict", "new verdict"), rows)


def _now(entry: Entry) -> str:
    return ", ".join(finding.verdict for finding in entry.findings.values())
