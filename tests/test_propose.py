"""A proposal is a pure function of settings and history, whoever keeps the study."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from each import each
from optimizer_studies import SPACES

from believer import GP, Categorical, Float, Int, Optimizer, Outcome, Space
from believer.errors import InvalidInput, SpaceExhausted
from believer.maximize import Multistart
from believer.plugins import History, ModelCache, StudySettings, propose
from believer.study.formats import encode_event

SPACE = Space({"x": Float(-5.0, 10.0), "n": Int(1, 50), "kind": Categorical(["a", "b"])})
Trials = list[tuple[int, dict[str, Any], Any]]


def value(params: dict[str, Any]) -> float:
    return float((params["x"] - 2.0) ** 2 + 0.01 * (params["n"] - 20) ** 2 + (params["kind"] == "a"))


def kept_elsewhere(opt: Optimizer) -> Trials:
    """The trials of a study as a host would list them."""
    rows = zip(opt.trials, opt.records(), strict=True)
    return [(trial.id, trial.params, row["error"] if row["value"] is None else row["value"]) for trial, row in rows]


def a_study(**settings: Any) -> Optimizer:
    """Results, a failure, and two trials still out."""
    opt = Optimizer(SPACE, n_init=4, seed=7, **settings)
    for _ in range(4):
        batch = opt.ask(3)
        opt.tell_many(batch[:2], [value(trial.params) for trial in batch[:2]])
        opt.tell(batch[2], error="burnt")
    opt.ask(2)
    return opt


@each("strategy", ["kb", "qei", "thompson", "lp", "fantasies", "random"])
@each("maximize", [False, True])
def test_a_host_gets_the_points_that_an_optimizer_would_hand_out(strategy: str, maximize: bool) -> None:
    opt = a_study(strategy=strategy, maximize=maximize)
    settings = StudySettings.of(SPACE, strategy=strategy, n_init=4, seed=7, maximize=maximize)
    known = opt._ledger.fitted
    fitted = None if known is None else known["value"]
    history = History.of(settings, kept_elsewhere(opt), fitted=fitted)
    proposal = propose(settings, history, 3)
    batch = opt.ask(3)
    # The host knows its points by their params, and their places in the cube to rounding. A climb ends where a step
    # gains too little, and the place of a maximum is known to the root of its value.
    atol = math.sqrt(Multistart().climb.value_tol)
    np.testing.assert_allclose(proposal.batch.encoded, batch.encoded, atol=atol)
    assert [trial.id for trial in proposal.batch] == [trial.id for trial in batch]
    assert [trial.provenance for trial in proposal.batch] == [trial.provenance for trial in batch]
    assert proposal.batch.verdict.mean_distance == pytest.approx(batch.verdict.mean_distance, abs=atol)
    assert proposal.model == opt._ledger.model


@pytest.mark.parametrize("strategy", ["kb", "qei", "thompson", "lp", "fantasies", "random"])
def test_an_optimizer_hands_out_what_its_settings_and_history_propose(strategy: str) -> None:
    opt = a_study(strategy=strategy)
    proposal, batch = propose(opt.settings, opt._ledger.history(opt.settings), 3), opt.ask(3)
    np.testing.assert_array_equal(proposal.batch.encoded, batch.encoded)
    assert [trial.params for trial in proposal.batch] == [trial.params for trial in batch]
    assert [trial.provenance for trial in proposal.batch] == [trial.provenance for trial in batch]
    assert proposal.batch.verdict == batch.verdict
    assert proposal.model == opt._ledger.model


def test_a_proposal_is_the_same_with_a_cache_and_without_and_changes_no_argument() -> None:
    opt = a_study()
    settings, cache = opt.settings, ModelCache(opt.settings)
    history = opt._ledger.history(opt.settings)
    before = kept_elsewhere(opt), opt.events
    fresh = propose(settings, history, 3).batch.encoded
    for _ in range(3):
        np.testing.assert_array_equal(propose(settings, history, 3, cache=cache).batch.encoded, fresh)
    propose(settings, history, 2, strategy="thompson", cache=cache)
    propose(settings, history, 1, fixed={"kind": "b"}, cache=cache)
    np.testing.assert_array_equal(propose(settings, history, 3, cache=cache).batch.encoded, fresh)
    assert (kept_elsewhere(opt), opt.events) == before
    for part in (history.data.X, history.data.Y, history.failed, history.pending.X, history.taken):
        assert not part.flags.writeable


def test_a_cache_that_saw_other_data_is_not_taken_for_these() -> None:
    settings = StudySettings.of(SPACE, n_init=2, seed=0)
    cache = ModelCache(settings)
    trials: Trials = [(i, {"x": float(i), "n": 10 + i, "kind": "a"}, float(i % 3)) for i in range(6)]
    changed: Trials = [(i, params, returned + (i == 3)) for i, params, returned in trials]
    fewer = trials[:5]
    for one in (trials, changed, fewer, trials):
        history = History.of(settings, one)
        cached, fresh = propose(settings, history, 2, cache=cache), propose(settings, history, 2)
        np.testing.assert_array_equal(cached.batch.encoded, fresh.batch.encoded)
        assert cached.model == fresh.model


def test_a_cache_that_saw_other_noise_or_failures_is_not_taken_for_these() -> None:
    settings = StudySettings.of(SPACE, n_init=2, seed=0)
    cache = ModelCache(settings)
    trials: Trials = [(i, {"x": float(i), "n": 10 + i, "kind": "a"}, Outcome.of(float(i % 3), 0.1)) for i in range(6)]
    louder: Trials = [(i, params, Outcome.of(float(i % 3), 1.0)) for i, params, _ in trials]
    lost: Trials = [*trials, (6, {"x": 9.0, "n": 1, "kind": "b"}, "burnt")]
    elsewhere: Trials = [*trials, (6, {"x": -4.0, "n": 40, "kind": "b"}, "burnt")]
    seen = set()
    for one in (trials, louder, lost, elsewhere, trials):
        history = History.of(settings, one)
        cached, fresh = propose(settings, history, 1, cache=cache), propose(settings, history, 1)
        np.testing.assert_array_equal(cached.batch.encoded, fresh.batch.encoded)
        at = cache.learned(history).predict(np.full((1, SPACE.dim), 0.4))
        seen.add((float(at.mean[0]), float(at.std[0])))
    assert len(seen) == 4


def test_the_order_in_which_a_host_lists_its_trials_does_not_matter() -> None:
    opt = a_study()
    trials = kept_elsewhere(opt)
    one, other = (propose(opt.settings, History.of(opt.settings, rows), 2) for rows in (trials, trials[::-1]))
    np.testing.assert_array_equal(one.batch.encoded, other.batch.encoded)


def test_nan_is_a_failure_and_ids_may_have_gaps() -> None:
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    params = {"x": 1.0, "n": 5, "kind": "a"}
    trials: Trials = [(3, params, 1.0), (11, {**params, "n": 6}, math.nan), (20, {**params, "n": 7}, None)]
    history = History.of(settings, trials)
    assert (history.ids, history.pending.ids, len(history.failed), history.next_id) == ((3,), (20,), 1, 21)
    assert [trial.id for trial in propose(settings, history, 2).batch] == [21, 22]


def test_a_study_that_has_not_begun_gets_points_of_its_design() -> None:
    settings = StudySettings.of(SPACE, seed=3)
    proposal = propose(settings, History.of(settings, []), 4)
    np.testing.assert_array_equal(proposal.batch.encoded, Optimizer(SPACE, seed=3).ask(4).encoded)
    assert proposal.model is None


@each(
    ("trials", "rule"),
    [
        ([(0, {"x": 1.0}, 1.0)], "n"),
        ([(0, {"x": 1.0, "n": 5, "kind": "a"}, 1.0), (0, {"x": 2.0, "n": 5, "kind": "a"}, 1.0)], "got 0 twice"),
        ([(0, {"x": 1.0, "n": 5, "kind": "a"}, 1e300)], "within"),
        ([("7", {"x": 1.0, "n": 5, "kind": "a"}, 1.0)], "the id of a trial must be a whole number"),
        ([(-1, {"x": 1.0, "n": 5, "kind": "a"}, 1.0)], "the id of a trial must be a whole number"),
        ([(True, {"x": 1.0, "n": 5, "kind": "a"}, 1.0)], "the id of a trial must be a whole number"),
        ([(None, {"x": 1.0, "n": 5, "kind": "a"}, 1.0), (1, {}, 2.0)], "ids whole numbers"),
        (
            [(0, {"x": 1.0, "n": 5, "kind": "a"}, Outcome({"a": 1.0})), (1, {"x": 2.0, "n": 5, "kind": "a"}, 1.0)],
            "same",
        ),
    ],
)
def test_trials_that_make_no_study_are_refused(trials: Trials, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        History.of(StudySettings.of(SPACE, seed=0), trials)


def test_bad_questions_are_refused_before_any_work() -> None:
    class Never:
        def fit(self, *_: object) -> Any:
            raise AssertionError("fitted")

    settings = StudySettings.of(SPACE, n_init=1, surrogate=Never(), seed=0)
    history = History.of(settings, [(0, {"x": 1.0, "n": 5, "kind": "a"}, 1.0)])
    changes: list[dict[str, Any]] = [{"q": 0}, {"q": 1.5}, {"distinct": 1}, {"strategy": "bogus"}, {"fixed": {"y": 1}}]
    for change in changes:
        with pytest.raises(InvalidInput):
            propose(settings, history, **{"q": 1, **change})
    with pytest.raises(InvalidInput, match="a model cache belongs to the settings that it was made with"):
        propose(settings, history, cache=ModelCache(StudySettings.of(SPACE, seed=0)))


def test_a_space_with_too_few_points_left_says_how_many() -> None:
    settings = StudySettings.of(Space({"n": Int(1, 3)}), n_init=1, seed=0)
    history = History.of(settings, [(0, {"n": 1}, 1.0), (1, {"n": 2}, None)])
    with pytest.raises(SpaceExhausted) as caught:
        propose(settings, history, 2)
    assert caught.value.left == 1


@pytest.mark.parametrize("strategy", ["kb", "hedged"])
def test_pending_points_are_conditioned_on_once_in_an_ask(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the strategy, on each of its models: the verdict is measured with the one that it made."""
    opt = Optimizer(SPACES["cube"], n_init=4, strategy=strategy, seed=0)
    opt.tell_many(opt.ask(4), [1.0, 2.0, 3.0, 4.0])
    out = opt.ask(3)
    fresh = ModelCache(opt.settings)
    told: dict[tuple[float, ...], list[Any]] = {}
    condition = type(GP().fit(opt._ledger.history(opt.settings).data, np.random.default_rng(0))).condition

    def spy(self: Any, data: Any) -> Any:
        told.setdefault(tuple(self.lengthscales.tolist()), []).extend(data.X.tolist())
        return condition(self, data)

    monkeypatch.setattr("believer.surrogates.gp.GPModel.condition", spy)
    proposal = propose(opt.settings, opt._ledger.history(opt.settings), 2, cache=fresh)
    assert len(told) == (1 if strategy == "kb" else 2), "the model, and the hedge"
    every = [*out.encoded.tolist(), *proposal.batch.encoded.tolist()]
    own, *hedges = told.values()
    assert own == every
    assert all(hedge == every[:-1] for hedge in hedges), "whatever nobody asks for again is not made"


