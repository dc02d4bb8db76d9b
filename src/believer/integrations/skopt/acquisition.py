"""Acquisition functions of a model with ``predict(X, return_std=True)``."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from believer.errors import InvalidInput
from believer.numerics.special import normal_pdf

__all__ = ["gaussian_acquisition_1D", "gaussian_ei", "gaussian_lcb", "gaussian_pi"]


def gaussian_ei(X: Any, model: Any, y_opt: float = 0.0, xi: float = 0.01) -> Any:
    """The expected improvement on ``y_opt`` by more than ``xi`` at the points ``X`` (n, d)."""
    mean, std = model.predict(X, return_std=True)
    gain, sure = y_opt - xi - mean, std > 0.0
    z = gain / np.where(sure, std, 1.0)
    return np.where(sure, gain * ndtr(z) + std * normal_pdf(z), 0.0)


def gaussian_pi(X: Any, model: Any, y_opt: float = 0.0, xi: float = 0.01) -> Any:
    """The probability of an improvement on ``y_opt`` by more than ``xi`` at the points ``X`` (n, d)."""
    mean, std = model.predict(X, return_std=True)
    sure = std > 0.0
    return np.where(sure, ndtr((y_opt - xi - mean) / np.where(sure, std, 1.0)), 0.0)


def gaussian_lcb(X: Any, model: Any, kappa: Any = 1.96) -> Any:
    """The lower confidence bound, ``kappa`` standard deviations below the mean; "inf" is minus the std alone."""
    mean, std = model.predict(X, return_std=True)
    return -std if kappa == "inf" else mean - kappa * std


def gaussian_acquisition_1D(  # noqa: N802  # the name that it has there
    X: Any, model: Any, y_opt: Any = None, acq_func: str = "LCB", **options: Any
) -> Any:
    """The values to be minimized at the numbers ``X``: "LCB", or minus "EI" or "PI"."""
    return _gaussian_acquisition(np.reshape(X, (-1, 1)), model, y_opt, acq_func, options)


def _gaussian_acquisition(
    X: Any, model: Any, y_opt: Any = None, acq_func: str = "LCB", acq_func_kwargs: Any = None
) -> Any:
    if np.ndim(X) != 2:
        raise InvalidInput(f"X must have two dimensions, (n, d); it has {np.ndim(X)}.")
    given = dict(acq_func_kwargs or {})
    if acq_func == "LCB":
        return gaussian_lcb(X, model, given.get("kappa", 1.96))
    worths = {"EI": gaussian_ei, "PI": gaussian_pi}
    if acq_func not in worths:
        raise InvalidInput(f"acq_func must be one of LCB, EI, PI; got {acq_func!r}.")
    return -worths[acq_func](X, model, y_opt, given.get("xi", 0.01))
