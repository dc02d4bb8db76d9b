"""The meaning of a sheet's cells that are no numbers: failures, and experiments that were not run."""

from __future__ import annotations

import re
from typing import Any

from believer.space.texts import text_of
from believer.study.table import unwritten

FAILED = frozenset(("failed", "fail", "failure", "n/a", "n.a.", "na", "nan", "error", "crashed"))
"""The texts of a cell for an experiment or a measurement that was tried and gave no number."""

NOT_RUN = frozenset(("not run", "not done", "skipped", "abandoned"))
"""The texts of a cell for an experiment that will not be run."""


def folded(text: Any) -> str:
    """A text in the form for comparisons, which ignores blanks and capitals, because a spreadsheet may change them."""
    return text_of(text).casefold()


def says_failed(text: str) -> bool:
    """Whether a cell says that something was tried and failed: "failed", "n/a", "failed: spilled"."""
    said = text.casefold().rstrip(".!")
    return said in FAILED or text.casefold() in FAILED or bool(re.match(r"(?:failed|failure)\b", said))


def says_not_run(text: str) -> bool:
    """Whether a cell says that an experiment will not be run."""
    return text.casefold().rstrip(".!") in NOT_RUN


def same_text(cell: str, written: str) -> bool:
    """Whether a cell has the text that was written, ignoring blanks and capitals, which a spreadsheet may change."""
    return folded(written) in (cell.casefold(), folded(unwritten(cell)))
