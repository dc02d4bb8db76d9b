"""Delay Ctrl-C while it would be lost, or would leave something half done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C inside the block takes effect at its end.

    Blocking the signal would not do: it would come to another thread, and Python calls the handler in the main thread
    all the same. Other threads have nothing to hold back, and may not set a handler.
    """
    before, came = signal.getsignal(signal.SIGINT), list[tuple[Any, ...]]()
    try:
        if callable(before):
            signal.signal(signal.SIGINT, lambda *call: came.append(call))
    except ValueError:  # not the main thread
        before = None
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
            if came:
                before(*came[-1])
