"""Acquisition functions: the worth of an evaluation at a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader
from believer.acquisitions.acquisition import Acquisition, Bindable, PerPoint, Pointwise, Several, View
from believer.acquisitions.confidence import UCB
from believer.acquisitions.improvement import EI, PI, LogEI
from believer.acquisitions.pointwise import PointwiseAcquisition, PointwiseObjective, completed, objective_on
from believer.acquisitions.tradeoff import EHVI, Scalarized

if TYPE_CHECKING:
    from believer.acquisitions.joint_improvement import JointImprovement

ACQUISITIONS: dict[str, Acquisition] = {
    "LogEI": LogEI(),
    "EI": EI(),
    "PI": PI(),
    "UCB": UCB(),
    "EHVI": EHVI(),
    "Scalarized": Scalarized(),
}
"""The names that users type, and the acquisition functions that they stand for."""

__all__ = [
    "ACQUISITIONS",
    "EHVI",
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
    "Scalarized",
    "Several",
    "View",
    "completed",
    "objective_on",
]

__getattr__ = loader(__name__, {"JointImprovement": "joint_improvement"})