def test_proposing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, n_init=1, journal=path, seed=0) as opt:
        opt.observe({"x": 1.0, "n": 5, "kind": "a"}, 1.0)
        before = path.read_bytes()
        propose(opt.settings, opt._ledger.history(opt.settings), 3)
        assert path.read_bytes() == before
        assert opt.pending == ()


def test_ids_of_numpy_are_plain_in_what_comes_out() -> None:
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    params = {"x": 1.0, "n": 5, "kind": "a"}
    small: Trials = [(cast(int, np.uint8(254)), params, 1.0), (cast(int, np.uint8(255)), {**params, "n": 6}, None)]
    event = propose(settings, History.of(settings, small), 2).event()
    assert [trial["id"] for trial in json.loads(encode_event(event))["trials"]] == [256, 257]


def test_hyperparameters_of_results_that_are_gone_are_a_start_at_most() -> None:
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    trials: Trials = [(i, {"x": float(i), "n": 10 + i, "kind": "a"}, float(i % 3)) for i in range(6)]
    first = propose(settings, History.of(settings, trials), 1)
    assert first.model is not None
    fitted = (tuple(range(6)), first.model)
    fewer = propose(settings, History.of(settings, trials[:5], fitted=fitted), 1)
    assert fewer.model != first.model
    others: Trials = [(10 + i, params, value) for i, params, value in trials]
    fresh, gone = (propose(settings, History.of(settings, others, fitted=given), 1) for given in (None, fitted))
    assert gone.model == fresh.model


