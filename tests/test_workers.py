"""Workers: a death, or a time limit, is the business of one task; no process outlives what it is for."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import bad_functions as bad
import pytest
from waiting import PATIENCE, alive, wait_for

from believer.errors import EvaluationError, InvalidInput, TookTooLong, WorkerDied
from believer.workers import ONE_THREAD, Workers

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks are POSIX")


def pid_in(mark: Path) -> int:
    wait_for(mark.exists)
    return int(mark.read_text())


def run_script(folder: Path, code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(f"import sys; sys.path.append({str(Path(__file__).parent)!r})\n{code}")
    command = [sys.executable, str(folder / "script.py")]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, **options)


def test_a_call_returns_or_raises_what_it_would_here() -> None:
    with Workers(1) as workers:
        assert workers.submit(pow, 2, 5).result() == 32
        assert list(workers.map(abs, [-1, 2, -3])) == [1, 2, 3]
        with pytest.raises(ValueError, match="invalid literal"):
            workers.submit(int, "five").result()
        with pytest.raises(SystemExit):
            workers.submit(sys.exit, 3).result()
        with pytest.raises(Exception, match=r"pickle|local"):
            workers.submit(lambda: 3).result()
        with pytest.raises(EvaluationError, match="returned something that cannot be pickled"):
            workers.submit(bad.unpicklable).result()
        with pytest.raises(EvaluationError, match=r"raised an exception \(Rooted: deep\) that cannot be pickled"):
            workers.submit(bad.raising, {"n": 5}).result()
        assert workers.submit(bad.unprintable).result() is None
        large = "x" * 20_000_000
        assert workers.submit(bad.returned, large).result() == large


DEATHS: list[tuple[tuple[Any, ...], str]] = [((bad.leave, 3), "exit code 3"), ((bad.leave, 0), "exit code 0")]
if sys.platform != "win32":
    DEATHS.append(((bad.kill_oneself,), "killed by SIGTERM"))


def test_a_process_that_dies_fails_its_task_alone_and_is_replaced() -> None:
    pids = set()
    with Workers(2) as workers:
        for call, cause in DEATHS:
            before = [workers.submit(bad.process) for _ in range(6)]
            fatal = workers.submit(*call)
            after = [workers.submit(bad.process) for _ in range(6)]
            with pytest.raises(WorkerDied, match=rf"^its worker died \({cause}\)$"):
                fatal.result()
            pids |= {future.result() for future in (*before, *after)}
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2 + len(DEATHS)  # two, and one in place of each of the dead
    assert multiprocessing.active_children() == []


@posix_only
def test_the_others_never_notice_that_one_was_killed_from_outside(tmp_path: Path) -> None:
    (tmp_path / "met").mkdir()
    with Workers(2) as workers:
        victim = workers.submit(bad.stay, str(tmp_path / "mark"))
        other = workers.submit(bad.meet, str(tmp_path / "met"), "one", 2)
        os.kill(pid_in(tmp_path / "mark"), signal.SIGKILL)
        with pytest.raises(WorkerDied, match="killed: out of memory"):
            victim.result()
        assert not other.done()
        assert workers.submit(bad.meet, str(tmp_path / "met"), "two", 2).result() != other.result()


@posix_only
def test_the_death_of_an_idle_process_is_no_fault_of_the_next_task() -> None:
    with Workers(1) as workers:
        for _ in range(3):
            pid = workers.submit(bad.process).result()
            os.kill(pid, signal.SIGKILL)
        assert workers.submit(bad.process).result() != pid


@posix_only
def test_a_death_is_seen_although_a_child_of_the_dead_holds_its_pipe(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with Workers(1) as workers:
        with pytest.raises(WorkerDied, match="exit code 5"):
            workers.submit(bad.fork_and_leave, str(mark)).result()
        assert workers.submit(abs, -1).result() == 1
    wait_for(lambda: not alive(pid_in(mark)))


def test_a_task_that_takes_too_long_is_ended_and_the_next_has_a_process(tmp_path: Path) -> None:
    with Workers(1) as workers:
        slow = workers.submit_within(0.2, bad.stay, str(tmp_path / "mark"))
        with pytest.raises(TookTooLong, match=r"^took longer than 0\.2 s$"):
            slow.result()
        assert workers.submit(abs, -1).result() == 1


def pids_of_solver(folder: Path) -> list[int]:
    wait_for((folder / "ready").exists)
    marks = [folder / name for name in ("shell", "child", "forsaken", "own")]
    wait_for(lambda: all(mark.exists() and mark.read_text().strip() for mark in marks))
    return [int(mark.read_text()) for mark in marks]


def ended(pids: list[int]) -> list[int]:
    """All of them on Linux; elsewhere not the last, which left its group, and whose parent nobody can tell any more."""
    if sys.platform != "linux":
        with suppress(ProcessLookupError):
            os.kill(pids.pop(), signal.SIGKILL)
    return pids


@posix_only
def test_a_time_limit_ends_all_that_the_task_has_started(tmp_path: Path) -> None:
    with Workers(1) as workers:
        hung = workers.submit_within(5.0, bad.solver, str(tmp_path))
        pids = pids_of_solver(tmp_path)
        with pytest.raises(TookTooLong):
            hung.result()
        wait_for(lambda: not any(map(alive, pids)))


@posix_only
def test_an_exception_in_the_block_ends_all_that_the_task_has_started(tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), Workers(1) as workers:
        workers.submit(bad.solver, str(tmp_path))
        pids = pids_of_solver(tmp_path)
        raise KeyboardInterrupt
    wait_for(lambda: not any(map(alive, pids)))


@posix_only
def test_a_process_that_dies_takes_what_it_has_started_with_it(tmp_path: Path) -> None:
    with Workers(1) as workers:
        dead = workers.submit(bad.die_above_a_solver, str(tmp_path))
        pids = pids_of_solver(tmp_path)
        with pytest.raises(WorkerDied, match="exit code 7"):
            dead.result()
        wait_for(lambda: not any(map(alive, ended(pids))))


@posix_only
def test_a_process_that_stops_in_its_answer_is_out_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workers(1) as workers:
        with monkeypatch.context() as patched:
            patched.setattr("believer.workers._GRACE", 0.2)
            stopped = workers.submit_within(0.2, bad.stop_in_the_answer)
            with pytest.raises(TookTooLong, match="stopped in its answer"):
                stopped.result()
        dead = workers.submit(bad.dead_in_the_answer, str(tmp_path / "mark"))
        with pytest.raises(WorkerDied, match="exit code 5"):
            dead.result()
        wait_for(lambda: not alive(pid_in(tmp_path / "mark")))
        assert workers.submit(abs, -1).result() == 1


def test_killing_them_ends_what_hangs_and_cancels_what_waits(tmp_path: Path) -> None:
    workers = Workers(1)
    hung, waiting = workers.submit(bad.stay, str(tmp_path / "mark")), workers.submit(abs, -1)
    pid_in(tmp_path / "mark")
    workers.kill_workers()
    with pytest.raises(WorkerDied):
        hung.result()
    assert waiting.cancelled()
    workers.shutdown()
    assert multiprocessing.active_children() == []
    with pytest.raises(RuntimeError, match="shut down"):
        workers.submit(abs, -1)


def test_an_exception_in_the_block_ends_what_hangs(tmp_path: Path) -> None:
    with suppress(LookupError), Workers(2) as workers:
        workers.submit(bad.stay, str(tmp_path / "mark"))
        pid_in(tmp_path / "mark")
        raise LookupError
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("cancel", [False, True])
def test_shutting_down_waits_for_what_is_under_way_and_cancels_the_rest_on_demand(cancel: bool, tmp_path: Path) -> None:
    workers = Workers(1)
    first = workers.submit(bad.meet, str(tmp_path), "one", 2)
    others = [workers.submit(abs, -1) for _ in range(3)]
    wait_for((tmp_path / "one").exists)
    workers.shutdown(wait=False, cancel_futures=cancel)
    assert not first.done()
    (tmp_path / "two").touch()
    workers.shutdown()
    assert first.result() > 0
    assert not wait(others, 0).not_done
    assert [future.cancelled() for future in others] == [cancel] * 3


@posix_only
def test_a_fork_that_ends_leaves_the_workers_of_its_parent_alone(tmp_path: Path) -> None:
    code = """
        import os, sys
        from believer.workers import Workers
        if __name__ == "__main__":
            with Workers(1) as workers:
                pid = workers.submit(os.getpid).result()
                child = os.fork()
                if child == 0:
                    sys.exit()
                os.waitpid(child, 0)
                assert workers.submit(os.getpid).result() == pid
    """
    done = run_script(tmp_path, textwrap.dedent(code))
    assert done.returncode == 0, done.stderr


def test_a_process_has_one_thread_unless_told_otherwise_and_leaves_interrupts_to_us(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    before = dict(os.environ)
    with Workers(1) as workers:
        found, ignores = workers.submit(bad.conditions).result()
        assert dict(os.environ) == before
    assert {**dict.fromkeys(ONE_THREAD, "1"), "MKL_NUM_THREADS": "3"}.items() <= found.items()
    assert ignores


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_number_of_workers_is_a_whole_one(count: Any) -> None:
    with pytest.raises(InvalidInput, match="workers must be a whole number, 1 or more"):
        Workers(count)


UNGUARDED = """
from believer.workers import Workers
with Workers(2) as workers:
    for future in [workers.submit(abs, -1) for _ in range(50)]:
        future.result()
