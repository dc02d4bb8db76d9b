"""Progress of a run: a bar on a terminal or in a notebook, and elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol, TextIO

_WIDTH = 24
_SELDOM, _OFTEN = 10.0, 2.0
"""Seconds from one line to the next: in a log, and in a notebook."""


class Showing(Protocol):
    """A display of the progress of a run."""

    def show(self, done: int, note: str = "") -> None:
        """Show the progress, with ``note`` after it."""

    def clear(self) -> None:
        """Make room for something else to be printed."""

    def close(self) -> None:
        """The run is over."""


def following(total: int, wanted: bool, together: int) -> Showing:
    """The display of progress that suits this program, for ``total`` evaluations, ``together`` at a time.

    On a terminal this is a bar. In a notebook it is a bar of tqdm if that is installed, and otherwise a line for each
    batch. Anywhere else it is a line at most every ten seconds, and none for a run that is shorter.
    """
    stream = sys.stderr
    if not wanted or stream is None or stream.isatty():
        return Progress.on_terminal(total, wanted)
    if not in_notebook():
        return Lines(total, stream, together, _SELDOM, time.monotonic())
    try:
        return NotebookBar(import_module("tqdm.notebook").tqdm(total=total, unit="evaluation"))
    except ImportError:  # no tqdm, or none of the widgets that it needs
        return Lines(total, stream, together, _OFTEN)


def in_notebook() -> bool:
    """Whether this program is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return any(cls.__name__ == "ZMQInteractiveShell" for cls in type(shell).__mro__)


@dataclass(slots=True)
class NotebookBar:
    """A bar of tqdm for notebooks, with the note behind it."""

    bar: Any

    def show(self, done: int, note: str = "") -> None:
        """Redraw the bar."""
        self.bar.n = done
        self.bar.set_postfix_str(note, refresh=False)
        self.bar.refresh()

    def clear(self) -> None:
        """Do nothing: printed text appears below the bar."""

    def close(self) -> None:
        """End the bar."""
        self.bar.close()


@dataclass(slots=True)
class Lines:
    """Writes a line to ``stream`` after each batch of ``together`` evaluations, but at most one every ``seconds``.

    The first line comes at once; if ``last`` is the time at which the run began, it comes ``seconds`` after that. If
    any line was written, there is one more at the end.
    """

    total: int
    stream: TextIO
    together: int
    seconds: float
    last: float | None = None
    clock: Callable[[], float] = time.monotonic
    written: int | None = None
    now: tuple[int, str] = (0, "")

    def show(self, done: int, note: str = "") -> None:
        """Write a line, if it is time for one."""
        self.now = done, note
        if done >= (self.written or 0) + self.together and (
            self.last is None or self.clock() - self.last >= self.seconds
        ):
            self._write()

    def _write(self) -> None:
        done, note = self.now
        self.last, self.written = self.clock(), done
        self.stream.write(f"{done}/{self.total} evaluations{', ' if note else ''}{note}\n")
        self.stream.flush()

    def clear(self) -> None:
        """Do nothing: lines stay."""

    def close(self) -> None:
        """Write the last line if an earlier line is out of date."""
        if self.written is not None and self.written < self.now[0]:
            self._write()


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
