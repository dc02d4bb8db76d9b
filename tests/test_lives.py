"""Random lives of a study under attack, as many as the environment says: see lives.py."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="lives are forked, and killed by signals")

OPERATIONS = int(os.environ.get("BELIEVER_OPERATIONS", "3000"))
KILLS = int(os.environ.get("BELIEVER_KILLS", "30"))
SEED = int(os.environ.get("BELIEVER_SEED", "0"))


def test_whatever_happens_file_and_memory_agree_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    from lives import Lives

    lives = Lives(tmp_path, SEED)
    lives.run(OPERATIONS, KILLS)
    assert lives.operations >= OPERATIONS
    assert lives.kills >= KILLS
    assert lives.journals > 1
    assert f"{lives.kills:,} kills" in lives.summary(60.0)


def test_a_journal_that_lost_a_line_is_noticed(tmp_path: Path) -> None:
    """The test above can fail."""
    from lives import Lives

    lives = Lives(tmp_path, 1)
    path = lives._journal()
    lives._life(path, 25)
    whole = path.read_bytes()
    lines, crc = len(whole.splitlines()), zlib.crc32(whole)
    lives._check(path, 0, lines, crc)
    path.write_bytes(whole[: whole[:-1].rindex(b"\n") + 1])
    with pytest.raises(AssertionError):
        lives._check(path, 0, lines, crc)


def test_points_that_kill_their_workers_are_answered(tmp_path: Path) -> None:
    from lives import Life

    said, say = os.pipe()
    try:
        life = Life(tmp_path / "study.jsonl", 2, say)
        life.with_workers_that_die()
        life.study.close()
    finally:
        os.close(said)
        os.close(say)