"""


def test_processes_that_cannot_start_are_one_clear_error(tmp_path: Path) -> None:
    done = run_script(tmp_path, UNGUARDED)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "believer.errors.EvaluationError: worker processes die before they get any work"
    )
    assert 'if __name__ == "__main__"' in done.stderr.splitlines()[-1]


def ended_by_kill(process: subprocess.Popen[str]) -> None:
    process.kill()


def ended_by_exit(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


@posix_only
@pytest.mark.parametrize("end", [ended_by_kill, ended_by_exit])
def test_a_process_ends_with_its_parent_whatever_it_is_doing(
    end: Callable[[subprocess.Popen[str]], None], tmp_path: Path
) -> None:
    """Killed, or at the end of a script that forgot to shut them down."""
    marks = [tmp_path / "hung", tmp_path / "other"]
    code = f"""
        import sys; sys.path.append({str(Path(__file__).parent)!r})
        import bad_functions
        from believer.workers import Workers
        if __name__ == "__main__":
            workers = Workers(4)
            for mark in {[str(mark) for mark in marks]}:
                workers.submit(bad_functions.stay, mark)
            workers.submit(bad_functions.solver, {str(tmp_path)!r})
            print(workers.submit(bad_functions.process).result(), flush=True)
            sys.stdin.read()
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(code))
    command = [sys.executable, str(tmp_path / "script.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        idle = int(process.stdout.readline())
        pids = [idle, *map(pid_in, marks), *pids_of_solver(tmp_path)]
        assert all(map(alive, pids))
        end(process)
    wait_for(lambda: not any(map(alive, ended(pids))))
