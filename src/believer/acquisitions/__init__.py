"""Acquisitions: what makes a point worth an experiment."""

from believer.acquisitions.acquisition import Acquisition, Bindable, PerPoint, Pointwise, View
from believer.acquisitions.confidence import UCB
from believer.acquisitions.improvement import EI, PI, LogEI
from believer.acquisitions.pointwise import PointwiseAcquisition, PointwiseObjective, completed, objective_on

ACQUISITIONS: dict[str, PointwiseAcquisition] = {"LogEI": LogEI(), "EI": EI(), "PI": PI(), "UCB": UCB()}
"""Names that people type, and what they stand for."""

__all__ = [
    "ACQUISITIONS",
    "EI",
    "PI",
    "UCB",
    "Acquisition",
    "Bindable",
    "LogEI",
    "PerPoint",
    "Pointwise",
    "PointwiseAcquisition",
    "PointwiseObjective",
    "View",
    "completed",
    "objective_on",
]
