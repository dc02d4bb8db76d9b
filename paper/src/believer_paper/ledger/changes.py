"""The rules of the ledger that were changed after its first full run, the reasons, and the effects on verdicts.

The rules were rewritten after a review of that run, and committed before anyone looked at a cell of the next one. After
a second review, of these rules and the first run's cells, some were amended before the next run's evidence was read.
The old verdicts are history and are kept here as they were published; the new verdicts are computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from believer.report import Table
from believer_paper.ledger import Entry

WHEN = "2026-11-16"
"""The day on which the rules were changed."""

AMENDED = (5, 8, 26, 27, 38)
"""The claims whose new rule was amended after the second review."""

LAST = (
    "One thing was changed when the evidence was known. In claim 8 alone, a share of designs between yes and no had "
    "counted as no (its shape is as asked in half of the designs). It now counts as in part, as in all other claims. "
    "Otherwise the claim would have failed."
)


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """A claim whose rule has changed. before: the first run's verdicts, printed and ours, or a single one for both."""

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
        "Without a refit, the function that is maximized does not change: the test could not have come out otherwise.",
        "holds, holds",
    ),
    LedgerChange(
        5,
        'A control, "not diverse without the lie", always counted.',
        "It is asked only of data sets whose batch is diverse with the lie, if there are five or more.",
        "If no batch is diverse, the control always says yes.",
        "holds in part, holds in part",
    ),
    LedgerChange(
        6,
        "The printed GP's step was this library's posterior.",
        "It is scikit-learn's, which the paper used, also in the batch.",
        "A ratio to the step of another library is not the paper's ratio.",
        "holds in part, holds in part",
    ),
    LedgerChange(
        8,
        "Sign first; then σ̂ at a lie below 5 % with the ridge.",
        "Sign, ridge and shape are three checks; what is algebra is reported and does not count.",
        "The ridge alone keeps σ̂ above 5 %, also for the true power function.",
        "fails",
    ),
    LedgerChange(
        16,
        "In part: tight where |z| ≤ 0.1 and ρ ≥ 1/2.",
        "In part: tight where the second term of EI is a tenth of the first in size, for every ρ.",
        "The old condition nearly implies the result.",
        "holds in part",
    ),
    LedgerChange(
        18,
        "In part: half the log-determinant is log σ'/σ.",
        "In part: one of two holds: the printed form is right; the log-determinant ranks points as EI's log ψ does.",
        "The old condition is an identity.",
        "holds in part",
    ),
    LedgerChange(
        19,
        "Holds: σ' is the same after every lie.",
        "True by algebra, if so; what depends on the mean is reported and does not count.",
        "σ' does not depend on the value of a lie.",
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
        "Cannot be tested if all are open (the rule of all claims that have checks).",
        "A claim does not hold in part if nothing was shown.",
        "holds in part, fails",
    ),
    LedgerChange(37, "-", "Figure 1's caption, on 20 data sets.", "The caption had no claim.", "-"),
    LedgerChange(38, "-", "No run has a whole batch within 0.01.", "Whole batches on one spot were not reported.", "-"),
)

GENERAL = (
    "For every claim with checks: it holds in part only if some check says yes or in part (a share between yes and no "
    "says in part). If none does, the claim fails if some check says no, and cannot be tested if all are open, because "
    "so few data decide nothing. Before, both cases were called holds in part."
)


def changes_table(entries: Iterable[Entry]) -> Table:
    """A row for each change, with the verdicts before and after it."""
    found = {entry.claim.number: entry for entry in entries}
    rows = [
        (one.claim, one.old, one.new, one.why, one.before, _now(found[one.claim]))
        for one in CHANGES
        if one.claim in found
    ]
    return Table("", ("claim", "old rule", "new rule", "why", "old verdict", "new verdict"), rows)


def _now(entry: Entry) -> str:
    return ", ".join(finding.verdict for finding in entry.findings.values())
