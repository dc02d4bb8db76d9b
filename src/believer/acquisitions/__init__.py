"""Acquisitions: what makes a point worth an experiment."""

from believer.acquisitions.acquisition import Acquisition, Pointwise
from believer.acquisitions.bound import Bound
from believer.acquisitions.confidence import UCB
from believer.acquisitions.improvement import EI, PI, LogEI

ACQUISITIONS: dict[str, Acquisition] = {"LogEI": LogEI(), "EI": EI(), "PI": PI(), "UCB": UCB()}
"""Names on a command line, and what they stand for."""

__all__ = ["ACQUISITIONS", "EI", "PI", "UCB", "Acquisition", "Bound", "LogEI", "Pointwise"]
