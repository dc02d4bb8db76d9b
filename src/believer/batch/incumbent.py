"""The value to beat, f⁺.

Without noise it is the least value of all that was seen. With noise the least value is partly luck, and what counts is
the least posterior mean at the same points.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, IntArray
from believer.batch.request import Request
from believer.capabilities import able
from believer.surrogates.data import Data
from believer.surrogates.protocols import Bounded, Model, Recalling, Smoothing, Surrogate
from believer.surrogates.subset import learned_rows


def real_incumbent(request: Request) -> float:
    """f⁺ over real results, under the model of the request; a failed trial is no result.

    Parameters
    ----------
    request : what the strategy was asked.
    """
    return _least(request, request.model, request.data.X[:0], request.data.y[:0])


def believed_incumbent(request: Request, model: Model, X: Array, y: Array) -> float:
    """f⁺ over real results and lies.

    Parameters
    ----------
    request : what the strategy was asked; it has the real results.
    model : knows both.
    X : points of the lies, (p, d).
    y : the lies, (p,).
    """
    return _least(request, model, X, y)


def is_noisy(model: Model) -> bool:
    """Whether the model takes its data to be noisy."""
    return able(model, Smoothing) and model.is_noisy


def smoothed_points(request: Request, X: Array) -> Array:
    """Where a model of noisy results is asked for its mean: at those that it learned from, and at lies ``X`` (p, d)."""
    return np.vstack([request.data.X[learned_by(request.surrogate, request.data)], X])


def learned_by(surrogate: Surrogate, data: Data) -> IntArray:
    """Rows of ``data`` that the surrogate's models learn from: all, of many those that it takes."""
    n = len(data)
    if able(surrogate, Bounded) and n > surrogate.most_results:
        return learned_rows(data.y, surrogate.most_results)
    return np.arange(n)


def _least(request: Request, model: Model, X: Array, y: Array) -> float:
    if not is_noisy(model):
        return float(np.concatenate([request.data.y, y]).min())
    points = smoothed_points(request, X)
    if able(model, Recalling):
        known, failed = model.mean_at_data(), 0 if request.failed is None else len(request.failed)
        if len(known) == len(points) + failed:  # what was conditioned on failures knows them between results and lies
            results = len(points) - len(X)
            return float(min(known[:results].min(), known[results + failed :].min(initial=np.inf)))
    return float(model.predict(points).mean.min())
