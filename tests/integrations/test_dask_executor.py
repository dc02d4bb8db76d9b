"""A Dask cluster as an executor: a dead worker costs no cell, and whatever ends a connection ends its futures."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE, wait_for

from believer.errors import EvaluationError, InvalidInput, MissingExtra
from believer.experiments import Cell, read_store, run
from believer.integrations.dask import ClusterExecutor, connected

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

# Where there is no route to anywhere, it looks for the address of this machine in vain.
pytestmark = pytest.mark.filterwarnings("ignore:Couldn't detect a suitable IP:RuntimeWarning")

ALLOWED_FAILURES = 1
"""One death is forgiven, and a cell that always kills its worker is found out soon."""


def logged(cell: Cell) -> dict[str, Any]:
    """Leaves a line in a file each time it is run, whatever process runs it; some seeds do worse."""
    with open(cell.settings["log"], "a") as file:
        file.write(f"{cell.seed} {os.getpid()}\n")
    if cell.seed in cell.settings.get("deadly", []):
        os._exit(7)
    if cell.seed in cell.settings.get("faulty", []):
        raise ValueError("unlucky")
    if cell.seed in cell.settings.get("refused", []):
        raise InvalidInput("q must be at least 1; got 0.")
    if cell.seed in cell.settings.get("held", []):
        wait_for(Path(cell.settings["gate"]).exists)
    time.sleep(cell.settings.get("seconds", 0.0))
    return {"square": cell.seed**2}


def cells(count: int, **settings: Any) -> list[Cell]:
    return [Cell("toy", settings, seed) for seed in range(count)]


def lines(log: Path) -> list[tuple[int, int]]:
    """The seeds that were run, each with its process."""
    text = log.read_text() if log.exists() else ""
    return [(int(seed), int(pid)) for seed, pid in (line.split() for line in text.split("\n")[:-1])]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a cluster of two processes."""
    options: dict[str, Any] = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
    }
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_FAILURES}),
        distributed.LocalCluster(**options) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def small() -> Iterator[Callable[..., Any]]:
    """Makes a cluster within this process."""
    made = []

    def make(workers: int = 1, threads: int = 1) -> Any:
        options: dict[str, Any] = {"processes": False, "dashboard_address": "127.0.0.1:0"}
        made.append(distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, **options))
        return made[-1]

    yield make
    for cluster in made:
        cluster.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_worker_killed_midway_costs_no_cell(address: str, path: Path, log: Path) -> None:
    gate = log.with_name("killed")
    todo = cells(40, log=str(log), held=list(range(20, 40)), gate=str(gate))
    kept: list[bytes] = []

    def kill() -> None:
        wait_for(lambda: path.exists() and len(read_store(path)) >= 6)
        kept.extend(path.read_bytes().split(b"\n")[:-1])
        os.kill(lines(log)[-1][1], signal.SIGKILL)
        gate.touch()

    killer = threading.Thread(target=kill)
    killer.start()
    with connected(address) as executor:
        results = run(todo, logged, store=path, executor=executor)
    killer.join()
    assert results == [{"square": seed**2} for seed in range(40)]
    assert 6 <= len(kept) < 40
    assert sorted(entry.cell.seed for entry in read_store(path)) == list(range(40))
    stored = path.read_bytes().splitlines()
    assert len(stored) == 40
    assert stored[: len(kept)] == kept
    assert {seed for seed, _ in lines(log)} == set(range(40))
    assert len({pid for _, pid in lines(log)}) >= 2
    assert os.getpid() not in {pid for _, pid in lines(log)}


def test_a_cell_that_always_kills_its_worker_is_a_failure_and_the_cluster_goes_on(
    address: str, path: Path, log: Path
) -> None:
    with connected(address) as executor:
        with pytest.raises(EvaluationError, match=r"1 of 1 cells failed.*KilledWorker"):
            run(cells(1, log=str(log), deadly=[0]), logged, store=path, executor=executor)
        assert len(lines(log)) == ALLOWED_FAILURES + 1
        assert read_store(path) == []
        run(cells(3, log=str(log)), logged, store=path, executor=executor)
    assert len(read_store(path)) == 3


def test_failures_of_cells_travel_as_they_do_from_processes(small: Callable[..., Any], path: Path, log: Path) -> None:
    with connected(small().scheduler_address) as executor:
        with pytest.raises(EvaluationError, match=r"1 of 4 cells failed.*seed=2: ValueError: unlucky"):
            run(cells(4, log=str(log), faulty=[2]), logged, store=path, executor=executor)
        assert sorted(entry.cell.seed for entry in read_store(path)) == [0, 1, 3]
        with pytest.raises(InvalidInput, match="q must be at least 1"):
            run(cells(4, log=str(log), refused=[2]), logged, executor=executor)


