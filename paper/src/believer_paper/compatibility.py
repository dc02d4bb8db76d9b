"""Table 1 of the paper, measured: the one rule by which a surrogate is compatible with pseudo-observations.

A surrogate is told both lies about the same data sets, under EI. A data set counts if the model responds to the lie and
the batch is diverse because of it. The lie under which fewer data sets do decides: the paper's column is "CL/KB".
"""

from __future__ import annotations

from collections.abc import Sequence

COMPATIBLE_FROM, LIMITED_FROM = 0.9, 0.1
"""A share of data sets that "respond and are diverse" from which a row counts as compatible, and as limited."""

LIES = {"cl_min": "CL-Min", "kb": "KB"}
"""The lies that Table 1 is about, and what they are called."""


def compatible(passed: Sequence[int], of: int) -> str:
    """The paper's word, "yes", "limited" or "no", for a surrogate that passes on so many ``of`` the data sets.

    passed: one number a lie, of the same data sets.
    """
    share = min(passed) / of
    return "yes" if share >= COMPATIBLE_FROM else "limited" if share > LIMITED_FROM else "no"
