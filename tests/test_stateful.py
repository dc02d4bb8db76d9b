"""Random lives of a study, beside a simple model of it: whatever is called, in whatever order, the books agree."""

from __future__ import annotations

import math
import operator
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from optimizer_studies import NAMES, below, gap

from believer import Categorical, Float, Int, Multistart, Optimizer, Space, Trial
from believer.arrays import SAME_POINT
from believer.errors import InvalidInput, SpaceExhausted, TrialError


def odd_or_a(params: dict[str, Any]) -> bool:
    return bool(params["n"] % 2 or params["c"] == "a")


SPACES: dict[str, Space] = {
    "cube": Space.cube(2),
    "mixed": Space({"lr": Float(1e-4, 10.0, log=True), "n": Int(1, 6), "c": Categorical(["a", None, 2.5])}),
    "constrained": Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 15.0)}, below),
    "finite": Space({"n": Int(0, 4), "c": Categorical(["a", "b"])}, odd_or_a),
    "tiny": Space({"s": Float(0.0, 0.5, step=0.125)}),
    "long grids": Space({"n": Int(0, 20_000), "x": Float(0.0, 2.0, step=1e-4)}),
}
QUICK = Multistart(starts=2, candidates=32, neighbors=4)

values = st.one_of(
    st.floats(-5.0, 5.0),
    st.sampled_from([0.0, -0.0, 1.0, 1e-9, 1e9, -1e12, math.nan, math.inf, -math.inf]),
)


