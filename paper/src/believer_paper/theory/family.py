"""Small random situations of one kind, for searches and for laws that are tested on many of them.

======  =====================================================
symbol  meaning
======  =====================================================
n       results, drawn from the prior with its noise
ℓ       lengthscales, log-uniform in [0.1, 0.5] √d
σ_f²    prior variance, 1; the prior mean is 0
ν       σ_n² / σ_f²
======  =====================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from believer.acquisitions import EI, PerPoint
from believer.arrays import finite, frozen, whole
from believer.batch import Believe, Data, Lie
from believer.errors import InvalidInput
from believer.numerics import latin_hypercube
from believer.surrogates import KERNELS, Hyperparameters, posterior, squared_distances
from believer_paper.theory.situation import Situation

_NUGGET = 1e-9


@dataclass(frozen=True, slots=True)
class Family:
    """Gaussian processes with known hyperparameters in ``dim`` columns, with 3 to 3 + 3 dim results; ``noise`` is ν."""

    acquisition: PerPoint = field(default_factory=EI)
    lie: Lie = field(default_factory=Believe)
    incumbent: str = "believed"
    noise: float = 0.0
    kernel: str = "matern52"
    dim: int = 1

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}; got {self.kernel!r}.")
        if finite(self.noise, "noise") < 0.0:
            raise InvalidInput(f"noise must be a variance, zero or more; got {self.noise!r}.")
        whole(self.dim, "dim", 1)

    def draw(self, rng: np.random.Generator) -> Situation:
        """Draw a situation of the family."""
        n = int(rng.integers(3, 4 + 3 * self.dim))
        lengthscales = np.exp(rng.uniform(np.log(0.1), np.log(0.5), self.dim)) * np.sqrt(self.dim)
        X = latin_hypercube(n, self.dim, rng)
        k = KERNELS[self.kernel](squared_distances(X / lengthscales, X / lengthscales))[0]
        y = np.linalg.cholesky(k + (self.noise + _NUGGET) * np.eye(n)) @ rng.standard_normal(n)
        model = posterior(Hyperparameters(self.kernel, frozen(lengthscales), 1.0, self.noise), X, y, 0.0, 1.0)
        return Situation(model, self.acquisition, self.lie, Data(frozen(X), frozen(y)), incumbent=self.incumbent)
