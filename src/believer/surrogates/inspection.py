"""Checks of the predictions of custom surrogates, before they are used."""

from __future__ import annotations

from typing import Any

import numpy as np

from believer.arrays import Array
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates.protocols import Model, Prediction

_KEEP = "predict(X) must return believer.surrogates.protocols.Prediction(mean, std), two arrays of shape (m,)"


def require_surrogate(surrogate: Any) -> None:
    """Raise InvalidInput if ``surrogate`` is a class, or an object without ``fit``."""
    if isinstance(surrogate, type) or not callable(getattr(surrogate, "fit", None)):
        raise InvalidInput(f"surrogate must be an object with a method fit(data, rng, previous); got {surrogate!r}.")


def inspected(model: Any, X: Array) -> Prediction:
    """Check the prediction of ``model`` at ``X`` (m, d), and return it.

    Raises :class:`MissingCapability` for a model without mean or std, :class:`InvalidInput` for wrong shapes, numbers
    that are not finite, and a std that is not above zero.
    """
    prediction = complete(model, X)
    refuse_unfinite(prediction, type(model).__name__)
    refuse_certainty(prediction, type(model).__name__)
    return prediction


def complete(model: Any, X: Array) -> Prediction:
    """Check that ``model`` predicts a mean and a std at each point of ``X`` (m, d), and return the prediction."""
    if not callable(getattr(model, "predict", None)):
        raise MissingCapability(f"a surrogate's fit must return a model with a method predict; got {model!r}.")
    prediction, name = model.predict(X), type(model).__name__
    parts = [_part(prediction, part, name, len(X)) for part in ("mean", "std")]
    return Prediction(*parts)


def _part(prediction: Any, part: str, name: str, m: int) -> Array:
    found = getattr(prediction, part, None)
    # An array has methods of these names: a model that returns its mean alone must not pass for one that has both.
    if found is None or callable(found):
        raise MissingCapability(
            f"{name} predicts no {part}, and every acquisition needs one; it returned {type(prediction).__name__}. "
            f"{_KEEP}. A regressor that has no std can be wrapped in believer.SklearnSurrogate, which makes one from a "
            "bootstrap ensemble."
        )
    try:
        values = np.asarray(found)
    except ValueError as error:
        raise InvalidInput(f"{name}'s {part} is not an array ({error}); {_KEEP}.") from error
    if values.shape != (m,):
        raise InvalidInput(f"{name}'s {part} has shape {values.shape} for {m} points; {_KEEP}.")
    if values.dtype.kind != "f":
        raise InvalidInput(f"{name}'s {part} must be an array of floats; got {values.dtype}. Use astype(float).")
    return values


def refuse_unfinite(prediction: Prediction, name: str) -> None:
    """Raise InvalidInput if the ``prediction`` of the model called ``name`` has a NaN or an infinity."""
    for part, values in (("mean", prediction.mean), ("std", prediction.std)):
        bad = ~np.isfinite(values)
        if bad.any():
            raise InvalidInput(
                f"{name}'s {part} must be finite; got {float(values[bad][0])} at {int(bad.sum())} of {len(bad)} "
                "points. Look at the data it was fitted to."
            )


def refuse_certainty(prediction: Prediction, name: str) -> None:
    """Raise InvalidInput if the ``prediction`` of the model called ``name`` has a std that is not above zero."""
    bad = ~(prediction.std > 0.0)
    if bad.any():
        raise InvalidInput(
            f"{name}'s std must be above zero everywhere; got {float(prediction.std[bad].min())!r} at "
            f"{int(bad.sum())} of {len(bad)} points. Give it a small floor, such as 1e-9 of the scale of y."
        )


def refuse_mutation(model: Model, X: Array, before: Prediction, by: str) -> None:
    """Raise InvalidInput if ``by`` changed what ``model`` predicts at ``X``; ``before`` is the earlier prediction."""
    after = complete(model, X)
    if not (np.array_equal(before.mean, after.mean) and np.array_equal(before.std, after.std)):
        by_mean = float(np.max(np.abs(after.mean - before.mean)))
        by_std = float(np.max(np.abs(after.std - before.std)))
        raise InvalidInput(
            f"{type(model).__name__} was changed by {by} (its mean moved by up to {by_mean:.3g}, its std by up to "
            f"{by_std:.3g}); a model must never change after it was fitted. Return a new one, built on copies."
        )
