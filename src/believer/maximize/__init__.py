"""Maximizers of an objective over a region of the encoded cube."""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader
from believer.maximize.candidates import Candidates
from believer.maximize.multistart import Multistart
from believer.maximize.objective import Maximizer, Maximum, Objective, Search

if TYPE_CHECKING:
    from believer.maximize.fixed_starts import FixedStarts

__all__ = ["Candidates", "FixedStarts", "Maximizer", "Maximum", "Multistart", "Objective", "Search"]

__getattr__ = loader(__name__, {"FixedStarts": "fixed_starts"})
