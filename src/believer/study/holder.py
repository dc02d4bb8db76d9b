"""A note beside a journal that names the process that has it open, for error messages. It is not the lock.

The file is there while the journal is open, and says who, where and since when. One that a killed process has left
means nothing: the operating system has released the lock, and the next writer replaces the file.
"""

from __future__ import annotations

import getpass
import json
import os
import platform
import time
from contextlib import suppress

_LONGEST = 2000
"""Bytes of such a file; a longer one is something else."""


def leave_note(path: str) -> None:
    """Write a note of who has just locked the file at ``path``; errors are ignored."""
    user = "someone"
    with suppress(Exception):  # a system without names of users
        user = getpass.getuser()
    said = {"user": user, "host": platform.node(), "process": os.getpid(), "since": round(time.time())}
    with suppress(OSError), open(_note(path), "w", encoding="utf-8") as file:
        json.dump(said, file)


def remove_note(path: str) -> None:
    """Remove what :func:`leave_note` has written, before the lock is released."""
    with suppress(OSError):
        os.unlink(_note(path))


def holder(path: str) -> str:
    """ "anna on lab-pc (process 4711) since 2026-11-19 14:05:12"; "" if it is unknown."""
    with suppress(OSError, ValueError, TypeError, KeyError, OverflowError), open(_note(path), encoding="utf-8") as file:
        said = json.loads(file.read(_LONGEST))
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(said["since"]))
        words = f"{said['user']} on {said['host']} (process {said['process']}) since {since}"
        return words if words.isprintable() and len(words) < 200 else ""
    return ""


def _note(path: str) -> str:
    return f"{path}.lock"