class Study(RuleBasedStateMachine):
    """The machine keeps its own books: points, statuses, values and the queue."""

    @initialize(
        name=st.sampled_from(sorted(SPACES)),
        strategy=st.sampled_from(NAMES),
        n_init=st.integers(1, 4),
        seed=st.integers(0, 3),
        maximize=st.booleans(),
    )
    def begin(self, name: str, strategy: str, n_init: int, seed: int, maximize: bool) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.space = SPACES[name]
        self.maximize = maximize
        self.finite = self.space.decode(self.space.region().points()) if name in ("finite", "tiny") else None
        self.study = Optimizer(
            self.space, strategy=strategy, n_init=n_init, seed=seed, maximize=maximize, maximizer=QUICK
        )
        self.params: list[dict[str, Any]] = []
        self.units: list[np.ndarray[Any, np.dtype[np.float64]]] = []
        self.status: list[str] = []
        self.values: dict[int, float] = {}
        self.queue: list[dict[str, Any]] = []
        self.suggested: list[dict[str, Any]] = []
        self.saves = 0

    def teardown(self) -> None:
        if hasattr(self, "study"):
            self.study.close()
            self.folder.cleanup()

    def having(self, *statuses: str) -> list[int]:
        return [i for i, status in enumerate(self.status) if status in statuses]

    def left(self) -> int | None:
        """How many points a distinct ask could still invent; None in an infinite space."""
        if self.finite is None:
            return None
        known = [*self.params, *self.suggested, *self.queue]
        return sum(point not in known for point in self.finite)

    # ------------------------------------------------------------------ ask

    def take(self, trials: list[Trial], distinct: bool) -> None:
        """Enter handed-out trials into the books, and check that each may be what it is."""
        for trial in trials:
            assert trial.id == len(self.params)
            assert self.space.check(trial.params) == trial.params
            assert self.space.allows(trial.params)
            assert trial.encoded.min() >= 0.0
            assert trial.encoded.max() <= 1.0
            assert gap(trial.encoded, self.space.encode([trial.params])[0]) <= 1e-9
            if self.queue:
                assert trial.params == self.queue.pop(0)
                assert trial.origin == "enqueued"
            else:
                assert trial.origin in ("design", "model")
                if distinct:
                    assert trial.params not in self.params
                    assert trial.params not in self.suggested
                    assert all(gap(trial.encoded, unit) > SAME_POINT for unit in self.units)
            self.params.append(trial.params)
            self.suggested.append(trial.params)
            self.units.append(trial.encoded)
            self.status.append("pending")

    @rule(q=st.integers(1, 3), distinct=st.sampled_from([True, True, True, False]))
    def ask(self, q: int, distinct: bool) -> None:
        left = self.left()
        if distinct and left is not None and q > len(self.queue) + left:
            with pytest.raises(SpaceExhausted):
                self.study.ask(q)
            return
        batch = self.study.ask(q, distinct=distinct)
        assert len(batch) == q
        assert batch.encoded.shape == (q, self.space.dim)
        self.take(list(batch), distinct)

    @rule(strategy=st.sampled_from(NAMES))
    def ask_by_another_strategy(self, strategy: str) -> None:
        if self.left() != 0 or self.queue:
            self.take(list(self.study.ask(1, strategy=strategy)), True)

    @rule(u=st.integers(0, 10**6), q=st.integers(1, 2))
    def ask_with_a_parameter_fixed(self, u: int, q: int) -> None:
        point = self.point(u)
        held = {self.space.names[0]: point[self.space.names[0]]}
        [(name, value)] = held.items()
        waiting = [params for params in self.queue if params[name] == value]
        if self.finite is not None:
            known = [*self.params, *self.suggested, *waiting]
            fresh = [p for p in self.finite if p[name] == value and p not in known]
            if q > len(waiting[:q]) + len(fresh):
                with pytest.raises(SpaceExhausted):
                    self.study.ask(q, fixed=held)
                return
        batch = self.study.ask(q, fixed=held)
        rest = list(self.queue)
        for params in waiting[:q]:
            rest.remove(params)
        self.queue = waiting[:q]
        self.take(list(batch), True)
        assert self.queue == []
        self.queue = rest
        for trial in batch:
            same = math.isclose if isinstance(value, float) else operator.eq
            assert same(trial.params[name], value)

    # ----------------------------------------------------------------- tell

    def enter(self, trial_id: int, value: float) -> None:
        if math.isfinite(value):
            self.status[trial_id] = "done"
            self.values[trial_id] = value
        else:
            self.status[trial_id] = "failed"

    @precondition(lambda self: self.having("pending"))
    @rule(pick=st.integers(0, 10**6), value=values, by_id=st.booleans())
    def tell(self, pick: int, value: float, by_id: bool) -> None:
        ids = self.having("pending")
        trial_id = ids[pick % len(ids)]
        self.study.tell(trial_id if by_id else self.study.trials[trial_id], value)
        self.enter(trial_id, value)

    @precondition(lambda self: self.having("pending"))
    @rule(pick=st.integers(0, 10**6), value=values, off=st.floats(-0.2, 0.2))
    def tell_elsewhere(self, pick: int, value: float, off: float) -> None:
        """A result that was obtained with other numbers: between steps, or a little out of bounds."""
        ids = self.having("pending")
        trial = self.study.trials[ids[pick % len(ids)]]
        floats = {name for name, parameter in self.space.parameters.items() if isinstance(parameter, Float)}
        moved = {name: v * (1.0 + off) + off for name, v in trial.params.items() if name in floats}
        moved = {name: v for name, v in moved.items() if v > 0.0 or name != "lr"}
        self.study.tell(trial, value, params=moved)
        self.params[trial.id] = self.study.trials[trial.id].params
        assert gap(self.space.located(trial.params | moved)[0], self.study.trials[trial.id].encoded) <= 1e-9
        assert {name: self.params[trial.id][name] for name in moved} == pytest.approx(moved, rel=1e-9, abs=1e-9)
        self.units.append(self.study.trials[trial.id].encoded)
        self.enter(trial.id, value)

    @precondition(lambda self: self.having("pending"))
    @rule(numbers=st.lists(values, min_size=1, max_size=4), backwards=st.booleans())
    def tell_many(self, numbers: list[float], backwards: bool) -> None:
        trials = list(self.study.pending)[: len(numbers)]
        numbers = numbers[: len(trials)]
        if backwards:
            trials.reverse()
        self.study.tell_many(trials, numbers)
        for trial, value in zip(trials, numbers, strict=True):
            self.enter(trial.id, value)

    @precondition(lambda self: self.having("pending", "abandoned"))
    @rule(pick=st.integers(0, 10**6))
    def fail(self, pick: int) -> None:
        ids = self.having("pending", "abandoned")
        self.study.tell(ids[pick % len(ids)], error="it broke")
        self.enter(ids[pick % len(ids)], math.nan)

    @precondition(lambda self: self.having("pending", "abandoned"))
    @rule(pick=st.integers(0, 10**6))
    def abandon(self, pick: int) -> None:
        ids = self.having("pending", "abandoned")
        self.study.abandon(ids[pick % len(ids)])
        self.status[ids[pick % len(ids)]] = "abandoned"

    @precondition(lambda self: self.having("abandoned"))
    @rule(pick=st.integers(0, 10**6), value=values)
    def tell_late(self, pick: int, value: float) -> None:
        ids = self.having("abandoned")
        self.study.tell(ids[pick % len(ids)], value)
        self.enter(ids[pick % len(ids)], value)

    @precondition(lambda self: self.having("done", "failed"))
    @rule(pick=st.integers(0, 10**6), value=values)
    def nothing_is_told_or_abandoned_after_a_result(self, pick: int, value: float) -> None:
        ids = self.having("done", "failed")
        answered = ids[pick % len(ids)]
        with pytest.raises(TrialError):
            self.study.tell(answered, value)
        with pytest.raises(TrialError):
            self.study.abandon(answered)
        with pytest.raises(TrialError):
            self.study.tell_many([*self.having("pending"), answered], [1.0] * (1 + len(self.having("pending"))))

    def may_be(self, params: dict[str, Any]) -> bool:
        """Whether the space may suggest a point."""
        try:
            return self.space.allows(self.space.check(params))
        except InvalidInput:
            return False

    def point(self, u: int) -> dict[str, Any]:
        """Some allowed point of the space."""
        rng = np.random.default_rng(u)
        while True:
            params = self.space.decode(rng.random((1, self.space.dim)))[0]
            if self.space.allows(params):
                return params

    @rule(u=st.integers(0, 10**6), value=values)
    def observe(self, u: int, value: float) -> None:
        trial = self.study.observe(self.point(u), value)
        assert trial.id == len(self.params)
        self.params.append(trial.params)
        self.units.append(trial.encoded)
        self.status.append("observed")
        self.enter(trial.id, value)

    @rule(u=st.integers(0, 10**6), again=st.booleans())
    def enqueue(self, u: int, again: bool) -> None:
        known = [params for params in (*self.params, *self.suggested) if self.may_be(params)]
        params = known[u % len(known)] if again and known else self.point(u)
        self.study.enqueue(params)
        self.queue.append(params)

    # ----------------------------------------------------------- look at it

    @rule(u=st.integers(0, 10**6))
    def predict(self, u: int) -> None:
        points = [self.point(u), *self.params[:2]]
        if not self.values:
            with pytest.raises(InvalidInput):
                self.study.predict(points)
            return
        at = self.study.predict(points)
        assert np.isfinite(at.mean).all()
        assert (at.std >= 0.0).all()

    @rule(unknown=st.sampled_from([-1, 10**6, "0", None, 0.0, True]))
    def nothing_is_told_about_an_unknown_trial(self, unknown: Any) -> None:
        with pytest.raises(TrialError):
            self.study.tell(unknown, 1.0)

    @rule(go_on_with_the_loaded=st.booleans(), q=st.integers(1, 2))
    def save_and_load(self, go_on_with_the_loaded: bool, q: int) -> None:
        """The loaded study suggests what the saved one suggests; either may go on."""
        self.saves += 1
        path = Path(self.folder.name) / f"{self.saves}.jsonl"
        self.study.save(path)
        loaded = Optimizer.load(path, constraint=self.space.constraint)
        asks: list[list[Trial] | int] = []
        for study in (self.study, loaded):
            try:
                asks.append(list(study.ask(q)))
            except SpaceExhausted as error:
                asks.append(error.left)
        ours, theirs = asks
        if isinstance(ours, int) or isinstance(theirs, int):
            left = self.left()
            assert ours == theirs
            assert left is not None
            assert q > left + len(self.queue)
        else:
            assert [(t.id, t.params, t.provenance) for t in ours] == [(t.id, t.params, t.provenance) for t in theirs]
            assert [t.encoded.tobytes() for t in ours] == [t.encoded.tobytes() for t in theirs]
            self.take(ours, True)
        if go_on_with_the_loaded:
            self.study, loaded = loaded, self.study
        loaded.close()

    @invariant()
    def books_agree(self) -> None:
        if not hasattr(self, "study"):
            return
        study = self.study
        assert [trial.id for trial in study.trials] == list(range(len(self.params)))
        assert [trial.params for trial in study.trials] == self.params
        assert [trial.id for trial in study.pending] == self.having("pending")
        assert list(study.queued) == self.queue
        tally = study.counts
        assert (tally.done, tally.failed, tally.pending, tally.abandoned) == tuple(
            len(self.having(status)) for status in ("done", "failed", "pending", "abandoned")
        )
        assert [row["status"] for row in study.records()] == self.status
        assert {row["trial_id"]: row["value"] for row in study.records() if row["value"] is not None} == self.values
        if not self.values:
            assert study.best is None
        else:
            pick = max if self.maximize else min
            best = pick(sorted(self.values), key=lambda i: self.values[i])
            assert study.best == (self.params[best], self.values[best])


TestStudy = Study.TestCase
TestStudy.settings = settings(
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
