"""Maximizers of an objective over a region of the encoded cube."""

from believer.maximize.candidates import Candidates
from believer.maximize.fixed_starts import FixedStarts
from believer.maximize.multistart import Multistart
from believer.maximize.objective import Maximizer, Maximum, Objective, Search

__all__ = ["Candidates", "FixedStarts", "Maximizer", "Maximum", "Multistart", "Objective", "Search"]
