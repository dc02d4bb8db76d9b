"""Checks of arguments of the theory functions; each returns its argument if valid, and raises InvalidInput otherwise.

======  =======================================
symbol  meaning
======  =======================================
d       columns of the encoded unit cube
m       points at which something is evaluated
======  =======================================
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from believer.arrays import Array, as_points, finite
from believer.batch import Data
from believer.errors import InvalidInput, MissingCapability
from believer.plugins import Conditionable, Joint, Scaled, learnable
from believer.surrogates import GPModel, SparseGPModel

GaussianProcess = GPModel | SparseGPModel
"""Gaussian processes whose kernel, signal and noise are known."""


@runtime_checkable
class JointConditionable(Joint, Conditionable, Protocol):
    """A model that has joint covariances and can be conditioned; the exact Gaussian process is one."""


@runtime_checkable
class Dimensioned(Protocol):
    """A model that says how many columns its points have."""

    @property
    def dim(self) -> int:
        """The number of columns d."""


def columns(model: object) -> int | None:
    """The number of columns of the points that ``model`` was fitted to; None if the model does not say."""
    if isinstance(model, Scaled):
        return len(model.lengthscales)
    return model.dim if isinstance(model, Dimensioned) else None


def numbers(value: Any, name: str, *, infinite: bool = False) -> Array:
    """``value``, a number or an array of any shape, as floats. It must be finite, or with ``infinite`` only not NaN."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be a number or an array of numbers; got {type(value).__name__}.") from error
    if np.isnan(found).any() if infinite else not np.isfinite(found).all():
        raise InvalidInput(f"{name} must {'not be NaN' if infinite else 'be finite'}; got {value!r}.")
    return found


def point(x: Any, d: int | None, name: str = "x") -> Array:
    """``x`` as one finite point (d,); any length is allowed if ``d`` is None."""
    found = numbers(x, name)
    if found.ndim != 1 or (d is not None and len(found) != d) or len(found) == 0:
        rule = "one point, shape (d,)" if d is None else f"one point, shape ({d},)"
        raise InvalidInput(f"{name} must be {rule}; got shape {found.shape}.")
    return found


def points(at: Any, d: int | None, name: str = "at", least: int = 0) -> Array:
    """``at`` as at least ``least`` finite points (m, d)."""
    found = as_points(at, d, name)
    if len(found) < least:
        raise InvalidInput(f"{name} must have at least {least} row{'s' * (least > 1)}; got {len(found)}.")
    return found


def place(model: object, x: Any, at: Any) -> tuple[Array, Array]:
    """``x`` (d,) and ``at`` (m, d), checked to have the columns of ``model``, or each other's if it does not say."""
    found = point(x, columns(model))
    return found, points(at, len(found))


def variance(value: Any, name: str) -> float:
    """``value`` as a finite float, zero or more."""
    found = finite(value, name)
    if found < 0.0:
        raise InvalidInput(f"{name} must be a variance, zero or more; got {value!r}.")
    return found


def at_least_zero(value: Any, name: str) -> float:
    """``value`` as a finite float that is zero or positive."""
    found = finite(value, name)
    if found < 0.0:
        raise InvalidInput(f"{name} must be zero or more; got {value!r}.")
    return found


def in_cube(x: Any, d: int | None) -> Array:
    """``x`` as a point (d,) of the unit cube."""
    found = point(x, d)
    if found.min(initial=0.0) < 0.0 or found.max(initial=0.0) > 1.0:
        raise InvalidInput(f"x must be a point of the unit cube; got {found.tolist()}.")
    return found


def above_zero(value: Any, name: str) -> float:
    """``value`` as a finite float above zero."""
    found = finite(value, name)
    if found <= 0.0:
        raise InvalidInput(f"{name} must be above zero; got {value!r}.")
    return found


def share(value: Any, name: str) -> float:
    """``value`` as a share of a variance, in (0, 1]."""
    found = finite(value, name)
    if not 0.0 < found <= 1.0:
        raise InvalidInput(f"{name} must be a share of the variance, in (0, 1]; got {value!r}.")
    return found


def results(data: Any, d: int) -> Data:
    """``data`` with at least one result, all finite, in ``d`` columns."""
    if not isinstance(data, Data):
        raise InvalidInput(f"data must be believer.plugins.Data(X, y); got {type(data).__name__}.")
    X, y, _ = learnable(data, "a Gaussian process")
    return Data(as_points(X, d, "data.X"), y)


def process(model: object) -> GaussianProcess:
    """``model``, a Gaussian process whose hyperparameters can be read."""
    if not isinstance(model, GaussianProcess):
        raise MissingCapability(
            f"this needs the hyperparameters of a Gaussian process; got {type(model).__name__}. "
            "Use a model that GP or SparseGP fitted."
        )
    return model


def exact_process(model: object) -> GPModel:
    """``model``, an exact Gaussian process, for which [paper] Eq. 2 gives the variance after a lie."""
    if not isinstance(model, GPModel):
        raise MissingCapability(
            f"this holds for an exact Gaussian process; got {type(model).__name__}. Use a model that GP fitted."
        )
    return model


def conditionable(model: object) -> None:
    """Raise MissingCapability unless ``model`` can be conditioned."""
    if not isinstance(model, Conditionable):
        raise MissingCapability(
            f"this needs a model with predict(X) and condition(data); got {type(model).__name__}, which lacks them. "
            "Use GP, SparseGP, MQRBF, FixedRBF or LastLayer."
        )


def joint(model: object) -> None:
    """Raise MissingCapability unless ``model`` has covariances between points."""
    if not isinstance(model, Joint):
        raise MissingCapability(
            f"this needs covariances between points, joint(X); got {type(model).__name__}, which has none. "
            "Use GP, SparseGP, MQRBF, FixedRBF or LastLayer."
        )
