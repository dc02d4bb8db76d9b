"""Whether results are noisy: replicates say so, or the evidence does; and a deterministic function stays one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.arrays import Array
from believer.problems.synthetic import branin, hartmann6
from believer.surrogates import GP, GPModel, SparseGP, gp_fit
from believer.surrogates.data import Data, replicates
from believer.surrogates.gp import fit_gp
from believer.surrogates.gp_noise import AUTO, EXACT, INFER, by_replicates


def wave(X: Array) -> Array:
    squares: Array = (X[:, 1:] ** 2).sum(axis=1)
    return np.sin(4.0 * X[:, 0]) + squares


def bowl(X: Array) -> Array:
    squares: Array = ((X - np.array([0.3, 0.6, 0.45])) ** 2).sum(axis=1)
    return squares + (X[:, 0] - 0.3) * (X[:, 1] - 0.6)


def steps(X: Array) -> Array:
    floors: Array = np.floor(6.0 * np.abs(X - 0.37)).sum(axis=1)
    return floors + 0.3 * bowl(X)


def rastrigin(X: Array) -> Array:
    Z = 4.0 * X - 1.7
    values: Array = (Z * Z - 3.0 * np.cos(2.0 * np.pi * Z) + 3.0).sum(axis=1)
    return values


def fitted(X: Array, y: Array, previous: GPModel | None = None, **settings: Any) -> GPModel:
    return GP(**settings).fit(Data(X, y), np.random.default_rng(0), previous)


def noisy_wave(n: int, seed: int, share: float = 0.3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, wave(X) + share * wave(X).std() * rng.standard_normal(n)


def test_the_default_decides() -> None:
    assert GP().noise == AUTO
    assert GP(noise="auto") == GP()


# Replicates


@pytest.mark.parametrize(
    ("repeated", "differences", "said"),
    [
        (0, [], AUTO),
        (1, [0.0], AUTO),
        (2, [0.0, 0.0], EXACT),
        (2, [0.0, 1e-12], EXACT),
        (2, [0.0, 1e-5], AUTO),
        (1, [0.1], INFER),
        (3, [0.0, 0.0, 0.1], INFER),
    ],
)
def test_replicates_say_whether_there_is_noise(repeated: int, differences: list[float], said: float | str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((9, 3)), rng.standard_normal(9)
    X, y = np.vstack([X, X[:repeated]]), np.concatenate([y, y[:repeated] + np.array(differences)])
    order = rng.permutation(len(y))
    group = replicates(X[order])
    assert (AUTO if group is None else by_replicates(group, y[order])) == said
    assert (group is None) == (repeated == 0)


def test_equal_rows_are_in_one_group() -> None:
    X = np.array([[0.1, 0.2], [0.7, 0.2], [0.1, 0.2], [0.1, 0.3], [0.7, 0.2]])
    group = replicates(X)
    assert group is not None
    assert np.array_equal(group[:, None] == group, (X[:, None] == X).all(axis=2))
    assert replicates(X[:2]) is None
    assert replicates(X[:1]) is None
    assert replicates(X[:0]) is None


@pytest.mark.both_backends
def test_replicates_whose_noise_is_known_say_nothing() -> None:
    X = np.array([[0.1], [0.1], [0.4], [0.7], [0.9]])
    y = np.array([0.0, 0.3, 0.5, 0.2, 0.1])

    def noise(std: list[float]) -> float:
        return fit_gp(Data(X, y, np.array(std)), "matern52", AUTO, np.random.default_rng(0)).hyper.noise

    assert noise([0.0] * 5) > EXACT  # they differ without a reason
    assert noise([0.0, 0.3, 0.0, 0.0, 0.0]) <= EXACT
    assert noise([0.3] * 5) <= EXACT


@pytest.mark.both_backends
def test_a_model_follows_what_replicates_say() -> None:
    X = np.random.default_rng(0).random((8, 2))
    twice, y = np.vstack([X, X[:2]]), wave(X)
    assert not fitted(X, y).is_noisy
    assert fitted(twice, np.append(y, y[:2] + np.array([0.3, -0.2]))).is_noisy
    X, y = noisy_wave(60, 0)
    assert fitted(X, y).is_noisy
    same = fitted(np.vstack([X, X[:2]]), np.append(y, y[:2]))
    assert same.hyper.noise == EXACT


# Evidence


@pytest.mark.both_backends
@each("seed", range(4))
@each("share", [0.1, 0.5])
def test_clear_noise_is_seen(share: float, seed: int) -> None:
    X, y = noisy_wave(50, seed, share)
    model = fitted(X, y)
    truth = share**2 / (1.0 + share**2)
    assert truth / 5.0 < model.hyper.noise < truth * 5.0
    assert model.hyper.to_config() == fitted(X, y, noise="infer").hyper.to_config(), "the same search, from its center"


@pytest.mark.both_backends
@each("n", [1, 2, 20, 40, 60])
@each(
    ("function", "d"),
    [(hartmann6, 6), (wave, 4), (bowl, 3), (lambda X: branin(15.0 * X - np.array([5.0, 0.0])), 2), (np.ravel, 1)],
    ids=["hartmann6", "wave", "bowl", "branin", "line"],
)
def test_a_smooth_function_is_fitted_as_if_no_noise_were_known_of(
    function: Callable[[Array], Array], d: int, n: int
) -> None:
    for seed in range(4):
        X = np.random.default_rng(seed).random((n, d))
        found, exact = fitted(X, function(X)), fitted(X, function(X), noise=EXACT)
        assert found.hyper.to_config() == exact.hyper.to_config()


def run(f: Callable[[Array], Array], share: float, seed: int, d: int = 3, n: int = 54) -> bool:
    """Whether the model that ``n`` evaluations led to is noisy."""
    rng, std = np.random.default_rng(seed), share * float(f(np.random.default_rng(1).random((2000, d))).std())
    opt = bv.Optimizer(bv.Space.cube(d), seed=seed)
    while opt.counts.done < n:
        batch = opt.ask(3)
        X = np.array([trial.encoded for trial in batch])
        opt.tell_many(batch, f(X) + std * rng.standard_normal(len(X)))
    opt.ask(1)
    assert opt.hyperparameters is not None
    return bool(opt.hyperparameters["noise"] > EXACT)


@pytest.mark.parametrize(("function", "d"), [(hartmann6, 6), (bowl, 3), (steps, 3), (rastrigin, 3)])
def test_deterministic_runs_end_with_a_deterministic_model(function: Callable[[Array], Array], d: int) -> None:
    """A rough function may look noisy for a while; then points come closer, and show that it is not."""
    assert sum(run(function, 0.0, seed, d) for seed in range(6)) <= 1


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize(("function", "d"), [(wave, 4), (bowl, 3)])
def test_noisy_runs_end_with_a_noisy_model(function: Callable[[Array], Array], d: int, share: float) -> None:
    assert sum(run(function, share, seed, d) for seed in range(4)) >= 3


def test_a_decision_asks_for_the_evidence_of_its_preset() -> None:
    X, y = noisy_wave(50, 0)
    for evidence, noisy in ((1.0, True), (1e9, False)):
        preset = replace(gp_fit.DEFAULT, evidence=evidence)
        assert fit_gp(Data(X, y), "matern52", AUTO, np.random.default_rng(0), preset=preset).is_noisy is noisy


def cone(X: Array) -> Array:
    distance: Array = np.sqrt(((X - 0.43) ** 2).sum(axis=1))
    return distance


def test_what_is_rougher_than_its_kernel_is_not_called_noisy() -> None:
    rng = np.random.default_rng(0)
    X = np.clip(0.43 + rng.standard_normal((60, 3)) * rng.choice([0.3, 0.1, 0.03], (60, 1)), 0.0, 1.0)
    assert not fitted(X, cone(X)).is_noisy
    assert fitted(X, cone(X) + 0.3 * cone(X).std() * rng.standard_normal(60)).is_noisy


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern32"])
def test_every_kernel_can_decide(kernel: str) -> None:
    X, y = noisy_wave(60, 6)
    assert fitted(X, y, kernel=kernel).is_noisy
    assert not fitted(X, wave(X), kernel=kernel).is_noisy


# Warm starts, many data, state


@pytest.mark.both_backends
def test_a_decision_can_be_taken_back() -> None:
    X, y = noisy_wave(40, 1)
    believed = fitted(X, y)
    assert believed.is_noisy
    assert not fitted(X, wave(X), believed).is_noisy
    deterministic = fitted(X, wave(X))
    assert fitted(X, y, deterministic).is_noisy


def test_with_many_data_a_decision_holds_until_they_have_grown_by_a_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gp_fit, "CENTER_UP_TO", 30)
    X, y = noisy_wave(60, 2)
    before = fitted(X[:58], wave(X[:58]))
    assert not before.is_noisy
    assert not fitted(X, y, before).is_noisy
    assert fitted(X, y, fitted(X[:40], wave(X[:40]))).is_noisy
    assert fitted(X, wave(X), fitted(X[:58], y[:58])).hyper.noise > EXACT
    assert not fitted(X, wave(X), fitted(X[:40], y[:40])).is_noisy


@pytest.mark.both_backends
def test_what_is_decided_is_described_and_restored_bit_for_bit() -> None:
    X, y = noisy_wave(40, 3)
    for values in (y, wave(X)):
        model = fitted(X, values)
        again = GP().restore(Data(X, values), GP().describe(model))
        assert again.hyper.to_config() == model.hyper.to_config()
        assert (again.predict(X).mean == model.predict(X).mean).all()
        more = fitted(X, values, model), fitted(X, values, again)
        assert more[0].hyper.to_config() == more[1].hyper.to_config()


def test_a_sparse_process_can_decide_too() -> None:
    X, y = noisy_wave(60, 4)
    for values, noisy in ((y, True), (wave(X), False)):
        assert SparseGP(noise="auto").fit(Data(X, values), np.random.default_rng(0)).is_noisy is noisy


def test_known_noise_is_not_inferred_again() -> None:
    X, y = noisy_wave(60, 5)
    std = np.full(60, 0.3 * wave(X).std())
    assert GP().fit(Data(X, y, std), np.random.default_rng(0)).hyper.noise == EXACT
