"""How tests wait for other processes and threads: for what they do, and not for a time that suits one machine."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds after which something hangs: no machine is so slow, or so busy."""


def wait_for(condition: Callable[[], bool]) -> None:
    """Until ``condition`` holds; AssertionError if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)
