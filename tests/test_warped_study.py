"""A study whose results have a heavy tail on the bad side: the model learns from a warp of them, where that helps.

What a user is told is in the user's units, and what the user says reaches the model in its own.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from hostile_journals import NUMBERS, OTHERS
from journal_lines import checked

from believer import GP, ConstantLie, Float, Optimizer, PseudoObservations, Space, replay
from believer.arrays import Array
from believer.batch.hedge import NATS
from believer.batch.learned import Learned
from believer.errors import InvalidInput, JournalCorrupt
from believer.problems import hartmann6
from believer.study.models import WARP
from believer.study.options import Options
from believer.surrogates.data import Data
from believer.surrogates.warp import Warp, warps_for

SPACE = Space({"x": Float(-1.0, 1.0), "y": Float(0.0, 4.0)})
DETERMINISTIC = GP(noise=1e-6)

Objective = Callable[[Array], float]


def cliff(unit: Array) -> float:
    """exp of a bowl: five orders of magnitude."""
    return math.exp(12.0 * float(((unit - 0.4) ** 2).sum()))


def wave(seed: int) -> Objective:
    """A smooth random function: many cosines of random phase are nearly Gaussian."""
    rng = np.random.default_rng(seed)
    frequency, phase = 4.0 * rng.normal(size=(60, 2)), rng.uniform(0.0, 2.0 * math.pi, 60)
    return lambda unit: float(np.cos(frequency @ unit + phase).mean())


def study(f: Objective = cliff, n: int = 14, space: Space = SPACE, sign: float = 1.0, **settings: Any) -> Optimizer:
    """With ``n`` results of its design, minimized; with sign -1 their mirror image, maximized."""
    settings = {"surrogate": DETERMINISTIC, "n_init": n, "seed": 0, "maximize": sign < 0.0, **settings}
    optimizer = Optimizer(space, **settings)
    batch = optimizer.ask(n)
    optimizer.tell_many(batch, [sign * f(trial.encoded) for trial in batch])
    return optimizer


def learned(optimizer: Optimizer) -> Learned:
    return optimizer._cache.learned(optimizer._ledger.history(optimizer.settings))


def warp_of(optimizer: Optimizer) -> Warp:
    warp = learned(optimizer).warp
    assert warp is not None
    return warp


def grid(m: int = 7) -> list[dict[str, Any]]:
    return [{"x": float(x), "y": float(y)} for x in np.linspace(-1.0, 1.0, m) for y in np.linspace(0.0, 4.0, m)]


# Whether


@pytest.mark.parametrize("seed", range(5))
def test_the_exponential_of_a_bowl_is_warped(seed: int) -> None:
    optimizer = study(seed=seed)
    (trial,) = optimizer.ask(1)
    assert "the results warped" in trial.provenance
    assert optimizer.hyperparameters is not None
    values = np.array([row["value"] for row in optimizer.records() if row["value"] is not None])
    assert Warp.from_config(optimizer.hyperparameters[WARP]) == warp_of(optimizer)
    assert warp_of(optimizer) in warps_for(values)


def test_smooth_functions_without_a_tail_are_learned_as_they_are() -> None:
    """In all but 1 of 20 studies at most: where the tail is light there is no warp to try, or its evidence is less."""
    problem = hartmann6()
    waves = [study(wave(seed), 20, seed=seed) for seed in range(14)]
    bowls = [study(lambda u: float(((u - 0.4) ** 2).sum()), 20, seed=seed) for seed in range(3)]
    hartmann = [
        study(lambda u: float(problem.evaluate(u[None, :])[0]), 30, problem.space, seed=seed) for seed in range(3)
    ]
    assert sum(learned(one).warp is not None for one in [*waves, *bowls, *hartmann]) <= 1


def test_a_study_that_wants_none_has_none() -> None:
    optimizer = study(warp="none")
    (trial,) = optimizer.ask(1)
    assert learned(optimizer).warp is None
    assert "warped" not in trial.provenance
    assert WARP not in (optimizer.hyperparameters or {})


def test_a_model_that_knows_no_evidence_is_of_the_results_as_they_are() -> None:
    for surrogate in ("forest", "mq_rbf"):
        assert learned(study(surrogate=surrogate)).warp is None


def test_what_is_chosen_is_more_likely_than_what_is_not() -> None:
    """By p(y) = p(w(y)) Π w'(y_i), with densities of y for both."""
    optimizer, plain = study(), study(warp="none")
    one: Any = learned(optimizer).model
    other: Any = learned(plain).model
    slopes = warp_of(optimizer).log_slope(learned(plain).data.y)
    assert one.log_evidence() + slopes.sum() > other.log_evidence()


