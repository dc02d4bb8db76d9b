"""Acquisitions: what makes a point worth an experiment."""

from believer.acquisitions.acquisition import Acquisition, Pointwise
from believer.acquisitions.bound import Bound
from believer.acquisitions.confidence import UCB
from believer.acquisitions.improvement import EI, PI, LogEI

__all__ = ["EI", "PI", "UCB", "Acquisition", "Bound", "LogEI", "Pointwise"]
