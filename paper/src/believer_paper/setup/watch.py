"""Counts of a run of the printed set-up: time within other libraries, and starts that moved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class FitWatch:
    """Counts of one cell; members of the printed set-up share it. foreign: CPU seconds within other libraries."""

    foreign: float = 0.0
    starts: int = 0
    moved: int = 0

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Count the time inside this context as another library's."""
        began = time.process_time()
        try:
            yield
        finally:
            self.foreign += time.process_time() - began

    @property
    def share_moved(self) -> float | None:
        """The share of starts that ended elsewhere than they began; None if none were counted."""
        return self.moved / self.starts if self.starts else None
