"""The claims that rest on theory, single batches and single steps, in the order of their numbers."""

from __future__ import annotations

from believer_paper.ledger import theory_batches, theory_shapes, theory_steps
from believer_paper.ledger.claim import Claim

CLAIMS: tuple[Claim, ...] = (*theory_steps.CLAIMS, *theory_shapes.CLAIMS, *theory_batches.CLAIMS)
