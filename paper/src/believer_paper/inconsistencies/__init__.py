"""The internal inconsistencies of the paper: contradictions, and statements that say more than its numbers show.

No run is needed, and none of our results is involved: each check computes from ``printed`` and ``stated`` alone, allows
for the rounding of printed numbers, and finds nothing if the numbers agree. Left out, because a computation confirms
them: 253 times by 0.103 / 0.0004 s, three to four times by 35 / 10.7, and a total of 128 minutes (all by rounding); the
distances at q=2 and q=3 of Table 2 (one greedy batch within the other); 150 evaluations in 15 iterations of 10 (after
the design); beta=2 beside a square root of beta; 4 minutes for the 60 loops of Exp 10.
"""

from __future__ import annotations

from collections.abc import Sequence

from believer.report import Table, formatted
from believer_paper.inconsistencies import costs, diversity, loops, settings
from believer_paper.inconsistencies.inconsistency import KINDS, Inconsistency, PaperCheck

__all__ = ["CHECKS", "KINDS", "Inconsistency", "inconsistencies", "inconsistency_table"]

CHECKS: tuple[PaperCheck, ...] = (
    *costs.CHECKS,
    *loops.CHECKS,
    *diversity.CHECKS,
    *settings.CHECKS,
)


def inconsistencies() -> tuple[Inconsistency, ...]:
    """The inconsistencies that the paper's numbers show, by kind, then by table; those of no table come last."""
    found = [one for one in (check() for check in CHECKS) if one is not None]
    return tuple(sorted(found, key=lambda one: (KINDS.index(one.kind), not one.tables, one.tables)))


def inconsistency_table(entries: Sequence[Inconsistency]) -> Table:
    """A row for each inconsistency: kind, tables, sections and figures, the sentence, and the numbers behind it."""
    rows = [
        [
            number,
            one.kind,
            ", ".join(map(str, one.tables)) or None,
            ", ".join(one.places),
            one.what,
            "; ".join(f"{label}: {formatted(value)}" for label, value in one.numbers.items()),
        ]
        for number, one in enumerate(entries, start=1)
    ]
    return Table("Internal inconsistencies of the paper", ["no.", "kind", "tables", "where", "what", "numbers"], rows)
