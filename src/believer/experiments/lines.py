"""Progress as lines, for logs and other outputs that cannot show a bar."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

_SHARE, _SECONDS = 0.1, 30.0
"""A line at least so often: of the total, and of the clock."""


@dataclass(slots=True)
class ProgressLines:
    """Writes ``done/total`` with the time left to ``stream``: first, last, every 10 % and every 30 s in between."""

    total: int
    stream: TextIO
    clock: Callable[[], float] = time.monotonic
    first: tuple[int, float] | None = None
    last: tuple[int, float] | None = None

    def show(self, done: int, note: str = "") -> None:
        """Write a line, if it is time for one."""
        now = self.clock()
        if self.first is None or self.last is None:
            self.first = done, now
        elif done == self.last[0] or not (
            done >= self.total or done - self.last[0] >= _SHARE * self.total or now - self.last[1] >= _SECONDS
        ):
            return
        self.last = done, now
        words = (f"{done}/{self.total} cells", self._time_left(done, now, self.first), note)
        self.stream.write(", ".join(filter(None, words)) + "\n")
        self.stream.flush()

    def _time_left(self, done: int, now: float, first: tuple[int, float]) -> str:
        made = done - first[0]
        if made <= 0 or done >= self.total:
            return ""
        seconds = int((now - first[1]) / made * (self.total - done))
        return f"{seconds // 60}:{seconds % 60:02d} left"

    def close(self) -> None:
        """Do nothing: no line is left open."""
