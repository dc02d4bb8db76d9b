"""How tests wait for other processes and threads: for what they do, and not for a time that suits one machine."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 600.0
"""Seconds after which something hangs: no machine is so slow, or so busy."""


def wait_for(condition: Callable[[], bool]) -> None:
    """Until ``condition`` holds; AssertionError if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended is dead before anyone has asked how (in a container, nobody may)."""
    if sys.platform == "win32":  # a signal 0 would be Ctrl-C there
        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = ctypes.c_void_p
        synchronize, timed_out = 0x100000, 0x102
        handle = ctypes.c_void_p(kernel.OpenProcess(synchronize, False, pid))
        runs = bool(handle) and kernel.WaitForSingleObject(handle, 0) == timed_out
        if handle:
            kernel.CloseHandle(handle)
        return runs
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
