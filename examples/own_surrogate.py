"""A surrogate of your own: does it respond to a lie, as a batch by pseudo-observations needs? Then optimize with it."""

from dataclasses import dataclass

import numpy as np

import believer as bv
from believer.plugins import Prediction
from believer.testing import check_surrogate


@dataclass(frozen=True)
class Neighbors:
    """Inverse-distance weighting: the mean of the results, weighted by how near they are; surer near them."""

    power: float = 3.0

    def fit(self, data, rng, previous=None):
        return NeighborsModel(data.X.copy(), data.y.copy(), self.power)


@dataclass(frozen=True)
class NeighborsModel:
    X: np.ndarray
    y: np.ndarray
    power: float

    def predict(self, X):
        distance = np.sqrt(((X[:, None, :] - self.X) ** 2).sum(axis=2)) + 1e-9
        weights = distance**-self.power
        mean = weights @ self.y / weights.sum(axis=1)
        scale = np.ptp(self.y) or abs(self.y[0]) or 1.0
        return Prediction(mean, scale * (distance.min(axis=1) + 1e-3))


def main():
    contract = check_surrogate(
        Neighbors()
    )  # shapes, units, ranges, nothing changed in place; print(contract) lists all
    print(f"Neighbors keeps the contract: {len(contract.passed)} laws")

    report = bv.sdd(Neighbors(), "hartmann6", q=3, seeds=2)  # the Structural Diversity Diagnostic
    print(report)

    space = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)})
    for surrogate in (Neighbors(), bv.GP()):
        result = bv.minimize(branin, space, budget=40, q=4, surrogate=surrogate, seed=0, progress=False)
        print(f"{type(surrogate).__name__:<10} {result.value:.4f} (the minimum is 0.3979)")


def branin(p):
    valley = p["y"] - 5.1 / (4 * np.pi**2) * p["x"] ** 2 + 5 / np.pi * p["x"] - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(p["x"]) + 10


if __name__ == "__main__":
    main()
