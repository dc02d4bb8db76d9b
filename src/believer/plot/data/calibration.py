"""The calibration of the model: each result and its prediction from the other results.

If a model has leave-one-out predictions in closed form, as a Gaussian process does ([Rasmussen2006] Eq. 5.12), these
are used, with the hyperparameters of all results. Otherwise the results are divided into at most 20 parts, and the
surrogate is fitted again without each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from believer.arrays import Array, IntArray
from believer.batch.best_so_far import learned_by
from believer.batch.learned import Learned
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.numerics.special import log_cdf
from believer.plot.data.source import Source, StudyLike, study_of
from believer.study.recommendation import NORMAL_95
from believer.surrogates.protocols import Measuring, Prediction

LEVELS = np.linspace(0.05, 0.95, 19)
_PARTS = 20
_MIN = 4


@runtime_checkable
class LeavingOut(Protocol):
    """A model that predicts each of its data from all the others in closed form."""

    def leave_one_out(self) -> Prediction:
        """Latent mean and std (n,) at the data."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """n results, and the leave-one-out prediction of each.

    Attributes
    ----------
    label : the name of the outcome, with its units.
    ids : the ids of the trials, (n,).
    observed : the results, (n,).
    mean : the predicted means, (n,).
    low, high : the 95 % interval of a result, noise included, (n,) each.
    z : (observed - mean) / std, (n,), in the units of the model; standard normal for a well-calibrated model.
    levels : the probabilities of the intervals, (k,).
    coverage : the share of results within the central interval of each level, (k,).
    rmse : the root of the mean squared error, in the user's units.
    r2 : the share of the variance of results that is explained; below 0 if predictions are worse than the mean, NaN if
        all results are equal.
    units : the units of the outcome; "" for none.
    method : "leave-one-out, closed form" or "cross-validation in 20 parts".
    """

    label: str
    ids: IntArray
    observed: Array
    mean: Array
    low: Array
    high: Array
    z: Array
    levels: Array
    coverage: Array
    rmse: float
    r2: float
    units: str
    method: str


def calibration(study: StudyLike, *, outcome: str | None = None) -> Calibration:
    """Predict each result from the other results. The arguments are those of :func:`believer.plot.calibration`."""
    source = study_of(study)
    name = source.chosen(outcome)
    learned, sign = source.learned(name), source.sign(name)
    if len(learned.ids) < _MIN:
        raise InvalidInput(f"calibration needs at least {_MIN} results; there are {len(learned.ids)}.")
    known = learned_by(source.settings.surrogate, learned.data)
    rows = np.arange(len(learned.ids)) if known is None else known
    at, method = _left_out(source, learned, rows)
    y, std = learned.data.y[rows], np.sqrt(at.std**2 + _noise(learned, rows) ** 2)
    z = (y - at.mean) / std
    mean, low, high, seen = (
        sign * (value if learned.warp is None else learned.warp.inverse(value))
        for value in (at.mean, at.mean - NORMAL_95 * std, at.mean + NORMAL_95 * std, y)
    )
    inside = 2.0 * np.exp(log_cdf(np.abs(z))[0]) - 1.0  # the least level whose central interval holds the result
    error, variance = float(((seen - mean) ** 2).mean()), float(seen.var())
    return Calibration(
        source.label(name),
        np.array(learned.ids, dtype=np.int64)[rows],
        seen,
        mean,
        np.minimum(low, high),
        np.maximum(low, high),
        sign * z,
        LEVELS,
        (inside[None, :] <= LEVELS[:, None]).mean(axis=1),
        float(np.sqrt(error)),
        1.0 - error / variance if variance > 0.0 else np.nan,
        source.units(name),
        method,
    )


def _left_out(source: Source, learned: Learned, rows: IntArray) -> tuple[Prediction, str]:
    """The latent predictions, in the units of the model."""
    model, data = learned.fit, learned.data.at(rows)
    if has(model, LeavingOut):
        return model.leave_one_out(), "leave-one-out, closed form"
    parts = np.arange(len(data)) % min(len(data), _PARTS)
    mean, std = np.zeros(len(data)), np.zeros(len(data))
    for part in np.unique(parts):
        out = parts == part
        rng = source.cache.randomness(int(part), "calibration")
        at = source.settings.surrogate.fit(data.at(~out), rng).predict(data.X[out])
        mean[out], std[out] = at.mean, at.std
    return Prediction(mean, std), f"cross-validation in {parts.max() + 1} parts"


def _noise(learned: Learned, rows: IntArray) -> Array:
    """The noise of each result, (n,), in the units of the model: the model's own and the known noise of the result."""
    own = learned.fit.noise_std if has(learned.fit, Measuring) else 0.0
    known = learned.data.std
    return np.full(len(rows), own) if known is None else np.sqrt(own**2 + known[rows] ** 2)
