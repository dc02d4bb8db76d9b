"""Spaces, spies and studies that several tests of the optimizer share, and what all trials must satisfy."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from believer import GP, Categorical, Float, Int, LogEI, Optimizer, Space, Trial
from believer.acquisitions import Pointwise
from believer.arrays import SAME_POINT, Array
from believer.batch import Data
from believer.surrogates.gp import GPModel
from believer.surrogates.protocols import Model, Prediction


def below(params: dict[str, Any]) -> bool:
    return bool(params["x"] + params["y"] <= 12.0)


def on_the_diagonal(params: dict[str, Any]) -> bool:
    return bool(params["a"] == params["b"] <= 8)


SPACES: dict[str, Space] = {
    "cube": Space.cube(2),
    "mixed": Space({"lr": Float(1e-5, 1.0, log=True), "depth": Int(1, 8), "kernel": Categorical(["rbf", "poly", 3])}),
    "constrained": Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 15.0)}, below),
    "line": Space({"x": Float(-3.0, 7.0)}),
    "discrete": Space({"n": Int(0, 9), "c": Categorical(["a", "b", None]), "s": Float(0.0, 1.0, step=0.25)}),
}
NAMES = ("cl_min", "cl_max", "cl_mean", "kb", "hedged", "kb_lower", "kb_upper", "fantasy", "random")
PSEUDO = NAMES[:-1]
any_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
any_strategy = pytest.mark.parametrize("strategy", NAMES)


def value_of(trial: Trial) -> float:
    """A smooth bowl with a few ripples, over the encoded cube of any space."""
    return float(((trial.encoded - 0.35) ** 2).sum() + 0.1 * np.sin(9.0 * trial.encoded).sum())


def tell_all(optimizer: Optimizer, batch: Iterable[Trial], sign: float = 1.0) -> None:
    for trial in batch:
        optimizer.tell(trial, sign * value_of(trial))


def started(space: Space, n_init: int = 4, sign: float = 1.0, **options: Any) -> Optimizer:
    """An optimizer whose design is done and told, so that the next ask needs the model."""
    optimizer = Optimizer(space, n_init=n_init, **{"seed": 0, **options})
    tell_all(optimizer, optimizer.ask(n_init), sign)
    return optimizer


def gap(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())


def assert_lawful(space: Space, trials: Sequence[Trial]) -> None:
    """Inside the space, canonical, and encoded as they are written."""
    for trial in trials:
        assert space.check(trial.params) == trial.params
        assert space.allows(trial.params)
        assert gap(trial.encoded, space.encode([trial.params])[0]) <= 1e-12


def assert_distinct(trials: Sequence[Trial]) -> None:
    for a, b in itertools.combinations(trials, 2):
        assert gap(a.encoded, b.encoded) > SAME_POINT, (a.params, b.params)


@dataclass(frozen=True, eq=False)
class SpyLie:
    """Believes, and keeps what it was asked about."""

    seen: list[tuple[float, ...]] = field(default_factory=list)

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: np.random.Generator) -> float:
        self.seen.append(tuple(x.tolist()))
        return float(model.predict(x[None, :]).mean[0])

    @property
    def verb(self) -> str:
        return "spying on"


def units(trials: Iterable[Trial]) -> list[tuple[float, ...]]:
    return [tuple(trial.encoded.tolist()) for trial in trials]


@dataclass(frozen=True, eq=False)
class SpySurrogate:
    """A Gaussian process that keeps the data of its fits."""

    fits: list[tuple[Array, Array]] = field(default_factory=list)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> GPModel:
        X, y = data.X, data.y
        self.fits.append((X, y))
        return GP().fit(Data(X, y), rng, previous)


@dataclass(frozen=True, eq=False)
class SpyAcquisition:
    """LogEI that keeps the incumbents."""

    incumbents: set[float] = field(default_factory=set)

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        self.incumbents.add(incumbent)
        return LogEI().pointwise(mean, std, incumbent)


@dataclass(frozen=True)
class Plain:
    """A surrogate that can only predict: the nearest neighbor, and the distance to it."""

    def fit(self, data: Data, rng: np.random.Generator, previous: object = None) -> PlainModel:
        X, y = data.X, data.y
        return PlainModel(X, y)


@dataclass(frozen=True, eq=False)
class PlainModel:
    X: Array
    y: Array

    def predict(self, X: Array) -> Prediction:
        distance = np.abs(X[:, None, :] - self.X[None, :, :]).sum(axis=2)
        return Prediction(self.y[distance.argmin(axis=1)], distance.min(axis=1) + 1e-9)


NEW = {"lr": 0.5, "depth": 1, "kernel": "rbf"}


def with_history() -> Optimizer:
    """Five results, one of them a failure, and two pending trials: 5 and 6."""
    mixed = SPACES["mixed"]
    space = Space(mixed.parameters, lambda params: params["depth"] < 8)
    optimizer = started(space)
    optimizer.tell(optimizer.ask(1)[0], error="failed")
    optimizer.ask(2)
    return optimizer


def state(optimizer: Optimizer) -> Any:
    return optimizer.records(), optimizer.queued, optimizer.counts, optimizer.best, optimizer.hyperparameters
