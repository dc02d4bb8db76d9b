"""Surrogates: recipes that turn data into models, and what models can do."""

from believer.surrogates.gp import GP, GPModel

__all__ = ["GP", "GPModel"]
