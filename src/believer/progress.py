"""A progress bar on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TextIO

_WIDTH = 24


@dataclass(slots=True)
class Progress:
    """Draws ``done / total`` with the time left on one line of ``stream``; does nothing when not ``enabled``."""

    total: int
    enabled: bool
    stream: TextIO
    started: float = field(default_factory=time.monotonic)
    first: int | None = None
    longest: int = 0

    @staticmethod
    def on_terminal(total: int, wanted: bool = True) -> Progress:
        """A bar on standard error if that is a terminal and a bar is wanted."""
        stream = sys.stderr
        return Progress(total, wanted and stream is not None and stream.isatty(), stream)

    def show(self, done: int, note: str = "") -> None:
        """Redraw the line."""
        if not self.enabled:
            return
        if self.first is None:
            self.first = done
        filled = int(_WIDTH * done / max(self.total, 1))
        line = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{self.total}{self._time_left(done)}  {note}"
        self.longest = max(self.longest, len(line))
        self.stream.write("\r" + line.ljust(self.longest))
        self.stream.flush()

    def _time_left(self, done: int) -> str:
        made = done - (self.first or 0)
        if made <= 0 or done >= self.total:
            return ""
        seconds = (time.monotonic() - self.started) / made * (self.total - done)
        return f"  {int(seconds) // 60}:{int(seconds) % 60:02d} left"

    def clear(self) -> None:
        """Wipe the line, so that something else can be printed there; the next ``show`` draws it again."""
        if self.enabled and self.longest:
            self.stream.write("\r" + " " * self.longest + "\r")
            self.stream.flush()

    def close(self) -> None:
        """End the line."""
        if self.enabled and self.longest:
            self.stream.write("\n")
            self.stream.flush()
            self.longest = 0