def test_the_same_call_twice_is_two_runs(small: Callable[..., Any], log: Path) -> None:
    (cell,) = cells(1, log=str(log))
    with connected(small().scheduler_address) as executor:
        twice = [executor.submit(logged, cell), executor.submit(logged, cell)]
        assert [future.result(PATIENCE) for future in twice] == [{"square": 0}] * 2
        assert len(lines(log)) == 2
        assert executor.submit(logged, cell=cell).result(PATIENCE) == {"square": 0}


def test_the_cluster_forgets_a_result_that_was_fetched(small: Callable[..., Any], log: Path) -> None:
    """Else, the death of the worker that holds it would have a finished cell computed again."""
    cluster = small()
    with connected(cluster.scheduler_address) as executor:
        held = executor.submit(logged, *cells(1, log=str(log)))
        assert held.result(PATIENCE) == {"square": 0}
        wait_for(lambda: not cluster.scheduler.tasks)
        assert held.result() == {"square": 0}


def test_a_result_that_cannot_be_fetched_ends_its_future(small: Callable[..., Any]) -> None:
    async def lost(*given: Any, **options: Any) -> None:
        raise OSError("lost on the way")

    with distributed.Client(small().scheduler_address, set_as_default=False) as client:
        client._gather = lost
        with pytest.raises(OSError, match="lost on the way"):
            ClusterExecutor(client).submit(int, "3").result(PATIENCE)


def test_what_is_cancelled_before_it_began_never_runs(small: Callable[..., Any], log: Path) -> None:
    gate = log.with_name("cancelled")
    first, second, third = cells(3, log=str(log), held=[0], gate=str(gate))
    cluster = small()
    with connected(cluster.scheduler_address) as executor:
        running = executor.submit(logged, first)
        wait_for(lambda: len(lines(log)) == 1)
        waiting = executor.submit(logged, second)
        (worker,) = cluster.workers.values()
        wait_for(lambda: len(worker.state.tasks) == 2)  # a word to the worker takes its time
        assert waiting.cancel()
        wait_for(lambda: len(worker.state.tasks) == 1)
        gate.touch()
        assert executor.submit(logged, third).result(PATIENCE) == {"square": 4}
        assert running.done()
        assert waiting.cancelled()
    assert [seed for seed, _ in lines(log)] == [0, 2]


def test_a_cluster_that_goes_away_ends_the_run_and_loses_nothing(
    small: Callable[..., Any], path: Path, log: Path
) -> None:
    cluster = small()

    def close() -> None:
        wait_for(lambda: path.exists() and len(read_store(path)) >= 3)
        cluster.close()

    closer = threading.Thread(target=close)
    closer.start()
    todo = cells(1000, log=str(log), seconds=0.02)
    with connected(cluster.scheduler_address) as executor:
        assert isinstance(executor, ClusterExecutor)
        executor._client._timeout = 0.5  # in which it would have to come back
        with pytest.raises(EvaluationError, match=r"takes no more work.*scheduler"):
            run(todo, logged, store=path, executor=executor)
        closer.join()
        wait_for(lambda: not _takes_work(executor))
        with pytest.raises(EvaluationError, match=r"takes no more work.*connection to the Dask scheduler was lost"):
            run(todo, logged, store=path, executor=executor)
    finished = {entry.cell.seed for entry in read_store(path)}
    assert 3 <= len(finished) < 1000
    before = len(lines(log))
    run(todo[:20], logged, store=path)
    assert len(lines(log)) - before == 20 - len(finished & set(range(20)))


def _takes_work(executor: Any) -> bool:
    try:
        executor.submit(int)
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize(
    ("workers", "threads", "rule"),
    [
        (0, 1, "must have a worker before work is submitted; inproc://.* has none.*dask worker inproc://"),
        (2, 3, r"one cell at a time; 2 of 2 have more threads than one \(inproc://.*: 3\)"),
    ],
)
def test_a_cluster_must_have_workers_with_one_thread_each(
    small: Callable[..., Any], workers: int, threads: int, rule: str
) -> None:
    with pytest.raises(InvalidInput, match=rule), connected(small(workers, threads).scheduler_address):
        pass


@pytest.mark.parametrize(
    ("address", "kind", "text"),
    [
        ("tcp://127.0.0.1:9", EvaluationError, r"no Dask scheduler answers at tcp://127.0.0.1:9 within 0.2 s"),
        ("http://127.0.0.1:9", InvalidInput, r"must be like tcp://host:8786; got 'http://127.0.0.1:9'"),
        ("tcp://127.0.0.1:port", InvalidInput, "must be like tcp://host:8786"),
        ("", InvalidInput, "must be like tcp://host:8786"),
    ],
)
def test_an_address_where_no_one_answers_is_told(address: str, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text), connected(address, timeout=0.2):
        pass


def test_without_distributed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingExtra, match=r"needs distributed; .*pip install 'believer\[dask\]'"),
        connected("tcp://x"),
    ):
        pass
