"""An exception at a line of the package, whichever it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import believer

ROOM = str(Path(believer.__file__).parent)


class Interrupt(KeyboardInterrupt):
    """Ours, so that no other is taken for it."""


def interrupted_at(line: int, call: Callable[[], object]) -> bool:
    """Run ``call`` with an interrupt at the given line of those that it runs in the package; False if it has fewer."""
    left = line

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Interrupt:
        pass
    finally:
        sys.settrace(before)
    return left <= 0
