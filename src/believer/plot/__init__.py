"""Figures of a study."""

from believer.plot import data

__all__ = ["data"]
