"""Acquisitions: what makes a point worth an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader
from believer.acquisitions.acquisition import Acquisition, Bindable, PerPoint, Pointwise, View
from believer.acquisitions.confidence import UCB
from believer.acquisitions.improvement import EI, PI, LogEI
from believer.acquisitions.pointwise import PointwiseAcquisition, PointwiseObjective, completed, objective_on

if TYPE_CHECKING:
    from believer.acquisitions.joint_improvement import JointImprovement

ACQUISITIONS: dict[str, PointwiseAcquisition] = {"LogEI": LogEI(), "EI": EI(), "PI": PI(), "UCB": UCB()}
"""Names that people type, and what they stand for."""

__all__ = [
    "ACQUISITIONS",
    "EI",
    "PI",
    "UCB",
    "Acquisition",
    "Bindable",
    "JointImprovement",
    "LogEI",
    "PerPoint",
    "Pointwise",
    "PointwiseAcquisition",
    "PointwiseObjective",
    "View",
    "completed",
    "objective_on",
]

__getattr__ = loader(__name__, {"JointImprovement": "joint_improvement"})
