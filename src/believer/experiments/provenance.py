"""The provenance of a result beyond the versions that every study records: the commit of a checkout."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

_SECONDS = 10.0


@functools.cache
def commit() -> str | None:
    """The commit that this library is a checkout of, "-dirty" with uncommitted changes; None if it is installed.

    Asks git once a process.
    """
    return commit_of(Path(__file__).parents[3])


def commit_of(root: Path) -> str | None:
    """The commit checked out in ``root`` itself; a repository that merely surrounds it does not count."""
    if not (root / ".git").exists():
        return None
    # Without optional locks: a question must not get in the way of someone who is committing.
    ask = ["git", "--no-optional-locks", "-C", str(root)]
    ask += ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(ask, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
