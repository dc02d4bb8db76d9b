"""The Gaussian process fitted as in the paper, by maximum likelihood, but with the library's own search.

[paper] appendix "Hyperparameter details": σ_f² starts at 1 in [1e-3, 1e3], ℓ at 1 in [1e-2, 1e2], with five restarts
and no warm start. scikit-learn draws its restarts log-uniformly within the bounds; so does this module.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.numerics import LBFGSSettings
from believer.plugins import Data, Model
from believer.surrogates import GP, GPModel, Preset, fit_gp

LIKELIHOOD = Preset(
    lengthscale=None,
    signal=None,
    noise=None,
    lengthscale_bounds=(1e-2, 1e2),
    signal_bounds=(1e-3, 1e3),
    noise_bounds=(1e-6, 1.0),
    restarts=5,
    warm=False,
    scaled=False,
    mean_std=None,
    search=LBFGSSettings(max_rounds=200, gradient_tol=1e-6, value_tol=1e-10),
)


@dataclass(frozen=True, slots=True)
class PrintedGP:
    """The library's Gaussian process, fitted as in the paper; ``kernel`` and ``noise`` are those of ``GP``."""

    kernel: str = "matern52"
    noise: float | str = 1e-6

    def __post_init__(self) -> None:
        GP(self.kernel, self.noise)  # says what is wrong with them

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> GPModel:
        """Maximize the likelihood of ``data`` from scratch, then compute the exact posterior."""
        return fit_gp(data, self.kernel, self.noise, rng, previous, LIKELIHOOD)
