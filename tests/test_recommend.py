"""What to use in the end: the least expected value under noise, the best result without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optimizer_studies import SPACES, Plain, started, tell_all

import believer as bv
from believer.arrays import to_width
from believer.errors import InvalidInput

NOISY = bv.GP(noise=0.2)


def noisy_study(sign: float = 1.0, surrogate: Any = NOISY, seed: int = 0) -> bv.Optimizer:
    """A bowl under so much noise that its best result is luck."""
    optimizer = bv.Optimizer(bv.Space.cube(2), surrogate=surrogate, maximize=sign < 0.0, seed=seed)
    rng = np.random.default_rng(seed)
    for trial in optimizer.ask(20, strategy="random"):
        value = float(((trial.encoded - 0.4) ** 2).sum()) + 0.3 * float(rng.standard_normal())
        optimizer.tell(trial, sign * value)
    return optimizer


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_under_noise_it_is_the_best_expected_value_and_not_the_best_result(sign: float) -> None:
    optimizer = noisy_study(sign)
    found = optimizer.recommend()
    means = optimizer.predict([trial.params for trial in optimizer.trials]).mean
    assert sign * found.mean == (sign * means).min()
    assert found.params == optimizer.trials[int(np.argmin(sign * means))].params == found.trial.params
    assert optimizer.best is not None
    assert found.params != optimizer.best[0]
    assert found.mean == optimizer.predict([found.params]).mean[0]
    assert found.std == optimizer.predict([found.params]).std[0]


def test_maximizing_recommends_what_minimizing_the_negated_function_does() -> None:
    one, other = noisy_study().recommend(), noisy_study(-1.0).recommend()
    assert (one.params, one.mean, one.std) == (other.params, -other.mean, other.std)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_without_noise_it_is_the_best_result(space: bv.Space) -> None:
    optimizer = started(space, n_init=6, surrogate=bv.GP(noise=1e-6))
    tell_all(optimizer, optimizer.ask(3))
    found = optimizer.recommend()
    assert optimizer.best is not None
    assert found.params == optimizer.best[0]
    assert found.mean == pytest.approx(optimizer.best[1], abs=1e-2)


@pytest.mark.parametrize("surrogate", ["gp", "sparse_gp", "mq_rbf", "fixed_rbf", "last_layer", Plain()], ids=repr)
def test_every_kind_of_model_recommends_a_trial(surrogate: Any) -> None:
    optimizer = noisy_study(surrogate=surrogate)
    found = optimizer.recommend()
    assert found.params == optimizer.trials[found.trial.id].params
    assert np.isfinite([found.mean, found.std]).all()


def test_one_result_is_enough_and_none_is_too_few() -> None:
    optimizer = bv.Optimizer(bv.Space.cube(2), seed=0)
    trials = optimizer.ask(2)
    optimizer.tell(trials[0], error="crashed")
    with pytest.raises(InvalidInput, match=r"recommend needs at least one result"):
        optimizer.recommend()
    optimizer.tell(trials[1], 3.0)
    assert optimizer.recommend().trial.id == 1
    assert optimizer.recommend().mean == pytest.approx(3.0)


def test_failed_and_pending_trials_are_never_recommended() -> None:
    optimizer = noisy_study()
    optimizer.observe({"x0": 0.4, "x1": 0.4}, error="crashed")
    optimizer.ask(2)
    assert optimizer.recommend().trial.id < 20


def test_looking_changes_nothing() -> None:
    one, other = noisy_study(surrogate=None), noisy_study(surrogate=None)
    found = one.recommend()
    found.params["x0"] = found.trial.params["x0"] = 7.0
    assert one.recommend().params["x0"] != 7.0
    assert one.ask(3).params == other.ask(3).params


def test_the_interval_and_the_sentence_say_how_sure_it_is() -> None:
    found = noisy_study().recommend()
    low, high = found.interval
    assert low + high == pytest.approx(2.0 * found.mean)
    assert high - low == pytest.approx(2.0 * 1.96 * found.std, rel=1e-4)
    assert str(found).startswith(f"trial {found.trial.id}, ")
    assert f"{to_width(found.mean, (high - low) / 2)} expected" in str(found)


def test_of_many_results_those_that_the_model_learned_from_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bv.GP, "most_results", 12)
    optimizer = noisy_study()
    found = optimizer.recommend()
    model: Any = optimizer._cache.learned(optimizer._ledger.history(optimizer.settings)).model
    assert len(model.X) == 12
    assert found.mean == pytest.approx(model.predict(model.X).mean.min())


def test_a_run_has_what_it_recommends() -> None:
    result = bv.minimize(lambda p: (p["x0"] - 0.3) ** 2, bv.Space.cube(1), 6, progress=False, q=3, seed=0)
    assert result.recommended is not None
    assert result.recommended.params == result.params

    def fails(params: dict[str, Any]) -> float:
        return float("nan")

    assert bv.minimize(fails, bv.Space.cube(1), 3, progress=False, q=3, seed=0).recommended is None