# In the user's units


def test_predictions_are_of_the_results_in_their_own_units() -> None:
    optimizer = study()
    trials = optimizer.trials
    values = np.array([row["value"] for row in optimizer.records()])
    at = optimizer.predict([trial.params for trial in trials])
    inside = learned(optimizer).model.predict(np.array([trial.encoded for trial in trials]))
    assert np.abs(inside.mean - warp_of(optimizer)(values)).max() < 0.05 * np.ptp(warp_of(optimizer)(values))
    np.testing.assert_allclose(at.mean, values, rtol=0.2, atol=0.1)
    assert np.isfinite(optimizer.predict(grid()).mean).all()


def test_where_the_model_expects_more_the_user_is_told_of_more() -> None:
    optimizer = study()
    X = SPACE.encode(grid())
    inside, outside = learned(optimizer).model.predict(X).mean, optimizer.predict(grid()).mean
    order = np.argsort(inside, kind="stable")
    assert (np.diff(outside[order]) >= 0.0).all()


def test_the_interval_of_a_recommendation_holds_its_median_and_the_result() -> None:
    for sign in (1.0, -1.0):
        found = (optimizer := study(sign=sign)).recommend()
        low, high = found.interval
        assert low <= found.mean <= high
        assert optimizer.best is not None
        assert low - 1e-3 <= optimizer.best[1] <= high + 1e-3


def test_quantiles_are_those_of_the_model_through_the_warp() -> None:
    fit, X = learned(study()), SPACE.encode(grid(4))
    at, warp = fit.model.predict(X), fit.warp
    assert warp is not None
    np.testing.assert_array_equal(fit.quantile(X, 0.0), fit.predict(X).mean)
    low, high = fit.quantile(X, -1.0), fit.quantile(X, 1.0)
    np.testing.assert_allclose(0.5 * (high - low), fit.predict(X).std)
    np.testing.assert_allclose(high, warp.inverse(at.mean + at.std))


@pytest.mark.both_backends
def test_maximizing_is_the_mirror_image_of_minimizing_to_the_bit() -> None:
    down, up = study(), study(sign=-1.0)
    for _ in range(2):
        one, other = down.ask(3), up.ask(3)
        np.testing.assert_array_equal(one.encoded, other.encoded)
        assert [trial.provenance for trial in one] == [trial.provenance for trial in other]
        down.tell_many(one, [cliff(trial.encoded) for trial in one])
        up.tell_many(other, [-cliff(trial.encoded) for trial in other])
    assert down.hyperparameters == up.hyperparameters
    low, high = down.predict(grid()), up.predict(grid())
    np.testing.assert_array_equal(low.mean, -high.mean)
    np.testing.assert_array_equal(low.std, high.std)
    assert down.recommend().interval == tuple(-end for end in reversed(up.recommend().interval))


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**40])
def test_the_unit_of_the_results_plays_no_part(unit: float) -> None:
    one, other = study(n=20), study(lambda u: unit * cliff(u), n=20)
    np.testing.assert_allclose(one.ask(3).encoded, other.ask(3).encoded, atol=1e-6)
    warp = warp_of(one)
    assert warp_of(other) == replace(warp, start=unit * warp.start, scale=unit * warp.scale)


# Into the model's units


@pytest.mark.both_backends
def test_what_the_model_believes_moves_its_mean_nowhere() -> None:
    """Kriging Believer's invariance, in the model's own units."""
    optimizer = study()
    model: Any = learned(optimizer).model
    x, X = np.array([[0.7, 0.2]]), SPACE.encode(grid())
    told = model.condition(Data(x, model.predict(x).mean))
    assert np.abs(told.predict(X).mean - model.predict(X).mean).max() < 1e-6 * np.ptp(learned(optimizer).data.y)


@each("lie", [5.0, 50.0, "max", "min", "mean"])
@each("sign", [1.0, -1.0])
def test_a_constant_lie_passes_through_the_warp(lie: float | str, sign: float) -> None:
    """A number is in the user's units; the best of the results is their "min" whichever way is better."""
    optimizer = study(
        strategy=PseudoObservations(ConstantLie(sign * lie if isinstance(lie, float) else lie)), sign=sign
    )
    optimizer.ask(1)
    belief: Any = optimizer._cache.memory
    y = np.array([cliff(trial.encoded) for trial in optimizer.trials[:14]])
    expected = lie if isinstance(lie, float) else {"max": y.max(), "min": y.min(), "mean": y.mean()}[lie]
    np.testing.assert_allclose(belief.lies.y, warp_of(optimizer)(np.array([expected])), rtol=1e-9)


