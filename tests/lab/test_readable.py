"""What sheets show has few digits, and keeps the rules of the space."""

from __future__ import annotations

import math

from each import each

import believer as bv
from believer.lab.readable import Readable

SPACES = {
    "mixture": bv.Space(
        {"a": bv.Float(0, 100), "b": bv.Float(0, 60), "c": bv.Float(2.25, 50)}, rules=[bv.sum_to(["a", "b", "c"], 100)]
    ),
    "three parts at most": bv.Space(
        {name: bv.Float(0, 1) for name in "abcdef"},
        rules=[bv.sum_to([*"abcdef"], 1), bv.max_parts([*"abcdef"], 3)],
    ),
    "grids among others": bv.Space(
        {"a": bv.Float(0, 10, step=2.5), "b": bv.Float(0, 7.3), "c": bv.Float(0, 9.87), "n": bv.Int(0, 9)},
        rules=[bv.sum_to(["a", "b", "c"], 10), bv.linear({"b": 3, "n": -1}, at_most=11.37)],
    ),
    "odd bounds": bv.Space(
        {"a": bv.Float(1 / 3, 2 / 3), "b": bv.Float(1 / 3, 0.3334)}, rules=[bv.linear({"a": 1, "b": 1}, at_most=0.95)]
    ),
    "no rules": bv.Space({"t": bv.Float(20, 120), "k": bv.Float(1e-5, 0.1, log=True), "n": bv.Float(0.11111, 0.11112)}),
    "nothing to round": bv.Space({"s": bv.Categorical(["x", 1, None]), "n": bv.Int(1, 9), "d": bv.Discrete([1.5, 2])}),
}


@each("name", SPACES)
def test_readable_points_keep_the_rules_and_stay_near(name: str) -> None:
    space = SPACES[name]
    readable = Readable(space)
    for trial in bv.Optimizer(space, seed=3, n_init=64).ask(12):
        shown = readable.of(trial.params)
        assert [*shown] == [*trial.params]
        assert space.allows(space.check(shown))
        for key, value in trial.params.items():
            if isinstance(value, float) and isinstance(shown[key], float):
                assert abs(shown[key] - value) <= 5.0 * readable.half_step(key, value) + 1e-9
            else:
                assert shown[key] == value


def test_numbers_have_about_three_digits() -> None:
    readable = Readable(SPACES["no rules"])
    assert readable.of({"t": 66.66666, "k": 0.00031415, "n": 0.111114999}) == {"t": 66.7, "k": 0.000314, "n": 0.111115}
    mixture = Readable(SPACES["mixture"]).of({"a": 33.33333, "b": 33.33333, "c": 33.33334})
    assert math.fsum(mixture.values()) == 100.0
    assert all(len(f"{value:g}") <= 4 for value in mixture.values())
