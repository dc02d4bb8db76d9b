from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from believer.diagnostics.source import FromProblem
from believer.errors import InvalidInput
from believer.experiments import Cell, plain
from believer.surrogates.protocols import Model
from believer_paper.cells import steps
from believer_paper.cells.fitted import fitted

DATA = FromProblem("hartmann6", 12).draw(0)
X = np.random.default_rng(0).random((1, 6))
AT = np.random.default_rng(1).random((20, 6))


def step(preset: str = "ours", d: int = 6) -> dict[str, Any]:
    return steps.step(Cell("step", {"preset": preset, "n": 12, "d": d, "q": 3}, 0))


@pytest.fixture(scope="module")
def timed() -> dict[str, Any]:
    return step()


def test_a_step_tells_seconds_of_every_surrogate_and_of_two_batches(timed: dict[str, Any]) -> None:
    plain.encode(timed, "a step")
    assert set(timed) == {*steps.UPDATES, "batch"}
    assert set(timed["batch"]) == {"gp", "neural"}
    for one in [*(timed[name] for name in steps.UPDATES), *timed["batch"].values()]:
        assert set(one) == {"seconds", "wall_seconds"}
        assert len(one["seconds"]) == len(one["wall_seconds"])
        assert min(one["seconds"]) > 0.0
        assert min(one["wall_seconds"]) > 0.0


def test_several_rounds_take_turns_after_a_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def recorded(work: Any, times: int = 1) -> tuple[float, float]:
        asked.append((work.func.__qualname__, times))
        return 1.0, 2.0

    monkeypatch.setattr(steps, "_timed", recorded)
    result = step()
    block, turn = steps._BLOCK, ["GPModel.condition", "MQRBFModel.condition", "NeuralEnsemble.fit", "RandomForest.fit"]
    assert asked == [
        *((name, block) for name in turn[:2]),
        *steps._ROUNDS * [(name, block if "condition" in name else 1) for name in turn],
        *2 * [("FittedProblem.batch", 1)],
    ]
    assert result["forest"] == {"seconds": [1.0] * steps._ROUNDS, "wall_seconds": [2.0] * steps._ROUNDS}


@pytest.mark.parametrize("preset", ["printed", "ours"])
@pytest.mark.parametrize(("name", "update"), [("gp", "condition"), ("mq_rbf", "condition"), ("forest", "refit")])
def test_what_is_timed_is_the_update_that_a_batch_makes(preset: str, name: str, update: str) -> None:
    scene = fitted(preset, name, "hartmann6", DATA, 0)
    made = steps._update(scene, update, X, scene.request.randomness(0, "refit"))()
    assert isinstance(made, Model)
    mine, told = made.predict(AT), scene.updated(X[0], update).predict(AT)
    assert np.array_equal(mine.mean, told.mean)
    assert np.array_equal(mine.std, told.std)
    assert not np.array_equal(mine.mean, scene.request.model.predict(AT).mean)


def test_seconds_are_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"cpu": 0.0, "wall": 0.0}
    monkeypatch.setattr(time, "process_time", lambda: now["cpu"])
    monkeypatch.setattr(time, "perf_counter", lambda: now["wall"])

    def work() -> None:
        now["cpu"] += 2.0
        now["wall"] += 3.0

    assert steps._timed(work, 5) == (2.0, 3.0)


def test_only_the_problems_own_dimension_can_be_timed() -> None:
    with pytest.raises(InvalidInput, match="d must be 6, that of hartmann6; got 8"):
        step(d=8)


def test_scaling_tells_seconds_for_every_n() -> None:
    ns = [10, 40, 20]
    result = steps.scaling(Cell("scaling", {"preset": "ours", "ns": ns}, 0))
    plain.encode(result, "scaling")
    assert result["ns"] == ns
    for name in ("seconds", "wall_seconds", "anew_seconds", "samples_seconds"):
        assert len(result[name]) == len(ns)
        assert np.min(result[name]) > 0.0
    assert result["seconds"] == pytest.approx(np.median(result["samples_seconds"], axis=1))


def test_scaling_times_one_conditioning_step_at_each_n_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []

    def recorded(work: Callable[[], Any], times: int = 1) -> tuple[float, float]:
        made = work()
        asked.append((len(made.X), times, made.factor.tail.shape[0]))
        return float(len(made.X)), 0.0

    monkeypatch.setattr(steps, "_timed", recorded)
    ns = [1000, 40]
    result = steps.scaling(Cell("scaling", {"preset": "ours", "ns": ns}, 0))
    turn = [(1001, 4, 1), (41, steps._BLOCK, 1)]
    assert asked == [(1000, 1, 0), (40, 1, 0), *steps._SCALING_ROUNDS * turn]
    assert result["seconds"] == [1001.0, 41.0]
    assert result["anew_seconds"] == [1000.0, 40.0]