def test_a_failure_counts_as_the_worst_result_through_the_warp() -> None:
    optimizer = study()
    (failed,) = optimizer.ask(1)
    before = optimizer.predict([failed.params]).mean[0]
    optimizer.tell(failed, error="burnt")
    worst = max(cliff(trial.encoded) for trial in optimizer.trials[:14])
    fit = learned(optimizer)
    assert fit.failed is not None
    np.testing.assert_allclose(fit.failed.y, warp_of(optimizer)(np.array([worst])))
    assert before < 0.1 * worst
    assert optimizer.predict([failed.params]).mean[0] == pytest.approx(worst, rel=0.2)
    assert len(optimizer.ask(2)) == 2


def test_known_noise_reaches_the_model_scaled_by_the_slope() -> None:
    optimizer = Optimizer(SPACE, surrogate=DETERMINISTIC, n_init=14, seed=0)
    batch = optimizer.ask(14)
    y = np.array([cliff(trial.encoded) for trial in batch])
    optimizer.tell_many(batch, y.tolist(), noise=(0.01 * y).tolist())
    fit = learned(optimizer)
    assert fit.warp is not None
    assert fit.data.std is not None
    np.testing.assert_allclose(fit.data.std, 0.01 * y * np.exp(fit.warp.log_slope(y)))


# The journal


@pytest.mark.both_backends
def test_a_study_read_from_its_journal_goes_on_to_the_bit_without_a_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.jsonl"
    with study(journal=path) as optimizer:
        optimizer.ask(2)
        shutil.copy(path, tmp_path / "copy.jsonl")
        with Optimizer.load(tmp_path / "copy.jsonl") as loaded:
            monkeypatch.setattr(GP, "fit", lambda *_: pytest.fail("a fit"))
            np.testing.assert_array_equal(loaded.ask(3).encoded, optimizer.ask(3).encoded)
            assert loaded.hyperparameters == optimizer.hyperparameters
            one, other = loaded.predict(grid(3)), optimizer.predict(grid(3))
            np.testing.assert_array_equal(one.mean, other.mean)
            np.testing.assert_array_equal(one.std, other.std)


