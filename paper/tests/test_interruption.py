"""A reproduction that is killed, and one that is interrupted, with the paper's own cells: nothing finished is lost."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE, wait_for

from believer.cli import main
from believer.experiments import read_store
from believer.workers import ONE_THREAD
from believer_paper import plan
from believer_paper.packing import CELLS, PACKED

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")

SEEDS = 40
"""So many that a run is not over before its signal arrives."""

SMALL = ("reproduce", "exp11", "--preset", "ours", "--smoke", "--seeds", str(SEEDS))
CELLS_OF_IT = plan.cells(["exp11"], ["ours"], SEEDS, smoke=True)
LEAST = 2


def finished_lines(path: Path) -> list[bytes]:
    """Lines that have their newline, with it."""
    data = path.read_bytes() if path.exists() else b""
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def heed_interrupts() -> None:
    """In the new process: whoever is started in the background of a shell inherits deafness to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    ("name", "workers", "code"), [("SIGKILL", 2, -9), ("SIGINT", 1, 130)], ids=["killed", "interrupted"]
)
def test_a_run_that_is_stopped_is_taken_up_where_it_was(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, workers: int, code: int
) -> None:
    written = tmp_path / CELLS
    arguments = [*SMALL, "--workers", str(workers), "--out", str(tmp_path)]
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    process = subprocess.Popen(
        [sys.executable, "-m", "believer", *arguments], env=environment, preexec_fn=heed_interrupts
    )
    try:
        wait_for(lambda: process.poll() is not None or len(finished_lines(written)) > LEAST)
        seen = finished_lines(written)
        process.send_signal(getattr(signal, name))
        assert process.wait(PATIENCE) == code
    finally:
        process.kill()
        process.wait()
    said = capfd.readouterr().err
    assert ("the same command resumes the run" in said) == (code == 130)
    kept = finished_lines(written)
    # The last line that was seen may not have been on the disk yet: then its cell was not finished, and an interrupt
    # takes it back.
    assert kept[: len(seen) - 1] == seen[:-1]
    assert LEAST <= len(kept) < len(CELLS_OF_IT)
    assert not (tmp_path / PACKED).exists()
    written.write_bytes(b"".join(kept) + b'{"format": 1, "key": "to')  # the moment that a kill can hit as well

    assert main([*SMALL, "--workers", "1", "--out", str(tmp_path)]) == 0
    whole = finished_lines(written)
    assert whole[: len(kept)] == kept
    assert len(whole) == len(CELLS_OF_IT)
    assert {entry.cell for entry in read_store(written)} == set(CELLS_OF_IT)
    assert gzip.decompress((tmp_path / PACKED).read_bytes()) == b"".join(whole)
