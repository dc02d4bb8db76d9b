"""Surrogates with known answers, and measurements made by hand; in a module of their own, for several tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from believer.arrays import Array
from believer.diagnostics.measurement import Measurement, SddPart
from believer.surrogates import GP, GPModel
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction


@dataclass(frozen=True, slots=True, eq=False)
class SpotsModel:
    """Sure of a bad value but in a few narrow spots; a lie in a spot takes its doubt away."""

    open: tuple[float, ...]
    mean: float

    def predict(self, X: Array) -> Prediction:
        """The same mean everywhere; std 1e-4, and up to 1 in a spot around (c, c, ...)."""
        std = np.full(len(X), 1e-4)
        for number, spot in enumerate(self.open):
            r2 = ((X - spot) ** 2).sum(axis=1) / 0.05**2
            std = np.maximum(std, (1.0 - 0.1 * number) * np.clip(1.0 - r2, 0.0, None))
        return Prediction(np.full(len(X), self.mean), std)

    def condition(self, data: Data) -> Self:
        """Every spot that was visited is closed."""
        X = data.X
        left = tuple(c for c in self.open if not (np.sqrt(((X - c) ** 2).sum(axis=1)) < 0.05).any())
        return replace(self, open=left)


@dataclass(frozen=True, slots=True)
class Spots:
    """Responds to lies; its expected improvement is exactly zero, and flat, at the fixed starts."""

    spots: tuple[float, ...] = (0.35, 0.65, 0.1, 0.9)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> SpotsModel:
        y = data.y
        return SpotsModel(self.spots, float(y.min()) + 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class StepsModel:
    """Constant in cells: sums and counts of y in each of ``sides`` slices of the first column."""

    sums: Array
    counts: Array

    def _cells(self, X: Array) -> Any:
        return np.minimum((X[:, 0] * len(self.sums)).astype(int), len(self.sums) - 1)

    def predict(self, X: Array) -> Prediction:
        at = self._cells(X)
        return Prediction(self.sums[at] / (1.0 + self.counts[at]), 1.0 / np.sqrt(1.0 + self.counts[at]))

    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        sums, counts = self.sums.copy(), self.counts.copy()
        np.add.at(sums, self._cells(X), y)
        np.add.at(counts, self._cells(X), 1.0)
        return replace(self, sums=sums, counts=counts)


@dataclass(frozen=True, slots=True)
class Steps:
    """Piecewise constant: responds in the cell of a lie, where no climb ever leaves its start."""

    cells: int = 5

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> StepsModel:
        X, y = data.X, data.y
        return StepsModel(np.zeros(self.cells), np.zeros(self.cells)).condition(Data(X, y))


@dataclass(frozen=True, slots=True)
class Deaf:
    """A Gaussian process of the first ``keep`` observations: trained again, it ignores all that follow."""

    keep: int

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        X, y = data.X, data.y
        return GP().fit(Data(X[: self.keep], y[: self.keep]), np.random.default_rng(0), None)


@dataclass(frozen=True, slots=True, eq=False)
class DeafModel:
    """Can be conditioned, and does not care."""

    inner: GPModel

    def predict(self, X: Array) -> Prediction:
        return self.inner.predict(X)

    def condition(self, data: Data) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class DeafConditioned:
    """Its models take lies and do nothing with them."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> DeafModel:
        X, y = data.X, data.y
        return DeafModel(GP().fit(Data(X, y), rng, None))


@dataclass(frozen=True, slots=True, eq=False)
class TiltModel:
    """A plane of slope ``tilt`` (d,), equally sure everywhere."""

    tilt: Array

    def predict(self, X: Array) -> Prediction:
        return Prediction(X @ self.tilt, np.full(len(X), 0.1))


@dataclass(frozen=True, slots=True)
class Tilt:
    """Draws its plane anew at every fit and ignores all data."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        return TiltModel(rng.standard_normal((X.shape[1],)))


@dataclass(frozen=True, slots=True)
class FixableTilt:
    """The same, and its draws can be held fixed."""

    seed: int | None = None

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> TiltModel:
        X = data.X
        source = rng if self.seed is None else np.random.default_rng(self.seed)
        return TiltModel(source.standard_normal((X.shape[1],)))

    def with_fixed_draws(self, seed: int) -> FixableTilt:
        return FixableTilt(seed)


def batch(apart: float, *responses: float) -> SddPart:
    """Two points that far apart, and how far the lie moved the acquisition (not at all, unless told)."""
    return SddPart(((0.0, 0.0), (apart, 0.0)), 0.01, responses or (0.0,))


def measured(**parts: Any) -> Measurement:
    """Nothing responds and every batch is one point, but for ``parts``."""
    given: dict[str, Any] = {
        **dict.fromkeys(("fixed", "random", "free", "null", "null_free"), batch(0.0)),
        **{"frozen": None, "frozen_free": None, "moved": 0.5, "reached": 0.9, "random_pair": 0.52},
        **{"min_lengthscales": None, "seed": 0},
    }
    return Measurement(**{**given, **parts})


@dataclass(frozen=True, slots=True)
class Answering:
    """A surrogate whose models answer what a function makes of the points."""

    answer: Callable[[Array], Any]

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Any:
        return AnsweringModel(self.answer)


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    answer: Callable[[Array], Any]

    def predict(self, X: Array) -> Any:
        return self.answer(X)
