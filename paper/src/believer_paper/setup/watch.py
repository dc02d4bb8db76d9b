"""Counts during a run of the printed set-up: time within other libraries, and starts that moved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class FitWatch:
    """The counts of one cell, shared by all parts of the set-up. foreign: CPU seconds within other libraries."""

    foreign: float = 0.0
    starts: int = 0
    moved: int = 0

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Count the time inside this context as spent within another library."""
        began = time.process_time()
        try:
            yield
        finally:
            self.foreign += time.process_time() - began

    @property
    def share_moved(self) -> float | None:
        """The share of starts that did not end where they began; None if no starts were counted."""
        return self.moved / self.starts if self.starts else None
