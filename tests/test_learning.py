"""What a study learns with a surrogate that can only be fitted again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from believer import GP, Float, Optimizer, PseudoObservations, Space
from believer.arrays import Array
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction

SPACE = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)})


@dataclass(frozen=True, eq=False)
class NearestModel:
    """The value of the nearest observation, surer the nearer it is."""

    X: Array
    y: Array

    def predict(self, X: Array) -> Prediction:
        distance = np.sqrt(((X[:, None, :] - self.X) ** 2).sum(axis=2))
        return Prediction(self.y[distance.argmin(axis=1)], distance.min(axis=1) + 1e-3)


@dataclass(frozen=True, eq=False)
class Refitted:
    """Writes down the data of each fit."""

    fits: list[tuple[Array, Array]] = field(default_factory=list)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> NearestModel:
        X, y = data.X, data.y
        self.fits.append((X, y))
        return NearestModel(X, y)


def study(surrogate: Refitted) -> Optimizer:
    """Four results, the worst of them 3, and one failure."""
    optimizer = Optimizer(SPACE, surrogate=surrogate, n_init=5, seed=0)
    batch = optimizer.ask(5)
    optimizer.tell_many(batch[:4], [0.0, 1.0, 2.0, 3.0])
    optimizer.tell(batch[4], error="crashed")
    return optimizer


def test_refits_with_lies_keep_the_failures_as_the_worst_result() -> None:
    surrogate = Refitted()
    optimizer = study(surrogate)
    optimizer.ask(3)
    assert [len(y) for _, y in surrogate.fits] == [4, 5, 6, 7, 8]
    for X, y in surrogate.fits[1:]:
        assert (X[4] == optimizer.trials[4].encoded).all()
        assert y[4] == 3.0


def test_the_model_knows_where_a_trial_failed() -> None:
    optimizer = study(Refitted())
    assert optimizer.predict([optimizer.trials[4].params]).mean[0] == 3.0


def test_a_refit_of_a_model_that_could_be_conditioned_keeps_failures_too() -> None:
    fits: list[int] = []

    @dataclass(frozen=True)
    class Spy:
        def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
            X, y = data.X, data.y
            fits.append(len(X))
            return GP().fit(Data(X, y), rng, previous)

    strategy = PseudoObservations(update="refit")
    optimizer = Optimizer(SPACE, surrogate=Spy(), n_init=5, strategy=strategy, warp="none", seed=0)
    batch = optimizer.ask(5)
    optimizer.tell_many(batch[:4], [0.0, 1.0, 2.0, 3.0])
    optimizer.tell(batch[4], error="crashed")
    optimizer.ask(2)
    assert fits == [4, 6, 7]


@dataclass(frozen=True)
class Wrong:
    """A model that predicts ``answer``."""

    answer: object

    def predict(self, X: Array) -> object:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (np.zeros(1), MissingCapability, "mean"),
        (Prediction(np.zeros(1), np.array([np.nan])), InvalidInput, "finite"),
        (Prediction(np.zeros(1), np.zeros(1)), InvalidInput, "above zero"),
        (Prediction(np.zeros(3), np.ones(3)), InvalidInput, "shape"),
    ],
)
def test_a_surrogate_that_breaks_its_promises_gets_one_clear_error_and_nothing_is_lost(
    answer: object, error: type[Exception], words: str
) -> None:
    @dataclass(frozen=True)
    class Broken:
        def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Wrong:
            return Wrong(answer)

    optimizer = Optimizer(SPACE, surrogate=Broken(), n_init=2, seed=0)  # type: ignore[arg-type]
    optimizer.tell_many(optimizer.ask(2), [0.0, 1.0])
    with pytest.raises(error, match=words):
        optimizer.ask(1)
    assert optimizer.counts.done == 2
    assert optimizer.pending == ()
