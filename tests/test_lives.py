"""Random lives of a study under attack, as many as the environment says: see lives.py.

They are lived in processes of their own: what interrupts them must not meet a tracer, or threads of other tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="lives are forked, and killed by signals")

HERE = Path(__file__).parent
OPERATIONS = os.environ.get("BELIEVER_OPERATIONS", "1500")
KILLS = os.environ.get("BELIEVER_KILLS", "15")
SEED = os.environ.get("BELIEVER_SEED", "0")


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=HERE, capture_output=True, text=True)


def test_whatever_happens_file_and_memory_agree_and_nothing_acknowledged_is_lost() -> None:
    run = python("lives.py", "--operations", OPERATIONS, "--kills", KILLS, "--seed", SEED)
    assert run.returncode == 0, run.stderr[-4000:]
    found = re.search(r"- ([\d,]+) operations that were acknowledged, ([\d,]+) kills", run.stdout)
    assert found is not None, run.stdout
    operations, kills = (int(number.replace(",", "")) for number in found.groups())
    assert operations >= int(OPERATIONS)
    assert kills >= int(KILLS)


def test_a_journal_that_lost_a_line_is_noticed(tmp_path: Path) -> None:
    """The test above can fail."""
    from lives import Lives

    path = tmp_path / "study.jsonl"
    live = "import sys, pathlib, lives; path = pathlib.Path(sys.argv[1]); lives.Lives(path.parent, 1)._life(path, 25)"
    run = python("-c", live, str(path))
    assert run.returncode == 0, run.stderr
    whole = path.read_bytes()
    lines, crc = len(whole.splitlines()), zlib.crc32(whole)
    lives = Lives(tmp_path, 1)
    lives._check(path, 0, lines, crc)
    path.write_bytes(whole[: whole[:-1].rindex(b"\n") + 1])
    with pytest.raises(AssertionError):
        lives._check(path, 0, lines, crc)


def test_points_that_kill_their_workers_are_answered(tmp_path: Path) -> None:
    from lives import Life

    life = Life(tmp_path / "study.jsonl", 2, -1)
    life.with_workers_that_die()
    life.study.close()