@pytest.mark.both_backends
def test_every_suggestion_is_found_again_also_where_the_warp_comes_and_goes(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with study(journal=path, n=6, maximize=False) as optimizer:
        for _ in range(5):
            batch = optimizer.ask(3)
            optimizer.tell_many(batch[:2], [cliff(trial.encoded) for trial in batch[:2]])
            optimizer.tell(batch[2], error="burnt")
        warped = ["warped" in trial.provenance for trial in optimizer.trials]
    assert any(warped)
    assert replay(path).identical


def _changed(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The journal with its last fit changed, and the checksum put right."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(next(line for line in reversed(lines) if line.get("model"))["model"]["outputs"]["value"])
    other = path.with_name("changed.jsonl")
    other.write_text("".join(checked(line) + "\n" for line in lines), encoding="utf-8")
    return other


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("warped") / "study.jsonl"
    with study(journal=path) as optimizer:
        optimizer.ask(1)
    return path


NASTY = [
    *NUMBERS,
    *OTHERS,
    *({"start": value, "scale": 1.0} for value in (*NUMBERS, *OTHERS)),
    *({"start": 1.0, "scale": value} for value in (*NUMBERS, *OTHERS)),
    {"start": 1.0},
    {"start": 1.0, "scale": 1.0, "more": 0.0},
]


def test_a_hostile_warp_is_refused_or_works(journal: Path) -> None:
    refused = 0
    for nasty in NASTY:
        path = _changed(journal, lambda model, nasty=nasty: model.update({WARP: nasty}))  # type: ignore[misc]
        try:
            with Optimizer.load(path) as optimizer:
                assert isinstance(nasty, dict)
                assert np.isfinite(optimizer.predict(grid(2)).mean).all()
                assert len(optimizer.ask(1)) == 1
        except JournalCorrupt:
            refused += 1
    assert 0.6 * len(NASTY) < refused < len(NASTY)


@pytest.mark.parametrize("nasty", [None, 3.0, {}, {"start": 0.0, "scale": 0.0}, {"start": "a", "scale": 1.0}], ids=str)
def test_what_is_no_warp_is_a_corrupt_journal(nasty: Any, journal: Path) -> None:
    path = _changed(journal, lambda model: model.update({WARP: nasty}))
    with pytest.raises(JournalCorrupt, match="warp"):
        Optimizer.load(path)


def test_a_fit_without_a_warp_is_one_of_the_results_as_they_are(journal: Path) -> None:
    path = _changed(journal, lambda model: model.pop(WARP))
    with Optimizer.load(path) as optimizer:
        assert learned(optimizer).warp is None
        optimizer.ask(1)


# Studies that were begun before


OLD = sorted((Path(__file__).parent / "journals").glob("format[12]/kb_cube.jsonl"))


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.parent.name)
def test_an_old_journal_keeps_to_what_it_had(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "study.jsonl"
    shutil.copy(path, copy)
    with Optimizer.load(copy) as optimizer:
        assert optimizer.settings.warp == "none"
        assert optimizer.settings.resolution is None
        assert optimizer.settings.strategy == PseudoObservations()
        assert all("under lengthscales" not in trial.provenance for trial in optimizer.ask(3))


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.parent.name)
def test_an_old_journal_is_opened_without_naming_what_it_had(path: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    for copy in (one, other):
        shutil.copy(path, copy)
    with Optimizer.load(one) as loaded, Optimizer.open(other, loaded.space) as opened:
        assert opened.settings.to_config() == loaded.settings.to_config()
        np.testing.assert_array_equal(opened.ask(3).encoded, loaded.ask(3).encoded)


@pytest.mark.parametrize(
    "named",
    [{"warp": "auto"}, {"strategy": "hedged"}, {"surrogate": GP()}, {"resolution": 0.1}],
    ids=lambda named: next(iter(named)),
)
def test_but_not_under_others_that_are_named(named: Options, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    shutil.copy(OLD[0], path)
    with Optimizer.load(path) as optimizer:
        space = optimizer.space
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=next(iter(named))):
        Optimizer.open(path, space, **named)
    assert path.read_bytes() == before


def test_a_new_study_is_opened_again_without_naming_its_defaults(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    for _ in range(2):
        with Optimizer.open(path, SPACE, seed=0) as optimizer:
            config = optimizer.settings.to_config()
            assert (config["warp"], config["strategy"]["hedge"], config["surrogate"]["noise"]) == ("auto", NATS, "auto")


# Extremes


@pytest.mark.parametrize("unit", [1e-280, 1e-12, 1e12, 1e90])
def test_results_of_any_size_are_survived(unit: float) -> None:
    optimizer = study(lambda u: unit * cliff(u))
    for _ in range(2):
        batch = optimizer.ask(2)
        optimizer.tell_many(batch, [unit * cliff(trial.encoded) for trial in batch])
    at = optimizer.predict(grid(4))
    assert np.isfinite(at.mean).all()
    assert (at.std >= 0.0).all()


@pytest.mark.parametrize("far", [1e3, 1e12])
def test_one_result_far_away_does_not_blind_the_model(far: float) -> None:
    """Without a warp, the others would look the same beside it."""
    optimizer = study(lambda u: float(((u - 0.4) ** 2).sum()), 20)
    optimizer.observe({"x": 1.0, "y": 4.0}, far)
    at = optimizer.predict([{"x": -0.2, "y": 1.6}, {"x": -1.0, "y": 1.6}]).mean
    assert at[0] < 0.05
    assert at[1] == pytest.approx(0.16, abs=0.05)
    blind = study(lambda u: float(((u - 0.4) ** 2).sum()), 20, warp="none")
    blind.observe({"x": 1.0, "y": 4.0}, far)
    at = blind.predict([{"x": -0.2, "y": 1.6}, {"x": -1.0, "y": 1.6}]).mean
    assert abs(at[1] - at[0] - 0.16) > 0.05


def test_results_as_far_apart_as_numbers_go_are_survived() -> None:
    optimizer = study(lambda u: 1e-280 * cliff(u), 6)
    optimizer.observe({"x": 1.0, "y": 4.0}, 1e100)
    assert warp_of(optimizer).scale < 1e-270
    for _ in range(2):
        batch = optimizer.ask(2)
        optimizer.tell(batch[0], 1e-280 * cliff(batch[0].encoded))
        optimizer.tell(batch[1], error="burnt")
    assert np.isfinite(optimizer.predict(grid(3)).mean).all()
