"""The rule of our Table 1: when a surrogate is compatible with pseudo-observations.

Each surrogate is diagnosed with both lies on the same data sets, under EI. A data set counts if the model responds to
the lie and the batch is diverse because of it. The paper's column is "CL/KB", so the lie with the lower count decides.
"""

from __future__ import annotations

from collections.abc import Sequence

COMPATIBLE_FROM, LIMITED_FROM = 0.9, 0.1
"""The shares of data sets that "respond and are diverse" from which a row is compatible, and limited."""

LIES = {"cl_min": "CL-Min", "kb": "KB"}
"""The lies of Table 1, with their names for readers."""


def compatible(passed: Sequence[int], of: int) -> str:
    """The paper's word for a surrogate: "yes", "limited" or "no".

    passed: for each lie, the number of data sets that count. of: the number of data sets.
    """
    share = min(passed) / of
    return "yes" if share >= COMPATIBLE_FROM else "limited" if share > LIMITED_FROM else "no"
