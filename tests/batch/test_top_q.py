from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from batch_requests import FAST, Watching, pending, points, randomness, request_for
from each import each

from believer import Candidates, Categorical, Float, Int, Optimizer, Space
from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import near_any
from believer.batch.top_q import TopQ
from believer.maximize import FixedStarts, Search
from believer.problems import branin
from believer.surrogates import GP
from believer.testing.fake import FakeSurrogate


def test_every_point_is_the_best_of_one_acquisition_that_is_not_taken() -> None:
    request = request_for()
    bound = PointwiseObjective(LogEI(), request.model, float(request.data.y.min()))
    near_best, avoid = request.data.X[np.argsort(request.data.y)[:3]], request.avoid
    found = points(TopQ().choose(request))
    for trial, x in zip(request.ids, found, strict=True):
        best = FAST.maximize(bound, Search(request.region, near_best, avoid), randomness(trial, "maximize"))
        np.testing.assert_array_equal(x, best.x)
        avoid = np.vstack([avoid, x])
    assert not any(near_any(found[i : i + 1], found[:i])[0] for i in range(1, 3))


def test_choosing_at_once_is_choosing_one_at_a_time_with_the_rest_pending() -> None:
    request = request_for()
    at_once = TopQ().choose(request)
    X = points(at_once)
    for i, trial in enumerate(request.ids):
        alone = TopQ().choose(pending(replace(request, ids=(trial,)), request.ids[:i], X[:i]))
        np.testing.assert_array_equal(points(alone), X[i : i + 1])
        assert alone.choices[0].provenance == at_once.choices[i].provenance


def test_pending_points_are_avoided_and_change_nothing_else() -> None:
    request = request_for()
    out = pending(request, (4, 5), np.array([[0.05, 0.95], [0.95, 0.05]]))
    np.testing.assert_array_equal(points(TopQ().choose(out)), points(TopQ().choose(request)))


def test_the_points_come_out_nearly_identical_and_the_verdict_says_so() -> None:
    problem = branin()
    verdicts = []
    for strategy in (TopQ(), "kb"):
        optimizer = Optimizer(problem.space, strategy=strategy, seed=1, n_init=8)
        for trial in optimizer.ask(8):
            optimizer.tell(trial, problem(trial.params))
        verdicts.append(optimizer.ask(4).verdict)
    naive, kb = verdicts
    assert len(naive.near_duplicates) == 6
    assert "6 pairs nearly the same: look before you pay for both." in str(naive)
    assert naive.gain is not None
    assert kb.gain is not None
    assert naive.gain.added < 0.05 < kb.gain.added
    assert naive.gain.slots == 1 < kb.gain.slots
    assert not kb.near_duplicates


def test_where_repeats_are_welcome_the_batch_is_one_point() -> None:
    found = points(TopQ().choose(request_for(distinct=False, maximizer=FixedStarts())))
    assert (found == found[0]).all()


@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_the_value_to_beat_is_that_of_real_results_under_the_rule_for_noise(noise: float) -> None:
    watch = Watching()
    request = request_for(noise=noise, acquisition=watch)
    TopQ().choose(request)
    least = request.model.predict(request.data.X).mean.min() if noise > 1e-3 else request.data.y.min()
    assert set(watch.seen) == {float(least)}


def test_provenance_counts_the_better_points_that_are_taken() -> None:
    grid = Space({"k": Int(1, 9)})
    optimizer = Optimizer(grid, strategy=TopQ(), n_init=2, seed=0)
    for trial in optimizer.ask(2):
        optimizer.tell(trial, float(trial.params["k"]))
    first, second, third = (trial.provenance for trial in optimizer.ask(3))
    assert first.startswith("chosen at LogEI rank ")
    ranks = [int(words.split("rank ")[1].split(";")[0]) for words in (first, second, third)]
    assert ranks == sorted(set(ranks))
    assert third.endswith("handed out already")


@each(
    "space",
    [
        Space({"x": Float(-1.0, 2.0), "k": Int(1, 9), "kind": Categorical(("a", "b"))}),
        Space({"k": Int(1, 4), "kind": Categorical(("a", "b"))}),
        Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, lambda p: bool(p["x"] + 2.0 * p["y"] < 0.6)),
    ],
    ids=["mixed", "finite", "constraint"],
)
@each("surrogate", [GP(), FakeSurrogate()], ids=["gp", "no gradients"])
@each("maximize", [False, True])
def test_any_space_gets_distinct_points_the_same_for_the_same_seed(
    space: Space, surrogate: Any, maximize: bool
) -> None:
    def suggest() -> list[dict[str, Any]]:
        quick = Candidates(candidates=32, neighbors=4, survivors=4, rounds=1)
        optimizer = Optimizer(
            space, surrogate=surrogate, strategy=TopQ(), n_init=3, seed=2, maximize=maximize, maximizer=quick
        )
        for i, trial in enumerate(optimizer.ask(3)):
            optimizer.tell(trial, float(i)) if i < 2 else optimizer.tell(trial, error="no result")
        optimizer.ask(2)
        optimizer.ask(3)
        return [trial.params for trial in optimizer.trials]

    found = suggest()
    units = space.encode(found)
    assert all(space.allows(params) for params in found)
    assert not any(near_any(units[i : i + 1], units[:i])[0] for i in range(1, len(units)))
    assert suggest() == found


def test_strategies_are_values() -> None:
    assert TopQ() == TopQ()
    assert len({TopQ(), TopQ()}) == 1