def test_a_cache_that_fitted_from_another_start_is_not_taken_for_this_one() -> None:
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    cache = ModelCache(settings)
    trials: Trials = [(i, {"x": float(i), "n": 10 + i, "kind": "a"}, float(i % 3)) for i in range(9)]
    early = propose(settings, History.of(settings, trials[:4]), 1).model
    assert early is not None
    far = {"outputs": {"value": {**early["outputs"]["value"], "lengthscales": [50.0] * SPACE.dim}}}
    for fitted in (None, ((0, 1, 2, 3), early), ((0, 1, 2, 3), far), (tuple(range(9)), far), None):
        history = History.of(settings, trials, fitted=fitted)
        cached, fresh = propose(settings, history, 2, cache=cache), propose(settings, history, 2)
        assert cached.model == fresh.model
        np.testing.assert_array_equal(cached.batch.encoded, fresh.batch.encoded)


@pytest.mark.parametrize("strategy", ["kb", "cl_min", "top_q"])
def test_points_of_the_user_in_a_batch_are_judged_as_its_other_points_are(strategy: str) -> None:
    """Given results and what was pending before, not failures, nor the points that came first in the same batch."""
    opt = a_study(strategy=strategy)
    opt.enqueue({"x": 2.0, "n": 20, "kind": "b"})
    history = opt._ledger.history(opt.settings)
    batch = propose(opt.settings, history, 3).batch
    assert [trial.origin for trial in batch] == ["enqueued", "model", "model"]
    learned = ModelCache(opt.settings).learned(history)
    model: Any = learned.fit
    assert not model.is_noisy
    f = model.sample(np.vstack([batch.encoded, history.pending.X]), 1 << 14, np.random.default_rng(0))
    gains = np.maximum(np.minimum(learned.data.y.min(), f[:, 3:].min(axis=1)) - f[:, :3].min(axis=1), 0.0)
    assert batch.verdict.gain is not None
    assert batch.verdict.gain.n_pending == 2
    assert batch.verdict.gain.together == pytest.approx(gains.mean(), abs=5.0 * gains.std() / np.sqrt(512.0))


@pytest.mark.parametrize("seed", range(4))
def test_a_failure_beside_the_best_result_promises_nothing(seed: int) -> None:
    """Told as the worst result it bends the model, which then expects the incredible elsewhere; not so the verdict."""
    space = Space.cube(2)
    opt = Optimizer(space, seed=seed, n_init=6)
    rng = np.random.default_rng(seed)
    for x in rng.random((12, 2)):
        opt.observe({"x0": x[0], "x1": x[1]}, float(((x - 0.4) ** 2).sum()))
    values = [row["value"] for row in opt.records()]
    assert opt.best is not None
    params, _ = opt.best
    opt.observe({"x0": params["x0"] + 0.01, "x1": params["x1"]}, error="it burnt")
    gain = opt.ask(3).verdict.gain
    assert gain is not None
    assert gain.together < max(values) - min(values)
