"""minimize on a Dask cluster, given as a client, a cluster or an address."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bad_functions import LINE
from cluster_functions import Killing, square, unsteady

import believer as bv
from believer.errors import EvaluationError, InvalidInput
from believer.integrations import dask

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore:Couldn't detect a suitable IP:RuntimeWarning")

GUIDE = Path(__file__).parents[2] / "docs" / "dask.md"
LOCAL: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Of two processes, which find the functions of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **LOCAL) as made:
            yield made


def test_a_client_a_cluster_and_an_address_are_workers_and_stay_as_they_are(cluster: Any) -> None:
    with distributed.Client(cluster, set_as_default=False) as client:
        for workers in (client, cluster, cluster.scheduler_address, client):
            found = bv.minimize(square, LINE, 6, workers=workers, seed=0, progress=False)
            assert (found.evaluations, found.failures) == (6, 0)
        with pytest.warns(DeprecationWarning, match="workers"):
            bv.minimize(square, LINE, 2, executor=client, seed=0, progress=False)
        assert client.status == "running"
        assert client.submit(abs, -1).result() == 1


def test_a_time_limit_and_a_death_fail_their_trials_alone_and_the_worker_lives_on(cluster: Any) -> None:
    with distributed.Client(cluster, set_as_default=False) as client:
        before = set(client.nthreads())
        found = bv.minimize(unsteady, LINE, 10, workers=client, timeout=1.0, seed=0, n_init=8, progress=False)
        errors = [row["error"] for row in found.optimizer.records() if row["error"]]
        assert found.evaluations == 10
        assert found.failures < 10
        assert {re.sub(r"\d+", "", error) for error in errors} == {
            "took longer than  s",
            "its worker died (exit code )",
        }
        assert set(client.nthreads()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_worker_that_dies_midway_costs_no_trial(cluster: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    f = Killing(tmp_path / "killed")
    found = bv.minimize(f, LINE, 8, workers=cluster, q=2, seed=0, journal=path, progress=False)
    assert f.mark.exists()
    assert (found.evaluations, found.failures) == (8, 0)
    assert bv.read_study(path).counts.pending == 0


def test_a_cluster_whose_workers_are_all_gone_ends_the_run_and_loses_no_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.jsonl"
    monkeypatch.setattr(dask, "NO_WORKER", 0.5)
    monkeypatch.setattr(dask, "_LOOKED_EVERY", 0.1)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, **LOCAL) as made,
        pytest.raises(EvaluationError, match="no worker for"),
    ):
        bv.minimize(square, LINE, 9, workers=made, journal=path, progress=False, callback=lambda *_: made.scale(0))
    study = bv.read_study(path)
    assert (study.counts.failed, study.counts.pending) == (0, 1)
    assert study.counts.done


def test_what_is_no_cluster_is_refused(cluster: Any) -> None:
    for workers in ("here", "host:8786", "ftp://host:21", object(), 2.5):
        with pytest.raises(InvalidInput, match="workers"):
            bv.minimize(square, LINE, 2, workers=workers, progress=False)
    client = distributed.Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(InvalidInput, match="connected"):
        bv.minimize(square, LINE, 2, workers=client, progress=False)
    with distributed.LocalCluster(n_workers=0, **LOCAL) as closed:
        pass
    with pytest.raises(InvalidInput, match="runs"):
        bv.minimize(square, LINE, 2, workers=closed, progress=False)


@pytest.mark.slow("sixteen processes of a cluster start")
@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_nothing_is_lost_of_sixteen_processes_of_which_one_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        with distributed.LocalCluster(n_workers=16, threads_per_worker=1, **LOCAL) as made:
            f = Killing(tmp_path / "killed")
            found = bv.minimize(f, LINE, 64, workers=made, seed=0, journal=path, progress=False)
    assert (found.evaluations, found.failures) == (64, 0)
    study = bv.read_study(path)
    assert (study.counts.done, study.counts.pending) == (64, 0)
    assert len({row["x"] for row in study.records()}) == 64


@pytest.mark.slow("two clusters start, one of them from the command line")
def test_the_guide_to_dask_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL), 1):
        exec(compile(block, f"dask.md, block {number}", "exec"), names)
    assert names["result"].evaluations == 16
    assert names["again"].evaluations == 24
    assert names["there"].evaluations == 12
