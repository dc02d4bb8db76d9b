"""Ray Tune with BelieverSearch, on a cluster of two processors: trials that fail, die, are stopped and taken up."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from local_ray import local_cluster, needs_ray, posix
from waiting import wait_for

from believer import read_study

pytestmark = [needs_ray]
slow = pytest.mark.slow("a trial of Tune is a process that the cluster starts")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    from believer.integrations.ray import connected

    with local_cluster() as address, connected(address):
        yield


def loss(config: dict[str, Any]) -> float:
    return float((config["x"] - 0.3) ** 2 + config["inner"]["n"] / 10)


def space() -> dict[str, Any]:
    from ray import tune

    return {"x": tune.uniform(-1, 2), "inner": {"n": tune.randint(0, 4)}, "work": ""}


def tuner(trainable: Any, home: Path, samples: int, scheduler: Any = None, **options: Any) -> Any:
    from ray import tune

    from believer.integrations.ray import BelieverSearch

    return tune.Tuner(
        trainable,
        param_space={**space(), "work": str(home)},
        tune_config=tune.TuneConfig(
            search_alg=BelieverSearch(**options),
            metric="loss",
            mode="min",
            num_samples=samples,
            max_concurrent_trials=2,
            scheduler=scheduler,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(name="study", storage_path=str(home), verbose=0),
    )


def records(home: Path) -> list[dict[str, Any]]:
    """The trials of the search that Tune saved last, read as any journal."""
    return read_study(max((home / "study").glob("searcher-state-*.pkl"))).records()


def values(home: Path) -> list[float]:
    return sorted(row["value"] for row in records(home) if row["status"] == "done")


def plain(config: dict[str, Any]) -> dict[str, float]:
    return {"loss": loss(config)}


def failing(config: dict[str, Any]) -> dict[str, float]:
    if config["x"] > 1.0 and not (Path(config["work"]) / "mended").exists():
        raise ValueError("too far")
    return {"loss": loss(config)}


def in_steps(config: dict[str, Any]) -> None:
    from ray import tune

    for step in range(4):
        tune.report({"loss": loss(config) + 3 - step})


def dying(config: dict[str, Any]) -> dict[str, float]:
    """The first trial waits until the second kills its process."""
    began = Path(config["work"]) / "began"
    with suppress(FileExistsError), open(began, "x") as file:
        file.write(f"{os.getpid()}\n")
        file.flush()
        wait_for(lambda: False)
    with suppress(FileExistsError), open(began.with_name("killed"), "x"):
        wait_for(lambda: began.read_text().endswith("\n"))
        os.kill(int(began.read_text()), signal.SIGKILL)
    return {"loss": loss(config)}


@pytest.mark.usefixtures("cluster")
def test_a_run_finds_the_minimum_and_tune_saves_the_search(tmp_path: Path) -> None:
    results = tuner(plain, tmp_path, 10, seed=1).fit()
    assert results.num_errors == 0
    assert len(results) == 10
    best = results.get_best_result()
    assert best.metrics["loss"] < 0.1
    assert best.config["work"] == str(tmp_path)
    assert values(tmp_path) == sorted(result.metrics["loss"] for result in results)


@slow
@pytest.mark.usefixtures("cluster")
def test_a_trial_that_raises_has_failed_until_a_run_is_taken_up(tmp_path: Path) -> None:
    from ray import tune

    results = tuner(failing, tmp_path, 5, points_to_evaluate=[{"x": 1.5, "inner": {"n": 0}}]).fit()
    assert results.num_errors >= 1
    before = records(tmp_path)
    assert before[0]["error"] == "the trial ended with an error"
    assert sum(row["status"] == "done" for row in before) == 5 - results.num_errors > 0
    (tmp_path / "mended").touch()
    again = tune.Tuner.restore(str(tmp_path / "study"), trainable=failing, restart_errored=True).fit()
    assert (len(again), again.num_errors) == (5, 0)
    assert [row["x"] for row in records(tmp_path)[:5]] == [row["x"] for row in before]
    assert values(tmp_path) == sorted(result.metrics["loss"] for result in again)


@slow
@posix
@pytest.mark.usefixtures("cluster")
def test_a_worker_killed_fails_its_trial_and_the_run_goes_on(tmp_path: Path) -> None:
    results = tuner(dying, tmp_path, 4).fit()
    assert results.num_errors == 1
    rows = records(tmp_path)
    assert sorted(row["status"] for row in rows) == ["done", "done", "done", "failed"]
    assert [row["error"] for row in rows if row["status"] == "failed"] == ["the trial ended with an error"]


@slow
@pytest.mark.usefixtures("cluster")
def test_a_trial_stopped_early_counts_with_what_it_reported_last(tmp_path: Path) -> None:
    from ray.tune.schedulers import FIFOScheduler

    class Impatient(FIFOScheduler):  # type: ignore[misc]
        def on_trial_result(self, controller: Any, trial: Any, result: dict[str, Any]) -> str:
            is_over = result["training_iteration"] == 2 and trial.config["x"] > 0.5
            return str(self.STOP if is_over else self.CONTINUE)

    scheduler = Impatient()
    results = tuner(in_steps, tmp_path, 6, scheduler).fit()
    assert results.num_errors == 0
    assert {result.metrics["training_iteration"] for result in results} == {2, 4}
    assert values(tmp_path) == sorted(result.metrics["loss"] for result in results)


def by_kind(config: dict[str, Any]) -> dict[str, float]:
    assert config["twice"] == 2 * config["x"]
    return {"score": -abs(config["x"] - 0.3) - config["kind"]().value - config["layers"][0] / 100}


class Good:
    value = 0.0


class Bad:
    value = 1.0


@slow
@pytest.mark.usefixtures("cluster")
def test_choices_of_classes_and_what_follows_from_others_are_for_tune_to_fill_in(tmp_path: Path) -> None:
    from ray import tune
    from ray.tune.schedulers import ASHAScheduler

    from believer.integrations.ray import BelieverSearch

    results = tune.Tuner(
        by_kind,
        param_space={
            "x": tune.uniform(-1, 2),
            "kind": tune.choice([Bad, Good]),
            "layers": [tune.randint(1, 4), 8],
            "twice": tune.sample_from(lambda config: 2 * config["x"]),
        },
        tune_config=tune.TuneConfig(
            search_alg=BelieverSearch(metric="score", mode="max", n_init=4),
            scheduler=ASHAScheduler(metric="score", mode="max"),
            num_samples=10,
            max_concurrent_trials=2,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(name="study", storage_path=str(tmp_path), verbose=0),
    ).fit()
    assert results.num_errors == 0
    best = results.get_best_result("score", "max")
    assert best.config["kind"] is Good
    assert values(tmp_path) == sorted(result.metrics["score"] for result in results)
