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

from believer.integrations.ray import connected

pytestmark = [needs_ray]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
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


def state(home: Path) -> Any:
    """The search as Tune saved it last."""
    from believer.integrations.ray import BelieverSearch

    found = BelieverSearch(seed=None)
    found.restore_from_dir(str(home / "study"))
    return found


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
    saved = state(tmp_path)
    assert sorted(trial.came_back for trial in saved._trials.values()) == sorted(r.metrics["loss"] for r in results)


@pytest.mark.usefixtures("cluster")
def test_a_trial_that_raises_has_failed_until_a_run_is_taken_up(tmp_path: Path) -> None:
    from ray import tune

    results = tuner(failing, tmp_path, 5, points_to_evaluate=[{"x": 1.5, "inner": {"n": 0}}]).fit()
    assert results.num_errors >= 1
    before = state(tmp_path)._trials
    assert before[0].came_back == "the trial ended with an error"
    assert sum(isinstance(trial.came_back, float) for trial in before.values()) == 5 - results.num_errors > 0
    (tmp_path / "mended").touch()
    again = tune.Tuner.restore(str(tmp_path / "study"), trainable=failing, restart_errored=True).fit()
    assert (len(again), again.num_errors) == (5, 0)
    after = state(tmp_path)._trials
    assert [trial.params for trial in after.values()] == [trial.params for trial in before.values()]
    assert all(isinstance(trial.came_back, float) for trial in after.values())


@posix
@pytest.mark.usefixtures("cluster")
def test_a_worker_killed_fails_its_trial_and_the_run_goes_on(tmp_path: Path) -> None:
    results = tuner(dying, tmp_path, 4).fit()
    assert results.num_errors == 1
    answers = [trial.came_back for trial in state(tmp_path)._trials.values()]
    assert answers.count("the trial ended with an error") == 1
    assert sum(isinstance(answer, float) for answer in answers) == 3


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
    saved = sorted(trial.came_back for trial in state(tmp_path)._trials.values())
    assert saved == sorted(result.metrics["loss"] for result in results)
