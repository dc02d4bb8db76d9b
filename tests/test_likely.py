"""Beliefs about where the optimum is: they help where they are right, and fade."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.batch import STRATEGIES
from believer.batch.leaning import BETA, Leaning
from believer.errors import InvalidInput
from believer.maximize.objective import Objective
from believer.replay import replay
from believer.space.likely import Likely

SPACE = bv.Space(
    {
        "kind": bv.Categorical(["a", "b"]),
        "x": bv.Float(0, 2, likely=(0.5, 0.2)),
        "rate": bv.Float(1e-4, 1, log=True, likely=(1e-2, 3), when={"kind": "a"}),
        "n": bv.Int(1, 20, likely=(6, 2)),
        "size": bv.Discrete([1, 2, 4, 8, 16], log=True, likely=(4, 2)),
        "free": bv.Float(0, 1),
    }
)


def beliefs(space: bv.Space) -> Likely:
    found = space.likely()
    assert found is not None
    return found


def test_a_density_has_mass_one_and_its_peak_at_the_center_whatever_the_scale() -> None:
    grid = np.linspace(0.0, 1.0, 20_001)[:, None]
    cases: list[tuple[Any, float]] = [
        (bv.Float(0, 2, likely=(0.5, 0.2)), 0.25),
        (bv.Float(0, 2, likely=(2, 5)), 1.0),
        (bv.Float(1e-4, 1, log=True, likely=(1e-2, 3)), 0.5),
        (bv.Int(0, 10, likely=(3, 1)), 0.3),
        (bv.Discrete([1, 10, 100], log=True, likely=(10, 1.01)), 0.5),
    ]
    for parameter, center in cases:
        space = bv.Space({"x": parameter})
        log, _ = beliefs(space).log_density(grid, bv.Space.cube(1).region())
        assert np.exp(log).mean() == pytest.approx(1.0, abs=2e-3), parameter
        assert grid[np.argmax(log), 0] == pytest.approx(center, abs=1e-4), parameter
        assert log.min() >= np.log(0.05) - 1e-12, parameter


def test_what_does_not_count_says_nothing_and_slopes_are_those_of_the_values() -> None:
    region, likely = SPACE.region(), beliefs(SPACE)
    X = region.spread(np.random.default_rng(0).random((40, SPACE.dim)))
    value, slope = likely.log_density(X, region)
    without = bv.Space({name: p for name, p in SPACE.parameters.items() if name != "rate"})
    place = dict(zip(SPACE.names, range(len(SPACE)), strict=True))["rate"] + 1  # the kind has two columns
    is_b = X[:, 1] == 1.0
    other, _ = beliefs(without).log_density(np.delete(X, place, axis=1), without.region())
    np.testing.assert_allclose(value[is_b], other[is_b], rtol=1e-12)
    assert (slope[is_b][:, place] == 0.0).all()
    for column in range(SPACE.dim):
        step = np.zeros(SPACE.dim)
        step[column] = 1e-6
        ends = [likely.log_density(np.where(X == 0.5, X, X + sign * step), region)[0] for sign in (1.0, -1.0)]
        moved = X[:, column] != 0.5
        if column > 1:  # those of the kind say what counts
            np.testing.assert_allclose(((ends[0] - ends[1]) / 2e-6)[moved], slope[moved, column], rtol=1e-4, atol=1e-5)


def test_half_of_a_design_follows_what_is_likely() -> None:
    space = bv.Space({"x": bv.Float(0, 1, likely=(0.2, 0.05)), "n": bv.Int(1, 100, log=True, likely=(10, 1.5))})
    study = bv.Optimizer(space, n_init=400, seed=0)
    points = [trial.params for trial in study.ask(400)]
    near = np.mean([abs(params["x"] - 0.2) < 0.1 for params in points])
    assert 0.5 < near < 0.68
    assert np.mean([10 / 1.5**2 < params["n"] < 10 * 1.5**2 for params in points]) > 0.5
    assert max(params["x"] for params in points) > 0.95


@each("strategy", sorted({*STRATEGIES} - {"qei", "dpp", "random", "lp_lipschitz", "fantasies"}))
def test_strategies_lean_on_a_belief_where_results_say_little(strategy: str) -> None:
    found = []
    for likely in ((0.9, 0.05), (0.1, 0.05)):
        study = bv.Optimizer(
            bv.Space({"x": bv.Float(0, 1, likely=likely), "y": bv.Float(0, 1)}), strategy=strategy, seed=0
        )
        for x, y in ((0.5, 0.5), (0.45, 0.1), (0.55, 0.9)):
            study.observe({"x": x, "y": y}, 1.0 + 0.01 * y)
        study.observe({"x": 0.5, "y": 0.3}, 0.99)
        found.append(study.ask(1)[0].params["x"])
    assert found[0] > found[1] + 0.1


def distance(params: dict[str, Any], optimum: float) -> float:
    return float(sum((params[name] - optimum) ** 2 for name in "abcd") + 0.1 * np.sin(9 * params["a"]))


def best_with(center: float | None, evaluations: int, seed: int) -> float:
    likely = None if center is None else (center, 0.1)
    study = bv.Optimizer(bv.Space({name: bv.Float(0, 1, likely=likely) for name in "abcd"}), seed=seed)
    while study.counts.done < evaluations:
        for trial in study.ask(4):
            study.tell(trial, distance(trial.params, 0.3))
    assert study.best is not None
    return study.best[1]


def test_a_right_belief_helps_and_a_wrong_one_is_overcome() -> None:
    early = {center: np.median([best_with(center, 8, seed) for seed in range(5)]) for center in (None, 0.3)}
    assert early[0.3] < early[None]
    late = {center: np.median([best_with(center, 32, seed) for seed in range(3)]) for center in (None, 0.9)}
    assert late[0.9] < late[None] + 0.01


def test_a_belief_fades_with_the_number_of_results() -> None:
    space, weights = bv.Space({"x": bv.Float(0, 1, likely=(0.9, 0.1))}), []
    for n in (10, 40):
        study = bv.Optimizer(space, seed=0)
        for x in np.linspace(0.0, 1.0, n):
            study.observe({"x": float(x)}, float((x - 0.3) ** 2))
        seen: list[Objective] = []

        class Watching:
            def maximize(self, objective: Objective, search: Any, rng: Any) -> Any:
                seen.append(objective)  # noqa: B023
                return bv.maximize.Multistart().maximize(objective, search, rng)

        watched = bv.Optimizer(space, seed=0, maximizer=Watching())
        for trial in study.trials:
            watched.observe(trial.params, study.outcomes[trial.id])
        watched.ask(1)
        (leans,) = seen
        assert isinstance(leans, Leaning)
        weights.append(leans.weight)
    assert weights == pytest.approx([BETA / 10, BETA / 40])


def test_beliefs_are_in_the_journal_and_a_change_of_them_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    assert bv.Space.from_config(json.loads(json.dumps(SPACE.to_config()))) == SPACE
    assert eval(repr(SPACE), {**vars(bv)}) == SPACE
    with bv.Optimizer.open(path, SPACE, seed=0, n_init=4) as study:
        for q in (4, 3):
            for trial in study.ask(q):
                study.tell(trial, trial.params["x"] + trial.params["n"])
    other = {**SPACE.parameters, "x": bv.Float(0, 2)}
    with pytest.raises(InvalidInput, match=r"parameter x: .*likely"):
        bv.Optimizer.open(path, bv.Space(other))
    with bv.Optimizer.open(path, bv.Space(other), change=True) as study:
        study.ask(1)
        assert not study.outside
    assert replay(path).identical


@each(
    "likely, message",
    [
        ((0.5,), "likely must be"),
        (0.5, "likely must be"),
        ("ab", "likely must be"),
        ((0.5, float("nan")), "likely must be"),
        ((3, 0.1), "center of likely must lie in"),
        ((0.5, 0), "width of likely must be above 0"),
    ],
)
def test_beliefs_that_make_no_sense_are_refused(likely: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bv.Float(0, 1, likely=likely)
    with pytest.raises(InvalidInput, match="a factor above 1"):
        bv.Float(1e-3, 1, log=True, likely=(0.1, 0.5))
