"""The value to beat, f⁺.

Without noise it is the least value of all that was seen. With noise the least value is partly luck, and what counts is
the least posterior mean at the same points.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.batch.request import Request
from believer.capabilities import able
from believer.surrogates.protocols import Model, Smoothing


def real_incumbent(request: Request) -> float:
    """f⁺ over real results, under the model of the request; a failed trial is no result.

    Parameters
    ----------
    request : what the strategy was asked.
    """
    return _least(request.model, request.data.X, request.data.y)


def believed_incumbent(request: Request, model: Model, X: Array, y: Array) -> float:
    """f⁺ over real results and lies.

    Parameters
    ----------
    request : what the strategy was asked; it has the real results.
    model : knows both.
    X : points of the lies, (p, d).
    y : the lies, (p,).
    """
    return _least(model, np.vstack([request.data.X, X]), np.concatenate([request.data.y, y]))


def is_noisy(model: Model) -> bool:
    """Whether the model takes its data to be noisy."""
    return able(model, Smoothing) and model.is_noisy


def _least(model: Model, X: Array, y: Array) -> float:
    return float(model.predict(X).mean.min() if is_noisy(model) else y.min())
