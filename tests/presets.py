"""Ways to fit a Gaussian process: the library's own, and one without priors that climbs by L-BFGS-B from restarts."""

from __future__ import annotations

from believer.numerics import LBFGSSettings
from believer.surrogates import Preset

PRESETS = {
    "default": Preset(),
    "likelihood": Preset(
        lengthscale=None,
        signal=None,
        noise=None,
        signal_bounds=(1e-3, 1e3),
        restarts=5,
        warm=False,
        scaled=False,
        mean_std=None,
        search=LBFGSSettings(max_rounds=200, gradient_tol=1e-6, value_tol=1e-10),
    ),
}
