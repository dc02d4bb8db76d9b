"""Many processes on one Optuna study: no point twice, no trial lost, whoever dies."""

# ruff: noqa: E402
from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

optuna = pytest.importorskip("optuna")

import postgres
from optuna.trial import TrialState
from optuna_worker import FEW, MIXED, storage_at, value, work

from believer.integrations.optuna import BelieverSampler

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["optuna_worker", "optuna.storages._rdb.storage", "optuna.storages._rdb.models", "alembic.migration"]
)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/study.db"
        return
    why = postgres.missing()
    if why is not None:
        pytest.skip(why)
    with postgres.server() as address:
        yield address


@pytest.fixture
def study(url: str) -> Iterator[Any]:
    storage = storage_at(url)
    yield optuna.create_study(study_name="shared", storage=storage)
    storage.remove_session()
    storage.engine.dispose()


@contextmanager
def processes(*calls: tuple[Callable[..., None], tuple[Any, ...]]) -> Iterator[list[Any]]:
    started = [CONTEXT.Process(target=target, args=args) for target, args in calls]
    for process in started:
        process.start()
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.join()
            process.close()


def ended(process: Any) -> int | None:
    process.join(PATIENCE)
    code: int | None = process.exitcode
    return code


def repeated(trials: list[Any], space: dict[str, Any]) -> list[tuple[int, int]]:
    """Pairs of trials with the same point, as the library tells points apart."""
    door = BelieverSampler(seed=0)._door_to(space, [False])
    units = door.settings.space.encode([door.look(trial).point for trial in trials])
    region = door.settings.space.region()
    return [
        (trials[j].number, trials[i].number)
        for i in range(len(trials))
        for j in range(i)
        if region.among(units[i : i + 1], units[j : j + 1])[0]
    ]


slow = pytest.mark.slow("eight processes on one storage")


@pytest.mark.parametrize(
    ("count", "space"),
    [
        pytest.param(2, MIXED, id="2"),
        pytest.param(8, MIXED, id="8", marks=slow),
        pytest.param(8, FEW, id="8, few points", marks=slow),
    ],
)
def test_processes_share_a_study_without_repeats_and_without_loss(
    study: Any, url: str, count: int, space: dict[str, Any]
) -> None:
    total = 32 if space is FEW else 24
    start = CONTEXT.Barrier(count)
    with processes(*[(work, (url, space, total // count, start))] * count) as workers:
        assert [ended(worker) for worker in workers] == [0] * count
    trials = study.get_trials()
    assert [trial.number for trial in trials] == list(range(total))
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    assert [trial.value for trial in trials] == [value(trial.params) for trial in trials]
    assert repeated(trials, space) == []


def test_a_worker_that_is_killed_leaves_a_point_that_stays_pending_until_it_is_failed(study: Any, url: str) -> None:
    start, dying = CONTEXT.Barrier(2), CONTEXT.Event()
    with processes((work, (url, FEW, 12, start)), (work, (url, FEW, 3, start, dying))) as (steady, deadly):
        assert dying.wait(PATIENCE)
        deadly.kill()
        assert ended(steady) == 0
    trials = study.get_trials()
    (left,) = [trial for trial in trials if trial.state == TrialState.RUNNING]
    assert len(trials) == 16
    assert repeated(trials, FEW) == []
    sampler = BelieverSampler(seed=3, failed="ignored")
    door = sampler._door_to(FEW, [False])
    (pending,) = [seen for seen in sampler._read(door, trials, 99)[0] if seen.returned is None]
    assert (pending.number, pending.point) == (left.number, door.look(left).point)
    study.tell(left.number, state=TrialState.FAIL)
    (failed,) = [seen for seen in sampler._read(door, study.get_trials(), 99)[0] if seen.number == left.number]
    assert (failed.returned, failed.point) == ("ignored", pending.point)
