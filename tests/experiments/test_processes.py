"""Worker processes: slow to start, so that each test checks several things with one pool."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from cell_work import cells, conditions, deadly, logged, pids, runs
from waiting import PATIENCE, alive, wait_for

from believer.errors import EvaluationError
from believer.experiments import read_store, run
from believer.workers import ONE_THREAD

HERE = Path(__file__).parent
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups are POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def script(folder: Path, code: str) -> list[str]:
    """The command that runs a script which knows the tests' work."""
    folders = [str(HERE), str(HERE.parent)]
    header = f"import sys; sys.path[:0] = {folders}\nfrom cell_work import *\nfrom believer.experiments import *\n"
    (folder / "script.py").write_text(header + textwrap.dedent(code))
    return [sys.executable, str(folder / "script.py")]


def test_two_workers_are_two_processes_with_one_thread_each_and_leave_no_trace(
    path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    before = dict(os.environ)
    results = run(cells(6, log=str(log), processes=2), conditions, store=path, workers=2)
    assert dict(os.environ) == before
    if sys.platform != "win32":
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert len({result["pid"] for result in results} - {os.getpid()}) == 2
    one = {**dict.fromkeys(ONE_THREAD, "1"), "MKL_NUM_THREADS": "3"}
    assert all(one.items() <= result["threads"].items() for result in results)
    assert not any(result["interrupts"] for result in results)
    assert read_store(path)[0].provenance["threads"] == one
    assert multiprocessing.active_children() == []


def test_a_cell_that_kills_its_worker_twice_is_a_failure_and_its_neighbors_finish(path: Path, log: Path) -> None:
    todo = cells(8, log=str(log), always=[1], once=[5])
    with pytest.raises(EvaluationError, match=r"1 of 8 cells failed.*seed=1: its worker process died, twice"):
        run(todo, deadly, store=path, workers=2)
    assert {entry.cell.seed for entry in read_store(path)} == {0, 2, 3, 4, 5, 6, 7}
    assert sorted(runs(log)) == [0, 2, 3, 4, 5, 6, 7]  # nobody's work is done again for the death of another


@posix_only
def test_a_killed_run_loses_nothing_repeats_nothing_that_was_finished_and_leaves_no_workers(
    path: Path, log: Path, tmp_path: Path
) -> None:
    code = f"""
        if __name__ == "__main__":
            run(cells(400, log={str(log)!r}, seconds=0.02), logged, store={str(path)!r}, workers=2)
    """
    with subprocess.Popen(script(tmp_path, code)) as process:
        wait_for(lambda: len(runs(log)) > 20)
        process.kill()
    workers = set(pids(log))
    wait_for(lambda: not any(map(alive, workers)))
    finished = [entry.cell.seed for entry in read_store(path)]
    assert len(finished) > 10
    started = Counter(runs(log))
    assert len(started) - len(finished) <= 3  # under way at once: one in each worker, and one on its way
    todo = cells(max(started) + 5, log=str(log), seconds=0.02)
    assert run(todo, logged, store=path) == [{"square": cell.seed**2} for cell in todo]
    again = Counter(runs(log))
    assert all(again[seed] == 1 for seed in finished)
    assert all(1 <= again[cell.seed] <= 2 for cell in todo)


@posix_only
def test_an_interrupt_at_the_terminal_ends_all_at_once_and_only_the_parent_speaks(
    path: Path, log: Path, tmp_path: Path
) -> None:
    code = f"""
        if __name__ == "__main__":
            signal.signal(signal.SIGINT, signal.default_int_handler)
            run(cells(2, log={str(log)!r}), logged, store={str(path)!r})
            try:
                run(cells(9, log={str(log)!r}, seconds={10 * PATIENCE}), logged, store={str(path)!r}, workers=2)
            except KeyboardInterrupt:
                print("interrupted")
    """
    command = script(tmp_path, code)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        wait_for(lambda: len(runs(log)) == 4)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)  # long before a cell would have ended
    finally:
        process.kill()
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)
    assert [entry.cell.seed for entry in read_store(path)] == [0, 1]
    workers = set(pids(log)) - {process.pid}
    wait_for(lambda: not any(map(alive, workers)))


def test_workers_that_cannot_start_are_told_of_once(tmp_path: Path) -> None:
    code = """
        run(cells(50), square, workers=2)
    """
    done = subprocess.run(script(tmp_path, code), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "EvaluationError: worker processes die before they get any work" in done.stderr
    assert 'if __name__ == "__main__"' in done.stderr
