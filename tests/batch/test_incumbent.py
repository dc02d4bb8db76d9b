from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from believer.acquisitions import LogEI
from believer.arrays import Array, frozen
from believer.batch import Data, Pending, Request
from believer.batch.incumbent import believed_incumbent, is_noisy, real_incumbent
from believer.space.box import Box
from believer.surrogates import GP
from believer.surrogates.protocols import Prediction

DATA = Data(frozen([[0.1], [0.5], [0.9]]), frozen([4.0, 1.0, 2.5]))


@dataclass(frozen=True)
class Flat:
    """Mean 7 less x, std 2; noisy or not."""

    is_noisy: bool
    seen: list[Array] = field(default_factory=list)

    def predict(self, X: Array) -> Prediction:
        self.seen.append(X)
        return Prediction(7.0 - X[:, 0], np.full(len(X), 2.0))


@dataclass(frozen=True)
class Silent:
    """A model that says nothing of noise."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


def request_for(model: Any) -> Request:
    none = frozen(np.zeros((0, 1)))
    failed = Data(frozen([[0.3]]), frozen([-50.0]))
    cube = Box.cube(1)
    streams = lambda trial, purpose: np.random.default_rng(trial)  # noqa: E731
    return Request((3,), GP(), LogEI(), model, DATA, Pending((), none), cube, DATA.X, True, streams, failed=failed)


@pytest.mark.parametrize("model", [Silent(), Flat(False)])
def test_without_noise_it_is_the_least_value_seen_or_believed(model: Any) -> None:
    request = request_for(model)
    assert real_incumbent(request) == 1.0
    X = np.array([[0.2], [0.7]])
    assert believed_incumbent(request, model, X, np.array([3.0, -2.0])) == -2.0
    assert believed_incumbent(request, model, X, np.array([3.0, 2.0])) == 1.0
    assert believed_incumbent(request, model, X[:0], np.zeros(0)) == 1.0
    assert not is_noisy(model)


def test_with_noise_it_is_the_least_mean_at_the_same_points_whatever_was_seen_there() -> None:
    model = Flat(True)
    assert is_noisy(model)
    assert real_incumbent(request_for(Silent())) == 1.0
    assert real_incumbent(request_for(model)) == 7.0 - 0.9
    X = np.array([[0.2], [0.95]])
    assert believed_incumbent(request_for(Silent()), model, X, np.array([-9.0, -9.0])) == 7.0 - 0.95
    np.testing.assert_array_equal(model.seen[-1], np.vstack([DATA.X, X]))


@pytest.mark.parametrize("failures", [0, 2])
@pytest.mark.parametrize("update", ["condition", "none"])
def test_a_gaussian_process_is_not_asked_to_predict_at_what_it_knows(update: str, failures: int) -> None:
    rng = np.random.default_rng(3)
    X, L = rng.random((12, 2)), rng.random((3, 2))
    data = Data(frozen(X), frozen(rng.normal(size=12)), frozen(np.full(12, 0.1)))
    model, lies = GP(noise="infer").fit(data, rng), rng.normal(size=3)
    failed = None if not failures else Data(frozen(rng.random((failures, 2))), frozen(np.full(failures, -9.0)))
    told = model if failed is None else model.condition(failed)
    told = told.condition(Data(L, lies)) if update == "condition" else told
    none, cube = frozen(np.zeros((0, 2))), Box.cube(2)
    streams = lambda trial, purpose: np.random.default_rng(trial)  # noqa: E731
    request = Request((0,), GP(), LogEI(), told, data, Pending((), none), cube, X, True, streams, failed=failed)
    wanted = told.predict(np.vstack([X, L])).mean.min()
    assert is_noisy(told)
    assert believed_incumbent(request, told, L, lies) == pytest.approx(wanted, abs=1e-9)
