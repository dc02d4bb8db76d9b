"""How a lie reaches a model."""

from __future__ import annotations

from believer.arrays import Array
from believer.batch.request import Request
from believer.capabilities import able
from believer.errors import MissingCapability
from believer.surrogates.data import Data, joined
from believer.surrogates.protocols import Conditionable, Model


def resolved(update: str, model: Model) -> str:
    """ "condition", "refit" or "none": "auto" conditions a model that can be, and refits another."""
    if update != "auto":
        return update
    return "condition" if able(model, Conditionable) else "refit"


def updated(model: Model, update: str, request: Request, trial: int, X: Array, y: Array) -> Model:
    """``model``, which knows all but the last of the lies ``X`` (p, d), ``y`` (p,), with that one as well.

    trial: to which the last lie belongs; a refit draws from its randomness.
    """
    how = resolved(update, model)
    if how == "condition":
        if not able(model, Conditionable):
            raise MissingCapability(
                f'{type(model).__name__} cannot be conditioned; use update="refit", or a surrogate that can (GP).'
            )
        return model.condition(Data(X[-1:], y[-1:]))
    if how == "refit":
        known = [request.data] if request.failed is None else [request.data, request.failed]
        return request.surrogate.fit(joined(*known, Data(X, y)), request.randomness(trial, "refit"), model)
    return model
