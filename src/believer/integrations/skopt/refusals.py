"""The exceptions of this door: each is also of the kind that scikit-optimize raises for the same mistake."""

from __future__ import annotations

from believer.errors import BelieverError, InvalidInput

__all__ = ["InvalidInput", "InvalidKind", "NoFile", "NotOffered", "OutOfOrder"]


class NotOffered(InvalidInput):
    """A part of scikit-optimize that cannot be had here; the text says what can."""


class InvalidKind(InvalidInput, TypeError):
    """An argument is of a kind that scikit-optimize refuses with a TypeError."""


class NoFile(BelieverError, FileNotFoundError):
    """There is no such file."""


class OutOfOrder(BelieverError, RuntimeError):
    """A call that came too early, or a point that is not of this space."""
