"""A Ray cluster as an executor: a dead worker fails what it was doing and nothing else, and whatever ends is told."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bad_functions import LINE
from cluster_functions import Killing, unsteady
from local_ray import HAS_RAY, local_cluster, needs_ray, posix
from waiting import PATIENCE, wait_for

import believer as bv
from believer.errors import EvaluationError, InvalidInput, WorkerDied
from believer.experiments import Cell, read_store, run

if HAS_RAY:
    from believer.integrations.ray import connected

pytestmark = needs_ray
slow = pytest.mark.slow("waits for processes that the cluster starts, most of them after a death")

SPACE = bv.Space({"x": bv.Float(-1, 2)})


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster() as found:
        yield found


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2)


def noted(work: Path) -> int:
    """Leaves the number of its process in a file, and waits for another."""
    with open(work / "began", "a") as file:
        file.write(f"{os.getpid()}\n")
    wait_for((work / "gate").exists)
    return os.getpid()


def pids(work: Path) -> list[int]:
    began = work / "began"
    return [int(line) for line in began.read_text().split("\n")[:-1]] if began.exists() else []


def square(cell: Cell) -> dict[str, Any]:
    if cell.seed in cell.settings.get("deadly", []):
        os._exit(7)
    if cell.seed in cell.settings.get("refused", []):
        raise InvalidInput("q must be at least 1; got 0.")
    return {"square": cell.seed**2}


def raises(text: str) -> None:
    raise ValueError(text)


def test_a_time_limit_and_a_death_fail_their_trials_alone(address: str) -> None:
    with connected(address):
        found = bv.minimize(unsteady, LINE, 10, workers="ray", timeout=1.0, seed=0, n_init=8, progress=False)
    errors = [row["error"] for row in found.optimizer.records() if row["error"]]
    assert found.evaluations == 10
    assert found.failures < 10
    assert {re.sub(r"\d+", "", error) for error in errors} == {"took longer than  s", "its worker died (exit code )"}


@slow
@posix
def test_nothing_is_lost_of_sixteen_processes_of_which_one_is_killed(address: str, tmp_path: Path) -> None:
    path, f = tmp_path / "study.jsonl", Killing(tmp_path / "killed")
    with connected(address, cpus=0.125, retries=1) as executor:
        found = bv.minimize(f, LINE, 48, workers=executor, seed=0, journal=path, progress=False)
    assert f.mark.exists()
    assert (found.evaluations, found.failures) == (48, 0)
    study = bv.read_study(path)
    assert (study.counts.done, study.counts.pending) == (48, 0)
    assert len({row["x"] for row in study.records()}) == 48


@posix
def test_a_worker_killed_midway_fails_its_trial_and_the_run_goes_on(address: str, tmp_path: Path) -> None:
    def held(params: dict[str, Any]) -> float:
        noted(tmp_path)
        return float((params["x"] - 0.3) ** 2)

    def kill() -> None:
        wait_for(lambda: len(pids(tmp_path)) == 2)
        os.kill(pids(tmp_path)[0], signal.SIGKILL)
        (tmp_path / "gate").touch()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with connected(address) as executor:
        result = bv.minimize(held, SPACE, budget=8, q=2, workers=executor, progress=False, mode="batch", seed=0)
    killer.join()
    assert (result.evaluations, result.failures, result.stopped) == (8, 1, "budget")
    (failed,) = [row for row in result.optimizer.records() if row["status"] == "failed"]
    assert "WorkerCrashedError" in failed["error"]
    assert result.value is not None
    assert os.getpid() not in pids(tmp_path)


@slow
def test_experiments_run_there_and_a_cell_that_kills_its_worker_is_a_failure(address: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with connected(address) as executor:
        with pytest.raises(EvaluationError, match=r"1 of 6 cells failed.*seed=2: WorkerDied"):
            run([Cell("toy", {"deadly": [2]}, seed) for seed in range(6)], square, store=path, executor=executor)
        assert sorted(entry.cell.seed for entry in read_store(path)) == [0, 1, 3, 4, 5]
        with pytest.raises(InvalidInput, match="q must be at least 1"):
            run([Cell("toy", {"refused": [1]}, seed) for seed in range(3)], square, executor=executor)


@slow
def test_what_a_function_raises_comes_back_and_a_death_is_told_as_one(address: str) -> None:
    with connected(address) as executor:
        with pytest.raises(ValueError, match=r"^unlucky$"):
            executor.submit(raises, text="unlucky").result(PATIENCE)
        with pytest.raises(WorkerDied):
            executor.submit(os._exit, 7).result(PATIENCE)
        assert executor.submit(int, "3").result(PATIENCE) == 3
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(int, "3")


@slow
def test_a_call_is_made_again_where_that_is_wanted(address: str, tmp_path: Path) -> None:
    def dies_once() -> int:
        noted(tmp_path)
        if len(pids(tmp_path)) == 1:
            os._exit(7)
        return len(pids(tmp_path))

    (tmp_path / "gate").touch()
    with connected(address, retries=1) as executor:
        assert executor.submit(dies_once).result(PATIENCE) == 2


@slow
def test_what_is_cancelled_before_it_began_never_runs(address: str, tmp_path: Path) -> None:
    with connected(address, cpus=2) as executor:
        running = executor.submit(noted, tmp_path)
        wait_for(lambda: len(pids(tmp_path)) == 1)
        waiting = executor.submit(noted, tmp_path)
        assert waiting.cancel()
        (tmp_path / "gate").touch()
        assert executor.submit(noted, tmp_path).result(PATIENCE)
        assert running.result(PATIENCE)
        assert waiting.cancelled()
    assert len(pids(tmp_path)) == 2


@slow
def test_what_is_under_way_when_the_connection_is_closed_is_cancelled(address: str, tmp_path: Path) -> None:
    with connected(address):
        with connected() as executor:
            left = executor.submit(noted, tmp_path)
            wait_for(lambda: len(pids(tmp_path)) == 1)
        assert left.cancelled()
        with connected(cpus=2) as executor:  # all of them are free again
            assert executor.submit(int, "3").result(PATIENCE) == 3


@slow
def test_a_connection_that_is_there_is_used_and_left(address: str) -> None:
    import ray

    with connected(address):
        with connected() as inner, connected("auto"), connected(address):
            assert (
                bv.minimize(bowl, SPACE, budget=3, workers=inner, progress=False, q=3, mode="batch", seed=0).failures
                == 0
            )
        assert ray.is_initialized()
        with pytest.raises(InvalidInput, match="one connection to Ray, here to 127"), connected("10.0.0.5:6379"):
            pass
    assert not ray.is_initialized()


@pytest.mark.parametrize(
    ("address", "options", "kind", "text"),
    [
        ("127.0.0.1:9", {}, EvaluationError, "no Ray cluster answers at 127.0.0.1:9 within 10 s"),
        ("ray://127.0.0.1:9", {}, EvaluationError, "no Ray cluster answers at ray://127.0.0.1:9"),
        ("tcp://127.0.0.1", {}, InvalidInput, "must be like host:6379 or ray://host:10001; got 'tcp://127.0.0.1'"),
        ("", {}, InvalidInput, "must be like host:6379"),
        ("auto", {"retries": 1.5}, InvalidInput, "retries must be a whole number"),
        (None, {"retries": -1}, InvalidInput, "retries must be a whole number, 0 or more; got -1"),
    ],
)
def test_an_address_where_no_one_answers_is_told(
    address: str | None, options: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text), connected(address, **options):
        pass


@slow
@pytest.mark.parametrize("cpus", [3, 0, -1.0])
def test_a_call_needs_processors_that_the_cluster_has(address: str, cpus: float) -> None:
    with pytest.raises(InvalidInput, match="above zero, and no more than the cluster has, 2; got"):  # noqa: SIM117
        with connected(address, cpus=cpus):
            pass
