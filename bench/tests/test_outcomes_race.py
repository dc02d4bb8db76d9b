"""The race over problems with several outcomes: how it is judged."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from believer_bench.problems import SEVERAL


@pytest.fixture
def race(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # the script sets them when it is loaded; here they are taken back
    return import_module("outcomes")


def test_hypervolume_is_the_share_of_random_points_that_are_dominated(race: Any) -> None:
    rng = np.random.default_rng(0)
    for objectives in (1, 2, 3):
        F, reference = rng.random((12, objectives)), np.full(objectives, 0.9)
        samples = 0.9 * rng.random((20_000, objectives))
        dominated = np.mean(np.any(np.all(samples[:, None, :] >= F, axis=2), axis=1))
        assert race.hypervolume(F, reference) == pytest.approx(dominated * 0.9**objectives, abs=0.015)
    assert race.hypervolume(np.array([[1.0, 0.0], [0.0, 2.0]]), np.ones(2)) == 0.0
    assert race.hypervolume(np.array([[0.5, 0.5]] * 2), np.ones(2)) == 0.25


def test_infeasible_points_bring_no_hypervolume_and_none_is_lost(race: Any) -> None:
    problem = SEVERAL["c2_dtlz2"]()
    Y = problem.evaluate(np.random.default_rng(2).random((60, 4)))
    curve = race.hypervolumes(problem, Y)
    assert (np.diff(curve) >= 0.0).all()
    assert (np.diff(curve)[~problem.feasible(Y)[1:]] == 0.0).all()
    assert 0.0 < curve[-1] < problem.hypervolume


def test_a_run_that_found_nothing_feasible_is_worse_than_any_and_equal_to_another(race: Any) -> None:
    ends = {
        race.Cell(0, "gramacy", "a"): np.inf,
        race.Cell(0, "gramacy", "b"): 3.0,
        race.Cell(1, "gramacy", "a"): np.inf,
        race.Cell(1, "gramacy", "b"): np.inf,
        race.Cell(2, "gramacy", "a"): -2.0,
        race.Cell(2, "gramacy", "b"): 1.0,
        race.Cell(3, "gramacy", "a"): 0.0,
    }
    np.testing.assert_array_equal(race.differences(ends, "a", "b", "gramacy"), [1.0, 0.0, -3.0])
    np.testing.assert_array_equal(race.differences(ends, "b", "a", "gramacy"), [-1.0, 0.0, 3.0])


def test_a_run_is_a_line_that_is_not_run_again(race: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert race.run(["random"], ["gardner2", "zdt1"], [0, 1], tmp_path) == 0
    rows = [json.loads(line) for line in (tmp_path / "outcomes-random.jsonl").read_text().splitlines()]
    assert [(row["seed"], row["problem"]) for row in rows] == [(s, p) for s in (0, 1) for p in ("gardner2", "zdt1")]
    for row in rows:
        problem = SEVERAL[row["problem"]]()
        n = 2 * (problem.space.dim + 1) + 32
        assert np.shape(row["outcomes"]) == (n, len(problem.goals))
        assert (len(row["reached"]), len(row["cpu_seconds"])) == (9, 8)
    report = race.report(tmp_path, "believer")
    assert "| zdt1 |" in report
    assert "No seeds in common" in report
    capsys.readouterr()
