"""The Gaussian process on PyTorch's CPU beside the one of NumPy and compiled code, and what only it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from each import each

import believer as bv
from believer.arrays import Array
from believer.errors import InvalidInput, MissingExtra
from believer.surrogates import torch_device
from believer.surrogates.data import Data
from believer.surrogates.gp_fit import PRIORS
from believer.surrogates.gp_likelihood import log_likelihood
from believer.surrogates.kernels import KERNELS

torch = pytest.importorskip("torch")

from believer.surrogates.torch_likelihood import likelihood_on  # noqa: E402
from believer.surrogates.torch_pool import TorchPool  # noqa: E402

CPU = bv.TorchGP(device="cpu")
Z = np.random.default_rng(5).random((40, 3))


def data(n: int = 40, d: int = 3, known: bool = False) -> Data:
    rng = np.random.default_rng(n)
    X = rng.random((n, d))
    y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.standard_normal(n)
    return Data(X, y, np.where(rng.random((n, 1)) < 0.5, 0.0, 0.05) if known else None)


@each("kernel", list(KERNELS))
@each("known", [False, True])
def test_predictions_are_those_of_gp_at_equal_hyperparameters(kernel: str, known: bool) -> None:
    given = data(known=known)
    gp = bv.GP(kernel, "infer")
    own = gp.fit(given, np.random.default_rng(0))
    there = bv.TorchGP(kernel, "infer", device="cpu").restore(given, gp.describe(own))
    more = Data(Z[:4], np.linspace(-1.0, 1.0, 4))
    for a, b in ((own, there), (own.condition(more), there.condition(more))):
        p, q = a.predict_with_gradient(Z[4:]), b.predict_with_gradient(Z[4:])
        for name in ("mean", "std", "mean_gradient", "std_gradient"):
            np.testing.assert_allclose(getattr(q, name), getattr(p, name), rtol=1e-6, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(b.mean_at_data(), a.mean_at_data(), atol=1e-6)
        np.testing.assert_allclose(b.leave_one_out().std, a.leave_one_out().std, atol=1e-6)
        assert b.log_evidence() == pytest.approx(a.log_evidence(), abs=1e-5)
        assert b.noise_std == a.noise_std
        assert b.is_noisy == a.is_noisy
        groups = Z[:6].reshape(2, 3, 3)
        one, other = a.joint_with_gradient(groups), b.joint_with_gradient(groups)
        np.testing.assert_allclose(other.covariance, one.covariance, atol=1e-6)
        by_mean, by_covariance = np.ones((2, 3)), np.arange(18.0).reshape(2, 3, 3)
        np.testing.assert_allclose(
            other.pull(by_mean, by_covariance), one.pull(by_mean, by_covariance), rtol=1e-5, atol=1e-5
        )


@each("kernel", list(KERNELS))
@each("noise", [None, 1e-3])
@each("known", [False, True])
@each("groups", [None, (0, 1, 1)])
def test_the_likelihood_is_that_of_the_host(
    kernel: str, noise: float | None, known: bool, groups: tuple[int, ...] | None
) -> None:
    given, tied = data(), None if groups is None else np.array(groups)
    beyond = np.linspace(0.0, 0.1, len(given)) if known else None
    theta = np.log([0.3, 0.7, 0.5][: 3 if groups is None else 2] + [1.5] + ([1e-2] if noise is None else []))
    args = (kernel, given.X, given.y, theta, noise, 1.0, beyond, tied)
    here, there = log_likelihood(*args), likelihood_on(torch.device("cpu"))(*args)
    assert there.value == pytest.approx(here.value, abs=1e-7)
    assert there.mean == pytest.approx(here.mean, abs=1e-9)
    np.testing.assert_allclose(there.gradient, here.gradient, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(there.information, here.information, rtol=1e-7, atol=1e-7)


@each("prior", list(PRIORS))
def test_a_fit_finds_the_hyperparameters_of_gp(prior: str) -> None:
    here = bv.GP(noise="infer", prior=prior).fit(data(), np.random.default_rng(0))
    there = bv.TorchGP(noise="infer", prior=prior, device="cpu").fit(data(), np.random.default_rng(0))
    np.testing.assert_allclose(np.log(there.lengthscales), np.log(here.lengthscales), atol=1e-5)


def test_a_pool_follows_the_model() -> None:
    model = CPU.fit(data(), np.random.default_rng(0))
    pool = model.pool(Z[:20])
    for row in range(20, 30):
        model = model.condition(Data(Z[row : row + 1], np.array([0.1 * row])))
        pool = cast(TorchPool, pool.under(model))
        if row % 4 == 0:
            pool = pool.extended(Z[row + 5 : row + 8])
    at, anew = pool.predict(), model.predict(pool.points)
    assert len(pool.points) == 29
    np.testing.assert_allclose(at.mean, anew.mean, atol=1e-7)
    np.testing.assert_allclose(at.std, anew.std, atol=1e-7)
    other = CPU.fit(data(50), np.random.default_rng(0))
    np.testing.assert_allclose(pool.under(other).predict().mean, other.predict(pool.points).mean)


def value(params: dict[str, float]) -> float:
    return float(sum((v - 0.3) ** 2 for v in params.values()) + 0.2 * np.sin(9.0 * params["x0"]))


def study(n: int, strategy: str, journal: Path | None = None) -> bv.Optimizer:
    opt = bv.Optimizer(bv.Space.cube(3), surrogate=CPU, strategy=strategy, seed=0, journal=journal)
    for row in np.random.default_rng(1).random((n, 3)):
        params = {f"x{j}": float(v) for j, v in enumerate(row)}
        opt.observe(params, value(params))
    return opt


def points(batch: bv.Batch) -> Array:
    return np.array([trial.encoded for trial in batch])


@pytest.mark.parametrize("strategy", ["kb", "hedged"])
def test_a_batch_is_moved_together_and_the_same_again(strategy: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    opt = study(220, strategy, path)
    first, second = opt.ask(4), opt.ask(2)
    assert any("moved together" in trial.provenance for trial in first)
    again = study(220, strategy)
    np.testing.assert_array_equal(points(again.ask(4)), points(first))
    opt.close()
    loaded = bv.Optimizer.load(path)
    assert [trial.params for trial in loaded.pending] == [trial.params for trial in (*first, *second)]
    np.testing.assert_array_equal(points(loaded.ask(1)), points(_after(again, 2).ask(1)))
    loaded.close()


def _after(opt: bv.Optimizer, q: int) -> bv.Optimizer:
    opt.ask(q)
    return opt


def test_one_by_one_is_not_at_once_where_points_move_together() -> None:
    at_once, one_by_one = points(study(220, "kb").ask(3)), study(220, "kb")
    assert not np.array_equal(np.vstack([points(one_by_one.ask(1)) for _ in range(3)]), at_once)


def test_moving_together_is_worth_more_than_the_candidates_alone() -> None:
    from believer.batch import STRATEGIES, together
    from believer.batch.gain import expected_gain
    from believer.propose import request_of
    from believer.study.history import History

    opt = study(220, "kb")
    history: History = opt._ledger.history(opt.settings)
    request = request_of(opt.settings, history, 4)
    moved = STRATEGIES["kb"].choose(request).choices

    def kept(request: Any, choices: Any, *rest: Any, **settings: Any) -> Any:
        return tuple(choices)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("believer.batch.pseudo.moved", kept)
        still = STRATEGIES["kb"].choose(request).choices
    assert together.moves_together(STRATEGIES["kb"], request)  # type: ignore[arg-type]
    gains = [expected_gain(request, np.array([choice.x for choice in choices])) for choices in (moved, still)]
    assert gains[0] is not None
    assert gains[1] is not None
    assert gains[0].together >= gains[1].together


def test_results_without_room_are_refused_before_any_work_is_done() -> None:
    with pytest.raises(InvalidInput, match="enough for 111 results"):
        bv.TorchGP(device="cpu", memory=1e6).fit(data(112), np.random.default_rng(0))
    bv.TorchGP(device="cpu", memory=1e6).fit(data(111), np.random.default_rng(0))


@each(
    "settings",
    [
        {"device": "tpu"},
        {"device": 3},
        {"memory": 0.0},
        {"memory": "1"},
        {"kernel": "rbf"},
        {"noise": -1},
        {"prior": "none"},
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        bv.TorchGP(**{"device": "cpu", **settings})


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidInput, match="'cuda'"):
        bv.TorchGP(device="cuda").fit(data(), np.random.default_rng(0))


def test_without_pytorch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    torch_device.pytorch.cache_clear()
    monkeypatch.setattr(torch_device, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"believer\[torch\]"):
        bv.TorchGP(device="cpu")
    torch_device.pytorch.cache_clear()
