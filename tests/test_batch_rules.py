"""Rules of a batch as a whole: values that its points share, chosen with the rest, in the journal, replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from optimizer_studies import SPACES, assert_distinct, assert_lawful, started, tell_all, units

import believer as bv
from believer import Categorical, Float, Int, Optimizer, Space
from believer.batch import STRATEGIES
from believer.best_draft import TRIED, best_draft
from believer.errors import BelieverError, InvalidInput, SpaceExhausted
from believer.study.batch_rules import BatchRules, Values
from believer.study.trials import Trial

OVEN = Space({"t": Float(20.0, 100.0), "x": Float(0.0, 1.0), "k": Categorical(["a", "b", "c"])})
PARTS = ["a", "b", "c", "d"]
MIXTURE = Space(
    {**{name: Float(0.0, 1.0) for name in PARTS}, "t": Int(0, 10)},
    rules=[bv.sum_to(PARTS, 1.0), bv.max_parts(PARTS, 3)],
)


def values(batch: Any, name: str) -> set[Any]:
    return {trial.params[name] for trial in batch}


@each("name", STRATEGIES)
def test_every_strategy_keeps_the_number_of_values(name: str) -> None:
    optimizer = started(OVEN)
    batch = optimizer.ask(3, strategy=name, shared={"t": 2, "k": 1})
    assert (len(batch), len(values(batch, "k"))) == (3, 1)
    assert len(values(batch, "t")) <= 2
    assert_lawful(OVEN, batch.trials)
    assert_distinct(optimizer.trials)


@each(
    "space, shared",
    [(MIXTURE, {"a": 1}), (MIXTURE, {"a": 2, "t": 1}), *((s, {s.names[0]: 1}) for s in SPACES.values() if len(s) > 1)],
)
def test_shared_values_go_with_rules_grids_and_constraints(space: Space, shared: dict[str, int]) -> None:
    optimizer = Optimizer(space, seed=1, n_init=3)
    for _ in range(3):
        batch = optimizer.ask(3, shared=shared)
        assert all(len(values(batch, name)) <= count for name, count in shared.items())
        assert_lawful(space, batch.trials)
        tell_all(optimizer, batch)
    assert_distinct(optimizer.trials)


def test_rows_of_a_table_share_values_and_keep_a_cost() -> None:
    rng = np.random.default_rng(0)
    rows = [{"t": 10.0 * float(rng.integers(5, 9)), "x": float(rng.random()), "k": "ab"[i % 2]} for i in range(120)]
    optimizer = Optimizer(Space.from_table(rows, features=["t", "x", "k"]), seed=0, n_init=4)
    for shared, name, most in (({"t": 1}, "t", 1), ({"t": 2}, "t", 2), (["k"], "k", 1)):
        batch = optimizer.ask(4, shared=shared)
        assert len(values(batch, name)) <= most
        assert all(trial.params in rows for trial in batch)
        tell_all(optimizer, batch)
    assert cost_of(optimizer.ask(4, max_cost=1.0, cost={"x": 1.0}), {"x": 1.0}) <= 1.0
    assert_distinct(optimizer.trials)


def test_a_number_that_every_batch_keeps_changes_nothing() -> None:
    one, other = started(OVEN), started(OVEN)
    assert units(one.ask(3, shared={"t": 3})) == units(other.ask(3))


def test_values_come_from_the_whole_range_in_a_design() -> None:
    optimizer = Optimizer(OVEN, seed=0, n_init=12)
    batches = [optimizer.ask(3, shared="t") for _ in range(4)]
    assert len({t for batch in batches for t in values(batch, "t")}) == 4


def test_pending_points_do_not_count_and_fixed_parameters_stay() -> None:
    optimizer = started(OVEN)
    first = optimizer.ask(2, fixed={"t": 20.0})
    second = optimizer.ask(3, shared=["t"], fixed={"k": "b"})
    assert values(first, "t") == {20.0} != values(second, "t")
    assert values(second, "k") == {"b"}


def test_enqueued_points_say_the_value_and_those_that_disagree_wait() -> None:
    optimizer = started(OVEN)
    for t, x in ((30.0, 0.1), (40.0, 0.1), (30.0, 0.2)):
        optimizer.enqueue({"t": t, "x": x, "k": "a"})
    batch = optimizer.ask(4, shared=["t"])
    assert [trial.origin for trial in batch] == ["enqueued", "enqueued", "model", "model"]
    assert values(batch, "t") == {30.0}
    assert [point["t"] for point in optimizer.queued] == [40.0]


def test_a_finite_space_says_how_many_points_a_value_leaves() -> None:
    optimizer, seen = Optimizer(Space({"k": Categorical([*"abcdef"]), "n": Int(0, 4)}), seed=0, n_init=2), set[str]()
    for _ in range(6):
        batch = optimizer.ask(5, shared=["k"])
        seen |= values(batch, "k")
        with pytest.raises(SpaceExhausted) as error:
            optimizer.ask(6, shared=["k"])
        assert error.value.left == (5 if len(seen) < 6 else 0)
        tell_all(optimizer, batch)
    assert seen == {*"abcdef"}


def test_a_journal_replays_and_a_loaded_study_goes_on_alike(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(OVEN, seed=0, n_init=3, journal=path) as optimizer:
        for shared in (["t"], {"t": 2}, {"k": 2, "t": 1}):
            tell_all(optimizer, optimizer.ask(3, shared=shared))
        loaded = Optimizer.load(path, append=False)
        assert loaded.ask(3, shared=["t"]).trials == optimizer.ask(3, shared=["t"]).trials
    assert bv.replay(path).identical
    assert '"shared":{"t":2}' in path.read_text()


@each(
    "shared",
    [["q"], {"t": 0}, {"t": 1.5}, {"t": True}, {"t": None}, 5, [["t"]], [None], {"t": 2, "q": 1}, True],
)
def test_a_wrong_rule_is_one_clear_error_before_anything_happens(shared: Any) -> None:
    optimizer = started(OVEN)
    before = optimizer.events
    with pytest.raises(InvalidInput):
        optimizer.ask(3, shared=shared)
    with pytest.raises(BelieverError):
        bv.minimize(lambda params: 1.0, OVEN, 4, q=2, shared=shared, progress=False)
    assert optimizer.events == before


def test_what_is_fixed_is_not_shared() -> None:
    with pytest.raises(InvalidInput, match="fixed at 50"):
        started(OVEN).ask(2, shared=["t"], fixed={"t": 50.0})


def test_minimize_asks_for_batches_that_share() -> None:
    seen: list[Any] = []
    result = bv.minimize(
        lambda params: (params["t"] - 60.0) ** 2,
        OVEN,
        9,
        q=3,
        n_init=3,
        seed=0,
        shared=iter(["t"]),
        progress=False,
        callback=lambda optimizer, batch: seen.append(values(batch, "t")),
    )
    assert [len(one) for one in seen] == [1, 1, 1]
    assert len(result.optimizer.trials) == 9
    with pytest.raises(InvalidInput, match="batch"):
        bv.minimize(lambda params: 1.0, OVEN, 4, workers=2, shared=["t"], progress=False)


# The choice between batches


@dataclass
class Drafted:
    trials: list[Trial]
    values: Values
    gains: dict[float, float] = field(default_factory=dict)

    def gain(self) -> float | None:
        return self.gains.get(next(iter(self.values.values()))[0], 0.0) if self.values else 0.0


def test_the_batch_with_the_largest_gain_of_those_tried_is_taken() -> None:
    """Values are tried in the order of the points that are chosen without the rule."""
    order, gains, asked = [5.0, 7.0, 2.0, 9.0, 4.0], {5.0: 1.0, 7.0: 0.5, 2.0: 3.0, 9.0: 2.0, 4.0: 9.0}, list[Any]()

    def drafted(chosen: Values, points: int, share: float) -> Drafted:
        assert share == 1.0
        asked.append(chosen.get("t"))
        at = order[:points] if not chosen else [chosen["t"][0]] * points
        trials = [Trial(i, {"t": t}, units_of(t), "", "model") for i, t in enumerate(at)]
        return Drafted(trials, chosen, gains)

    found = best_draft(BatchRules({"t": 1}), OVEN, 6, [], drafted)
    assert found.values == {"t": (2.0,)}
    assert asked == [None, (5.0,), (7.0,), (2.0,), (9.0,)]
    assert len(asked) == TRIED + 1


def units_of(t: float) -> Any:
    return OVEN.encode([{"t": 20.0 + t, "x": 0.0, "k": "a"}])[0]


def test_a_shared_value_serves_the_whole_batch_and_not_one_point_alone() -> None:
    """The batch is worth no less than one at a temperature that somebody took from the end of the range."""
    optimizer = started(OVEN, n_init=8)
    shared = optimizer.ask(4, shared=["t"])
    apart = started(OVEN, n_init=8).ask(4, fixed={"t": 99.0})
    assert shared.verdict.gain is not None
    assert apart.verdict.gain is not None
    assert shared.verdict.gain.together >= apart.verdict.gain.together


# What a batch may cost


def price(params: dict[str, Any]) -> float:
    return float(1.0 + params["x"] ** 2)


def cost_of(batch: Any, cost: Any) -> float:
    return sum(cost(t.params) if callable(cost) else sum(c * t.params[n] for n, c in cost.items()) for t in batch)


@each("name", STRATEGIES)
def test_every_strategy_keeps_the_cost(name: str) -> None:
    optimizer = started(OVEN)
    batch = optimizer.ask(3, strategy=name, max_cost=1.2, cost={"x": 2.0})
    assert (len(batch), cost_of(batch, {"x": 2.0}) <= 1.2) == (3, True)
    assert_lawful(OVEN, batch.trials)
    assert_distinct(optimizer.trials)


@each(
    "space, cost, limit",
    [
        (MIXTURE, {"a": 10.0, "b": 1.0, "c": 2.0, "d": 5.0}, 6.0),
        (SPACES["mixed"], {"depth": 1}, 9.0),
        (SPACES["mixed"], lambda params: 1.0 + params["depth"] * (params["kernel"] == "rbf"), 6.0),
        (SPACES["constrained"], {"x": 1.0, "y": 2.0}, 20.0),
        (SPACES["discrete"], {"n": 1, "s": 2.0}, 6.0),
    ],
)
def test_a_cost_goes_with_rules_grids_and_constraints(space: Space, cost: Any, limit: float) -> None:
    optimizer = Optimizer(space, seed=1, n_init=3)
    for _ in range(3):
        batch = optimizer.ask(3, max_cost=limit, cost=cost)
        assert cost_of(batch, cost) <= limit * (1.0 + 1e-9)
        assert_lawful(space, batch.trials)
        tell_all(optimizer, batch)
    assert_distinct(optimizer.trials)


def test_a_limit_that_is_high_enough_changes_nothing() -> None:
    one, other = started(OVEN), started(OVEN)
    assert units(one.ask(3, max_cost=1e6, cost=price)) == units(other.ask(3))


def test_one_temperature_and_a_cost_at_once() -> None:
    batch = started(OVEN).ask(4, shared=["t"], max_cost=5.0, cost=price)
    assert len(values(batch, "t")) == 1
    assert cost_of(batch, price) <= 5.0


def test_enqueued_points_are_paid_for_first() -> None:
    optimizer = started(OVEN)
    optimizer.enqueue({"t": 30.0, "x": 0.9, "k": "a"})
    batch = optimizer.ask(3, max_cost=1.0, cost={"x": 1.0})
    assert batch[0].origin == "enqueued"
    assert cost_of(batch, {"x": 1.0}) <= 1.0


def test_a_finite_space_is_used_to_the_last_batch_that_can_be_paid_for() -> None:
    optimizer = Optimizer(Space({"n": Int(0, 5), "k": Categorical(["a", "b"])}), seed=0, n_init=2)
    for _ in range(3):
        tell_all(optimizer, optimizer.ask(3, max_cost=9, cost={"n": 1.0}))
    left = 30 - sum(trial.params["n"] for trial in optimizer.trials)
    if left > 9:
        with pytest.raises(InvalidInput, match="cheapest"):
            optimizer.ask(3, max_cost=9, cost={"n": 1.0})
    assert len(optimizer.ask(3, max_cost=left, cost={"n": 1.0})) == 3


@pytest.mark.parametrize("prices", [{"x": 1.0}, {"x": 1.0 / 3.0, "t": 1.0 / 7.0}], ids=["a bound", "a corner"])
def test_a_batch_of_the_cost_that_the_error_names_is_found(prices: dict[str, float]) -> None:
    space = Space({"t": Float(20, 100), "x": Float(1, 60), "z": Float(0, 1)})
    optimizer = started(space)
    with pytest.raises(InvalidInput, match="cheapest") as raised:
        optimizer.ask(4, max_cost=1.0, cost=prices)
    least = float(str(raised.value).split("batch costs ")[1].split(";")[0])
    batch = optimizer.ask(4, max_cost=least, cost=prices)
    assert len(batch) == 4
    assert cost_of(batch, prices) <= least


@pytest.mark.parametrize("t", [Float(20, 100), bv.Discrete([20, 40, 60, 80, 100])], ids=["any", "listed"])
@pytest.mark.parametrize("limit", [80, 120, 160])
def test_a_shared_value_is_one_that_the_whole_batch_can_pay_for(t: Any, limit: float) -> None:
    for seed in range(4):
        optimizer = Optimizer(Space({"t": t, "x": Float(1, 60)}), seed=seed, n_init=4)
        for trial in optimizer.ask(6):
            optimizer.tell(trial, trial.params["x"] - trial.params["t"])  # the dearest are the best
        batch = optimizer.ask(4, shared=["t"], max_cost=limit, cost={"t": 1})
        assert len(values(batch, "t")) == 1
        assert cost_of(batch, {"t": 1}) <= limit
        with pytest.raises(InvalidInput, match="cheapest"):
            optimizer.ask(4, shared=["t"], max_cost=79, cost={"t": 1})


def test_values_that_the_rules_forbid_are_not_shared() -> None:
    rules = [bv.sum_to(["a", "b"], 9), bv.linear({"a": 1}, at_least=3)]
    optimizer = Optimizer(Space({"a": Int(0, 9), "b": Int(0, 9)}, rules=rules), seed=0, n_init=3)
    tell_all(optimizer, optimizer.ask(3))
    with pytest.raises(SpaceExhausted, match="no more values in the batch than 1 of a"):
        optimizer.ask(2, shared=["a"])  # each value of a has one point


def test_costs_are_in_the_journal_and_a_function_is_passed_again_to_replay(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(OVEN, seed=0, n_init=3, journal=path) as optimizer:
        for cost in (price, {"x": 1.0}, price):
            tell_all(optimizer, optimizer.ask(3, max_cost=3.9, cost=cost))
    assert bv.replay(path, costs=[price]).identical
    for costs in ([], [lambda params: 2.0]):
        with pytest.raises(InvalidInput, match="cost function price"):
            bv.replay(path, costs=costs)


@each(
    "limit, cost",
    [
        (1.0, None),
        (None, price),
        (-1.0, {"x": 1.0}),
        (2.9, price),
        (float("nan"), price),
        ("1", price),
        (1.0, {}),
        (1.0, {"k": 1.0}),
        (1.0, {"q": 1.0}),
        (1.0, {"x": "1"}),
        (1.0, 5),
        (1.0, lambda params: "much"),
        (1.0, lambda params: 1 / 0),
    ],
)
def test_a_wrong_cost_is_one_clear_error_before_anything_happens(limit: Any, cost: Any) -> None:
    optimizer = started(OVEN)
    before = optimizer.events
    with pytest.raises(InvalidInput):
        optimizer.ask(3, max_cost=limit, cost=cost)
    assert optimizer.events == before
